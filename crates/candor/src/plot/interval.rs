//! Draws estimates with their intervals on a common scale, as small drawings within a page, and the axis above
//! them.

/// Margin next to the scale, in percent of the width of the drawing.
const ROOM: f64 = 2.5;

/// Maximum number of ticks on an axis; a phone shows every second one.
const MAX_TICKS: f64 = 11.0;

/// Returns the position of a value, in percent of the width of the drawing.
fn place(value: f64, range: (f64, f64)) -> f64 {
    let span = (range.1 - range.0).max(f64::MIN_POSITIVE);
    ROOM + (100.0 - 2.0 * ROOM) * ((value - range.0) / span).clamp(0.0, 1.0)
}

/// Returns round numbers within a range, and the number of decimals that they need.
fn ticks((least, most): (f64, f64)) -> (Vec<f64>, usize) {
    if most <= least || !(most - least).is_finite() {
        return (vec![0.0], 0);
    }
    let power = 10f64.powf(((most - least) / 10.0).log10().floor());
    let fits = |step: &f64| (most / step + 1e-9).floor() - (least / step - 1e-9).ceil() < MAX_TICKS;
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(fits).unwrap_or(most - least);
    let (first, last) = ((least / step - 1e-9).ceil() as i64, (most / step + 1e-9).floor() as i64);
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    ((first..=last).map(|n| n as f64 * step).collect(), decimals)
}

/// Returns the class attribute of every second tick, counted from zero.
fn second(value: f64, ticks: &[f64]) -> &'static str {
    let step = ticks.get(1).map_or(1.0, |next| next - ticks[0]);
    if (value / step).round() % 2.0 == 0.0 { "" } else { " class=\"second\"" }
}

/// Draws the axis of a range, with round numbers formatted by `written`.
pub(crate) fn axis(range: (f64, f64), written: impl Fn(&str) -> String) -> String {
    let (ticks, decimals) = ticks(range);
    let tick = |&value: &f64| {
        let (at, class) = (place(value, range), second(value, &ticks));
        let text = written(&if value == 0.0 { "0".to_owned() } else { format!("{value:.decimals$}") });
        format!("<text{class} x=\"{at:.1}%\" y=\"14\">{text}</text>")
    };
    let ticks: String = ticks.iter().map(tick).collect();
    format!("<svg class=\"axis\" aria-hidden=\"true\">{ticks}</svg>")
}

/// Draws an estimate as a dot and its interval as a bar, over lines at the ticks and a stronger one at zero.
///
/// Positions are percentages, so that text, dots and bars keep their size at any width.
/// `title` is the alternative text, in HTML.
pub(crate) fn drawn(estimate: f64, low: f64, high: f64, range: (f64, f64), title: &str) -> String {
    let (ticks, _) = ticks(range);
    let line = |&value: &f64| {
        let class = if value == 0.0 { " class=\"zero\"" } else { second(value, &ticks) };
        let at = place(value, range);
        format!("<line{class} x1=\"{at:.1}%\" x2=\"{at:.1}%\" y2=\"100%\"/>")
    };
    let lines: String = ticks.iter().map(line).collect();
    let [dot, low, high] = [estimate, low, high].map(|value| place(value, range));
    format!(
        "<svg role=\"img\"><title>{title}</title>{lines}<line class=\"band\" x1=\"{low:.1}%\" x2=\"{high:.1}%\" \
         y1=\"50%\" y2=\"50%\"/><circle cx=\"{dot:.1}%\" cy=\"50%\" r=\"5\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_on_their_scale() {
        // From 2.5% to 97.5%: the range takes 95% of the width.
        let drawing = drawn(0.5, 0.25, 2.0, (0.0, 1.0), "half");
        assert!(
            drawing.contains("cx=\"50.0%\"")
                && drawing.contains("x1=\"26.2%\" x2=\"97.5%\"")
                && drawing.contains("class=\"zero\" x1=\"2.5%\""),
            "{drawing}"
        );
        assert!(drawing.contains("role=\"img\"") && drawing.contains("<title>half</title>"));
        assert!(!drawn(0.0, 0.0, 0.0, (0.0, 0.0), "").contains("NaN"));
    }

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(ticks((0.0, 100.0)).0, (0..=10).map(|n| 10.0 * f64::from(n)).collect::<Vec<f64>>());
        assert_eq!(ticks((-0.05, 0.4)).0.len(), 10);
        assert_eq!(ticks((0.0, 0.0)), (vec![0.0], 0));
        for most in [1e-9, 0.3, 7.0, 123.0, 1e6] {
            let (ticks, _) = ticks((0.0, most));
            assert!(
                (5..=11).contains(&ticks.len()) && ticks.iter().all(|tick| *tick <= most * 1.001),
                "{most}: {ticks:?}"
            );
        }
        // On a narrow screen every second number stays, including zero.
        let drawing = axis((-20.0, 80.0), str::to_owned);
        assert_eq!((drawing.matches("<text").count(), drawing.matches("class=\"second\"").count()), (11, 5));
        assert!(drawing.contains(">0</text>") && !drawing.contains("\"second\" x=\"21.5%"), "{drawing}");
        assert!(axis((0.0, 0.42), |number| number.replace('.', ",")).contains(">0,20</text>"));
    }
}
