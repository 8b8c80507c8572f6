//! Estimates with their intervals on one scale: small drawings within a page, and the axis above them.

const WIDTH: f64 = 200.0;
const ROOM: f64 = 5.0;

/// Where a value stands.
fn place(value: f64, range: (f64, f64)) -> f64 {
    let span = (range.1 - range.0).max(f64::MIN_POSITIVE);
    ROOM + (WIDTH - 2.0 * ROOM) * ((value - range.0) / span).clamp(0.0, 1.0)
}

/// Round numbers within a range, at most five of them, with as many decimals as they need.
fn ticks((least, most): (f64, f64)) -> (Vec<f64>, usize) {
    if most <= least || !(most - least).is_finite() {
        return (vec![0.0], 0);
    }
    let power = 10f64.powf(((most - least) / 4.0).log10().floor());
    let fits = |step: &f64| (most / step + 1e-9).floor() - (least / step - 1e-9).ceil() < 5.0;
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(fits).unwrap_or(most - least);
    let (first, last) = ((least / step - 1e-9).ceil() as i64, (most / step + 1e-9).floor() as i64);
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    ((first..=last).map(|n| n as f64 * step).collect(), decimals)
}

/// The axis of a range, with round numbers on it, written as `written` says.
pub(crate) fn axis(range: (f64, f64), written: impl Fn(&str) -> String) -> String {
    let (ticks, decimals) = ticks(range);
    let tick = |&value: &f64| {
        let at = place(value, range);
        let anchor = if at < 15.0 {
            "start"
        } else if at > WIDTH - 15.0 {
            "end"
        } else {
            "middle"
        };
        let text = written(&if value == 0.0 { "0".to_owned() } else { format!("{value:.decimals$}") });
        format!("<text x=\"{at:.1}\" y=\"12\" text-anchor=\"{anchor}\">{text}</text><path d=\"M{at:.1} 15V20\"/>")
    };
    let ticks: String = ticks.iter().map(tick).collect();
    format!(
        "<svg class=\"axis\" viewBox=\"0 0 {WIDTH} 20\" aria-hidden=\"true\"><path d=\"M0 20H{WIDTH}\"/>{ticks}</svg>"
    )
}

/// An estimate and its interval on a line: a dot on a bar, with lines at the numbers of the axis and a stronger one at
/// zero. `title` is what is read instead of it (HTML).
pub(crate) fn drawn(estimate: f64, low: f64, high: f64, range: (f64, f64), title: &str) -> String {
    let lines: String = ticks(range).0.iter().map(|&value| format!("M{:.1} 0V20", place(value, range))).collect();
    let [dot, low, high, zero] = [estimate, low, high, 0.0].map(|value| place(value, range));
    format!(
        "<svg role=\"img\" viewBox=\"0 0 {WIDTH} 20\"><title>{title}</title><path class=\"grid\" d=\"{lines}\"/>\
         <path class=\"zero\" d=\"M{zero:.1} 0V20\"/><path class=\"band\" d=\"M{low:.1} 10H{high:.1}\"/>\
         <circle cx=\"{dot:.1}\" cy=\"10\" r=\"4\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_on_their_scale() {
        // From 5 to 195, 190 for the whole range.
        let drawing = drawn(0.5, 0.25, 2.0, (0.0, 1.0), "half");
        assert!(
            drawing.contains("cx=\"100.0\"") && drawing.contains("M52.5 10H195.0") && drawing.contains("M5.0 0V20")
        );
        assert!(drawing.contains("role=\"img\"") && drawing.contains("<title>half</title>"));
        assert!(!drawn(0.0, 0.0, 0.0, (0.0, 0.0), "").contains("NaN"));
    }

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(ticks((0.0, 1.0)), (vec![0.0, 0.5, 1.0], 1));
        assert_eq!(ticks((-0.05, 0.9)), (vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8], 1));
        assert_eq!(ticks((0.0, 0.0)), (vec![0.0], 0));
        for most in [1e-9, 0.3, 7.0, 123.0, 1e6] {
            let (ticks, _) = ticks((0.0, most));
            assert!(
                (2..=5).contains(&ticks.len()) && ticks.iter().all(|tick| *tick <= most * 1.001),
                "{most}: {ticks:?}"
            );
        }
        assert!(axis((0.0, 0.42), |number| number.replace('.', ",")).contains(">0,2</text>"));
    }
}
