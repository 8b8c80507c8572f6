//! Draws plots as SVG and PNG.

pub(crate) mod colours;
pub(crate) mod interval;
pub(crate) mod trend;
mod letters;
mod bitmap;
mod frame;
mod ranking;
mod trade_off;

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

use colours::COLOURS;
pub use ranking::{OFF_SCALE, Quantity, Ranked, Ranking};
pub use trade_off::{Curve, TradeOff};

const WIDTH: u32 = 900;
const HEIGHT: u32 = 560;

/// A figure: curves or points over two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// Short name, which distinguishes related plots; part of a file name.
    pub name: String,
    /// Title above the plot.
    pub title: String,
    /// Horizontal axis.
    pub x: Scale,
    /// Vertical axis.
    pub y: Scale,
    /// Curves or points, in the order of the legend.
    pub series: Vec<Series>,
}

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Axis label.
    pub label: String,
    /// Whether the axis is logarithmic; points that are not positive are then left out.
    pub logarithmic: bool,
}

/// Points with one name and color.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Whether a line joins the points.
    pub joined: bool,
    /// Coordinates of the points.
    pub points: Vec<(f64, f64)>,
}

impl Scale {
    /// Returns a linear axis.
    pub fn linear(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: false }
    }

    /// Returns a logarithmic axis.
    pub fn logarithmic(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: true }
    }
}

impl Plot {
    /// Returns the plot as a self-contained SVG document; axes only if it has no points.
    pub fn svg(&self) -> String {
        svg(self)
    }

    /// Returns the plot as a PNG image.
    pub fn png(&self) -> Vec<u8> {
        bitmap::png(self)
    }
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// A figure that can be drawn as SVG and as PNG.
trait Drawing {
    /// Returns the alternative text for screen readers.
    fn told(&self) -> String;

    /// Returns a style element for the SVG document: by default the colors of the dark mode.
    fn style(&self) -> String {
        colours::dark_style()
    }

    /// Draws the figure, enlarged `times` times.
    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, plotters::coord::Shift>, times: u32) -> Drawn<B>;
}

/// Returns a drawing as a self-contained SVG document.
fn svg(drawing: &impl Drawing) -> String {
    let mut text = String::new();
    // Drawing into a string cannot fail.
    let drawn = drawing.draw(SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area(), 1);
    debug_assert!(drawn.is_ok());
    let name = drawing.told().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let text = text.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{name}\" "), 1);
    text.replacen(">\n", &format!(">\n{}\n", drawing.style()), 1)
}

impl Drawing for Plot {
    fn told(&self) -> String {
        let names = self.series.iter().map(|series| series.name.as_str()).collect::<Vec<&str>>().join(", ");
        format!("{}; {} by {}: {names}", self.title, self.y.label, self.x.label)
    }

    /// Plots have a white background and fixed colors, so they need no style.
    fn style(&self) -> String {
        String::new()
    }

    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, plotters::coord::Shift>, times: u32) -> Drawn<B> {
        draw(self, area, times)
    }
}

fn draw<B: DrawingBackend>(plot: &Plot, area: DrawingArea<B, plotters::coord::Shift>, times: u32) -> Drawn<B> {
    area.fill(&WHITE)?;
    let shown: Vec<Vec<(f64, f64)>> = plot.series.iter().map(|series| visible(plot, &series.points)).collect();
    let along = |which: fn(&(f64, f64)) -> f64| shown.iter().flatten().map(which);
    let (x, y) = (Steps::over(along(|p| p.0), &plot.x), Steps::over(along(|p| p.1), &plot.y));
    let mut chart = ChartBuilder::on(&area)
        .caption(&plot.title, ("sans-serif", 20 * times))
        .margin(14 * times)
        .margin_right((14 + label_room(plot)) * times)
        .x_label_area_size(50 * times)
        .y_label_area_size(80 * times)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(&plot.x.label)
        .y_desc(&plot.y.label)
        .label_style(("sans-serif", 14 * times))
        .axis_desc_style(("sans-serif", 16 * times))
        .set_all_tick_mark_size(5 * times)
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225).stroke_width(times))
        .axis_style(BLACK.stroke_width(times))
        .draw()?;
    let mut ends = Vec::new();
    for (number, (series, points)) in plot.series.iter().zip(shown).enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let end = points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
        ends.extend(end.map(|end| (series.name.as_str(), colour, chart.backend_coord(&end))));
        // A single point makes no line.
        if series.joined && points.len() > 1 {
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2 * times)))?;
        } else {
            let size = if series.joined { 5 } else { 3 };
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, size * times, colour.filled())))?;
        }
    }
    if plot.series.len() > 1 {
        draw_labels(&area, ends, times)?;
    }
    area.present()
}

/// Vertical distance of labels in pixels.
const LABEL_HEIGHT: i32 = 19;

/// Returns the width that the names of the series need next to the plot, at about 7 pixels a letter.
fn label_room(plot: &Plot) -> u32 {
    let longest = plot.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0) as u32;
    if plot.series.len() > 1 { (7 * longest + 34).min(320) } else { 0 }
}

/// Labels each series next to its last point, with a line to it, so that no labels overlap.
fn draw_labels<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    mut ends: Vec<(&str, RGBColor, (i32, i32))>,
    times: u32,
) -> Drawn<B> {
    let long = times as i32;
    ends.sort_by_key(|&(_, _, (_, y))| y);
    let at = (WIDTH * times) as i32
        - 10 * long
        - ends.iter().map(|(name, ..)| 7 * name.chars().count() as i32).max().unwrap_or(0).min(286) * long;
    let bottom = (HEIGHT as i32 - 70) * long;
    let height = LABEL_HEIGHT * long;
    let mut y = i32::MIN / 2;
    let most = ends.len() as i32;
    for (number, (name, colour, end)) in ends.into_iter().enumerate() {
        // As near to its line as possible, below the previous label, with room for the next ones.
        y = end.1.max(y + height).min(bottom - (most - 1 - number as i32) * height).max(y + height.min(8 * long));
        area.draw(&PathElement::new(vec![end, (at - 5 * long, y)], colour.mix(0.5).stroke_width(times)))?;
        area.draw(&Circle::new((at - 5 * long, y), 4 * times, colour.filled()))?;
        let style = ("sans-serif", 14 * times).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw_text(name, &style, (at + 4 * long, y))?;
    }
    Ok(())
}

/// Returns the points that can be shown, as positions on the axes.
fn visible(plot: &Plot, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let place = |scale: &Scale, value: f64| {
        let place = if scale.logarithmic { value.log10() } else { value };
        place.is_finite().then_some(place)
    };
    points.iter().filter_map(|&(x, y)| Some((place(&plot.x, x)?, place(&plot.y, y)?))).collect()
}

/// An axis with labels at round numbers; on a logarithmic axis, positions are decimal logarithms.
struct Steps {
    range: Range<f64>,
    logarithmic: bool,
}

impl Steps {
    fn over(values: impl Iterator<Item = f64>, scale: &Scale) -> Steps {
        let (mut low, mut high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let room = if high > low { 0.04 * (high - low) } else { 0.5 };
        Steps { range: low - room..high + room, logarithmic: scale.logarithmic }
    }

    /// Returns the distance of labels, 1, 2 or 5 times a power of ten, so that about `count` fit.
    fn step(&self, count: usize) -> f64 {
        let wide = (self.range.end - self.range.start) / count.max(1) as f64;
        let power = 10f64.powf(wide.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= wide * 0.999);
        let step = step.unwrap_or(10.0 * power);
        if self.logarithmic { step.max(1.0) } else { step }
    }
}

impl Ranged for Steps {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let step = self.step(hint.max_num_points().min(9));
        let (first, last) = ((self.range.start / step).ceil() as i64, (self.range.end / step).floor() as i64);
        (first..=last).map(|n| n as f64 * step).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Steps {
    fn format_ext(&self, value: &f64) -> String {
        let value = if self.logarithmic { 10f64.powf(*value) } else { *value };
        let size = value.abs();
        if size != 0.0 && !(1e-3..1e5).contains(&size) {
            return format!("{value:.0e}");
        }
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn plot(logarithmic: bool, points: Vec<(f64, f64)>) -> Plot {
        let scale = |label: &str| Scale { label: label.to_owned(), logarithmic };
        let series = |name: &str, joined| Series { name: name.to_owned(), joined, points: points.clone() };
        let series = vec![series("a line", true), series("dots", false)];
        Plot { name: "p".into(), title: "A < B".into(), x: scale("across"), y: scale("up"), series }
    }

    #[test]
    fn everything_named_is_written_and_every_point_drawn() {
        let text = plot(false, vec![(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]).svg();
        for word in ["A &lt; B", "across", "up", "a line", "dots"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(text.matches("<circle").count(), 3 + 2, "three dots, and one beside each name");
        assert!(text.contains("<svg role=\"img\" aria-label=\"A &lt; B; up by across: a line, dots\""), "{text}");
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_leave_out_what_has_none() {
        let text = plot(true, vec![(1.0, 0.1), (1000.0, 100.0), (0.0, 5.0), (f64::NAN, 5.0)]).svg();
        assert!(text.contains("\n100\n") && text.contains("\n0.1\n"), "{text}");
        assert_eq!(text.matches("<circle").count(), 2 + 2);
    }

    #[test]
    fn nothing_to_draw_is_no_failure() {
        assert!(plot(false, vec![]).svg().contains("</svg>"));
        let one = plot(false, vec![(3.0, 3.0)]).svg();
        assert_eq!(one.matches("<circle").count(), 2 + 2, "a line of one point is a dot");
    }
}
