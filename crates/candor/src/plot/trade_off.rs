//! Draws the trade-off of privacy and error: margin of error by guess accuracy.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Serialize;

use super::colours::Role;
use super::frame::{BODY, EDGE, Frame, SMALL, Style, width, wrapped};
use super::{Drawing, Drawn, WIDTH};

/// Curves of the margin of error by guess accuracy in percent.
///
/// Better points are lower and further to the right, where fewer guesses are right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TradeOff {
    /// What the horizontal axis counts, of 100: guesses that are right, or their accuracy under a loss.
    #[serde(skip)]
    pub guesses: &'static str,
    /// Title, which states the finding.
    pub title: String,
    /// Quantity, unit, and what they apply to.
    pub subtitle: String,
    /// The curves, with the recommended one last.
    pub curves: Vec<Curve>,
    /// Guess accuracy without any response, in percent.
    pub luck: f64,
    /// Whether the last curve is a proven lower bound.
    pub proven: bool,
    /// Notes, including what is not drawn.
    pub notes: String,
}

/// A named curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Name at the end of the curve.
    pub name: String,
    /// Guess accuracy in percent, and margin of error in percentage points.
    pub points: Vec<(f64, f64)>,
}

/// Maximum width of the names next to the curves, in pixels.
const NAMES: i32 = 190;

/// Vertical distance of names, in pixels.
const APART: i32 = 22;

impl TradeOff {
    /// The horizontal axis if guesses are right or wrong.
    pub const RIGHT: &'static str = "guesses about one answer that are right";

    /// Returns the figure as a self-contained SVG document.
    pub fn svg(&self) -> String {
        super::svg(self)
    }

    /// Returns the figure as a PNG image.
    pub fn png(&self) -> Vec<u8> {
        super::bitmap::png(self)
    }
}

/// Returns about `count` round numbers from `low` to `high`.
fn round_numbers(low: f64, high: f64, count: f64) -> Vec<f64> {
    let wide = (high - low).max(1e-9) / count;
    let power = 10f64.powf(wide.log10().floor());
    let step =
        [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|step| *step >= wide * 0.999).unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Formats a round number without rounding noise.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Drawing for TradeOff {
    fn told(&self) -> String {
        let curve = |curve: &Curve| {
            let ends = [curve.points.first(), curve.points.last()].into_iter().flatten();
            let ends: Vec<String> = ends.map(|(x, y)| format!("±{y:.1} at {x:.0} of 100")).collect();
            format!("{}: {}", curve.name, ends.join(", "))
        };
        format!("{}. {} {}", self.title, self.subtitle, self.curves.iter().map(curve).collect::<Vec<_>>().join("; "))
    }

    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, Shift>, times: u32) -> Drawn<B> {
        let frame = Frame { area: &area, times };
        let (top, bottom) = frame.around(&self.title, &self.subtitle, &self.notes)?;
        let (left, right) = (EDGE + 56, WIDTH as i32 - EDGE - NAMES - 16);
        let (top, bottom) = (top + 14, bottom - 58);
        let all = || self.curves.iter().flat_map(|curve| &curve.points);
        let most = all().map(|point| point.0).fold(self.luck, f64::max).min(100.0);
        let least = self.luck.min(most - 1e-3) - 0.02 * (most - self.luck);
        let highest = 1.08 * all().map(|point| point.1).fold(1e-9, f64::max);
        let x = |guess: f64| left + ((most - guess) / (most - least) * f64::from(right - left)).round() as i32;
        let y = |margin: f64| bottom - (margin / highest * f64::from(bottom - top)).round() as i32;
        if let Some(curve) = self.curves.last().filter(|curve| self.proven && curve.points.len() > 1) {
            let mut below: Vec<(i32, i32)> =
                curve.points.iter().map(|&(guess, margin)| (x(guess), y(margin))).collect();
            let ends = [below[below.len() - 1].0, below[0].0].map(|at| (at, bottom));
            below.extend(ends);
            frame.area(&below, Role::Panel)?;
        }
        for at in round_numbers(0.0, highest, 5.0) {
            let name = if at == 0.0 { "0".to_owned() } else { format!("±{}", short(at)) };
            frame.line(&[(left, y(at)), (right, y(at))], Role::Hair, 1)?;
            frame.text(&name, Style::new(SMALL, Role::Third, HPos::Right), (left - 8, y(at)))?;
        }
        for at in round_numbers(least, most, 7.0) {
            frame.text(&short(at), Style::new(SMALL, Role::Third, HPos::Center), (x(at), bottom + 14))?;
        }
        frame.dashed(x(self.luck), (top, bottom), Role::Third)?;
        let luck = format!("{} by luck", short((10.0 * self.luck).round() / 10.0));
        frame.text(&luck, Style::new(SMALL, Role::Third, HPos::Right), (x(self.luck) - 6, top + 6))?;
        let axis = format!("{}, of 100; further right is more private", self.guesses);
        frame.text(&axis, Style::new(SMALL, Role::Second, HPos::Center), ((left + right) / 2, bottom + 36))?;
        let mut ends = Vec::new();
        for (number, curve) in self.curves.iter().enumerate() {
            let best = number + 1 == self.curves.len();
            let role = if best { Role::Accent } else { Role::Mute };
            let points: Vec<(i32, i32)> = curve.points.iter().map(|&(guess, margin)| (x(guess), y(margin))).collect();
            match &points[..] {
                [] => continue,
                [only] => frame.dot(*only, 5, role, true)?,
                points => frame.line(points, role, if best { 3 } else { 2 })?,
            }
            let last = points.iter().copied().max_by_key(|point| point.0).unwrap_or_default();
            ends.push((curve.name.as_str(), role, best, last));
        }
        if self.proven && bottom - y(highest / 4.0) > 30 {
            let lowest = self.curves.last().and_then(|c| c.points.iter().map(|p| p.1).min_by(f64::total_cmp));
            if lowest.is_some_and(|lowest| bottom - y(lowest) > 26) {
                let style = Style::new(SMALL, Role::Third, HPos::Left);
                frame.text("nothing can be here (proven)", style, (left + 14, bottom - 14))?;
            }
        }
        names(&frame, ends, (top, bottom))?;
        area.present()
    }
}

/// Writes the names at the ends of their curves, without overlap.
fn names<B: DrawingBackend>(
    frame: &Frame<'_, B>,
    mut ends: Vec<(&str, Role, bool, (i32, i32))>,
    (top, bottom): (i32, i32),
) -> Drawn<B> {
    ends.sort_by_key(|&(.., (_, y))| y);
    let at = WIDTH as i32 - EDGE - NAMES;
    let mut next = top;
    for (name, role, best, end) in ends {
        let lines = wrapped(name, BODY, NAMES);
        let y = end.1.clamp(next, bottom.max(next));
        frame.line(&[end, (at - 6, y)], Role::Hair, 1)?;
        let ink = if best { Role::Accent } else { Role::Second };
        for (number, line) in lines.iter().enumerate() {
            let style = Style::new(BODY, ink, HPos::Left).bold(best);
            frame.text(line, style, (at, y + (number as i32) * (APART - 2)))?;
        }
        debug_assert!(lines.iter().all(|line| width(line, BODY) <= NAMES || !line.contains(' ')));
        frame.dot((at - 6, y), 3, role, true)?;
        next = y + APART * lines.len() as i32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trade_off(curves: &[&[(f64, f64)]]) -> TradeOff {
        let curve = |(number, points): (usize, &&[(f64, f64)])| Curve {
            name: format!("curve {number}"),
            points: points.to_vec(),
        };
        TradeOff {
            guesses: TradeOff::RIGHT,
            title: "A < B".into(),
            subtitle: "Margin of error.".into(),
            curves: curves.iter().enumerate().map(curve).collect(),
            luck: 40.0,
            proven: true,
            notes: String::new(),
        }
    }

    #[test]
    fn curves_are_named_where_they_end_and_axes_are_in_percent() {
        let text = trade_off(&[&[(95.0, 2.5), (50.0, 9.0)], &[(95.0, 1.5), (50.0, 4.0)]]).svg();
        for word in ["A &lt; B", "curve 0", "curve 1", "±4", "\n60\n", "40 by luck", "nothing can be here"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.contains("curve 1: ±1.5 at 95 of 100, ±4.0 at 50 of 100"));
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn odd_curves_are_no_failure() {
        for curves in [&[][..], &[&[][..]], &[&[(40.0, 0.0)][..]], &[&[(40.0, 3.0), (40.0, 3.0)][..]]] {
            let drawn = trade_off(curves);
            assert!(drawn.svg().contains("</svg>") && !drawn.svg().contains("NaN"));
            assert!(drawn.png().starts_with(b"\x89PNG"));
        }
        assert_eq!(round_numbers(0.0, 9.7, 5.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(short(0.30000000000000004), "0.3");
    }
}
