//! Draws estimates with their intervals from wave to wave, as a small drawing within a page.

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 44.0;
const ROOM: f64 = 6.0;

/// Draws dots with whiskers from left to right, joined by a line where two neighbors are known.
///
/// Each point is an estimate and the ends of its interval. `span` is the height of the drawing in units of the
/// estimate, with the range in the middle. `title` is the alternative text, in HTML.
pub(crate) fn drawn(points: &[Option<[f64; 3]>], (least, most): (f64, f64), span: f64, title: &str) -> String {
    let across = |at: usize| match points.len() {
        0 | 1 => WIDTH / 2.0,
        n => ROOM + (WIDTH - 2.0 * ROOM) * at as f64 / (n - 1) as f64,
    };
    let span = if span > 0.0 { span } else { 1.0 };
    let up =
        |value: f64| HEIGHT / 2.0 - (HEIGHT - 2.0 * ROOM) * ((value - (least + most) / 2.0) / span).clamp(-0.5, 0.5);
    let (mut line, mut whiskers, mut dots) = (String::new(), String::new(), String::new());
    let mut pen_is_down = false;
    for (at, point) in points.iter().enumerate() {
        let Some([estimate, low, high]) = point else {
            pen_is_down = false;
            continue;
        };
        let (x, y) = (across(at), up(*estimate));
        line += &format!("{}{x:.1} {y:.1}", if pen_is_down { "L" } else { "M" });
        whiskers += &format!("M{x:.1} {:.1}V{:.1}", up(*low), up(*high));
        dots += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
        pen_is_down = true;
    }
    format!(
        "<svg role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\"><title>{title}</title><path class=\"line\" d=\"{line}\"/>\
         <path d=\"{whiskers}\"/>{dots}</svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wave_has_a_dot_where_it_belongs_and_gaps_stay_open() {
        let points = [Some([0.0, 0.0, 0.5]), Some([1.0, 0.5, 1.0]), None, Some([0.5, 0.0, 1.0])];
        let drawing = drawn(&points, (0.0, 1.0), 1.0, "told");
        assert_eq!(drawing.matches("<circle").count(), 3);
        assert!(drawing.contains("M6.0 38.0L42.0 6.0M114.0 22.0\""), "no line across a gap: {drawing}");
        assert!(drawing.contains("M114.0 38.0V6.0") && drawing.contains("<title>told</title>"));
        let half = drawn(&points[..1], (0.0, 0.5), 1.0, "");
        assert!(half.contains("M60.0 30.0V14.0"), "in the middle of the span: {half}");
        assert!(!drawn(&[Some([0.2, 0.2, 0.2])], (0.2, 0.2), 0.0, "").contains("NaN"));
        assert!(drawn(&[], (f64::INFINITY, f64::NEG_INFINITY), 0.0, "").ends_with("</svg>"));
    }
}
