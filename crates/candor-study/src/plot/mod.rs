//! Plots, drawn as SVG and PNG.

mod letters;
mod bitmap;

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, Ranged, ValueFormatter};
use plotters::prelude::*;
use serde::Serialize;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 560;

/// Colours that people with any colour vision can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// A figure: curves or points over two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// Tells plots that belong together apart; part of a file name.
    pub name: String,
    /// What is seen.
    pub title: String,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
}

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Its label.
    pub label: String,
    /// Whether it is logarithmic; points that are not positive are then left out.
    pub logarithmic: bool,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Whether the points are joined by a line or stand alone.
    pub joined: bool,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

impl Scale {
    /// An ordinary axis.
    pub fn linear(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: false }
    }

    /// A logarithmic axis.
    pub fn logarithmic(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: true }
    }
}

impl Plot {
    /// The plot as a self-contained SVG document; a plot without points has axes only.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        // Drawing into a string cannot fail.
        let drawn = draw(self, SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area(), 1);
        debug_assert!(drawn.is_ok());
        text
    }

    /// The plot as a PNG image.
    pub fn png(&self) -> Vec<u8> {
        bitmap::png(self)
    }
}

/// An estimate and its interval on a line, as a small drawing within a page: a dot, whiskers, and a mark at zero. `range` is the
/// scale, `title` what is read instead of it (HTML).
pub(crate) fn interval(estimate: f64, low: f64, high: f64, range: (f64, f64), title: &str) -> String {
    const WIDTH: f64 = 200.0;
    const ROOM: f64 = 5.0;
    let span = (range.1 - range.0).max(f64::MIN_POSITIVE);
    let place = |value: f64| ROOM + (WIDTH - 2.0 * ROOM) * ((value - range.0) / span).clamp(0.0, 1.0);
    let [dot, low, high, zero] = [estimate, low, high, 0.0].map(place);
    format!(
        "<svg role=\"img\" viewBox=\"0 0 {WIDTH} 20\"><title>{title}</title>\
         <path d=\"M{zero:.1} 0V20\" stroke=\"currentColor\" stroke-dasharray=\"2 2\" opacity=\".5\"/>\
         <path d=\"M{low:.1} 10H{high:.1}M{low:.1} 6V14M{high:.1} 6V14\" stroke=\"currentColor\" stroke-width=\"1.5\" fill=\"none\"/>\
         <circle cx=\"{dot:.1}\" cy=\"10\" r=\"3.5\" fill=\"currentColor\"/></svg>"
    )
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Draws with everything `times` as large.
fn draw<B: DrawingBackend>(plot: &Plot, area: DrawingArea<B, plotters::coord::Shift>, times: u32) -> Drawn<B> {
    let long = times as i32;
    area.fill(&WHITE)?;
    let shown: Vec<Vec<(f64, f64)>> = plot.series.iter().map(|series| visible(plot, &series.points)).collect();
    let along = |which: fn(&(f64, f64)) -> f64| shown.iter().flatten().map(which);
    let (x, y) = (Steps::over(along(|p| p.0), &plot.x), Steps::over(along(|p| p.1), &plot.y));
    // How many points are where a legend could be: above, to the left and to the right.
    let part = |range: &Range<f64>, value: f64| (value - range.start) / (range.end - range.start);
    let above = || shown.iter().flatten().filter(|p| part(&y.range, p.1) > 0.7).map(|p| part(&x.range, p.0));
    let corners = (above().filter(|&x| x < 0.45).count(), above().filter(|&x| x > 0.55).count());
    let mut chart = ChartBuilder::on(&area)
        .caption(&plot.title, ("sans-serif", 20 * times))
        .margin(14 * times)
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
    for (number, (series, points)) in plot.series.iter().zip(shown).enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        if series.joined {
            let line = chart.draw_series(LineSeries::new(points, colour.stroke_width(2 * times)))?;
            line.label(&series.name).legend(move |(x, y)| {
                PathElement::new(vec![(x, y), (x + 18 * long, y)], colour.stroke_width(3 * times)).into_dyn()
            });
        } else {
            let dots =
                chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3 * times, colour.filled())))?;
            dots.label(&series.name)
                .legend(move |(x, y)| Circle::new((x + 9 * long, y), 4 * times, colour.filled()).into_dyn());
        }
    }
    if plot.series.len() > 1 {
        chart
            .configure_series_labels()
            .position(emptier_corner(&corners))
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(200, 200, 200))
            .label_font(("sans-serif", 14 * times))
            .legend_area_size(30 * times)
            .margin(10 * times)
            .draw()?;
    }
    area.present()
}

fn emptier_corner(&(left, right): &(usize, usize)) -> SeriesLabelPosition {
    if left < right { SeriesLabelPosition::UpperLeft } else { SeriesLabelPosition::UpperRight }
}

/// The points that can be shown, on the axes' own scale.
fn visible(plot: &Plot, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let place = |scale: &Scale, value: f64| {
        let place = if scale.logarithmic { value.log10() } else { value };
        place.is_finite().then_some(place)
    };
    points.iter().filter_map(|&(x, y)| Some((place(&plot.x, x)?, place(&plot.y, y)?))).collect()
}

/// An axis with labels at round numbers; a logarithmic one holds the decimal logarithms.
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

    /// The distance of the labels: 1, 2 or 5 times a power of ten, so that about `count` fit.
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
        assert_eq!(text.matches("<circle").count(), 3 + 1, "three dots, and one in the legend");
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_leave_out_what_has_none() {
        let text = plot(true, vec![(1.0, 0.1), (1000.0, 100.0), (0.0, 5.0), (f64::NAN, 5.0)]).svg();
        assert!(text.contains("\n100\n") && text.contains("\n0.1\n"), "{text}");
        assert_eq!(text.matches("<circle").count(), 2 + 1);
    }

    #[test]
    fn nothing_to_draw_is_no_failure() {
        assert!(plot(false, vec![]).svg().contains("</svg>"));
        assert!(plot(false, vec![(3.0, 3.0)]).svg().contains("</svg>"));
    }

    #[test]
    fn intervals_stay_on_their_scale() {
        // From 5 to 195, 190 for the whole range.
        let drawn = interval(0.5, 0.25, 2.0, (0.0, 1.0), "half");
        assert!(drawn.contains("cx=\"100.0\"") && drawn.contains("M52.5 10H195.0") && drawn.contains("M5.0 0V20"));
        assert!(drawn.contains("role=\"img\"") && drawn.contains("<title>half</title>"));
        assert!(!interval(0.0, 0.0, 0.0, (0.0, 0.0), "").contains("NaN"));
    }
}
