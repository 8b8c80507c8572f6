//! Things one below another, each with dots on one scale, the best first.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

use super::colours::COLOURS;
use super::{Drawing, Drawn, HEIGHT, Scale, Steps, WIDTH};

/// Things one below another, each with a dot for every kind of number; the scale is logarithmic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// What is seen.
    pub title: String,
    /// The scale, with the direction that is better.
    pub scale: String,
    /// What the dots are, in the order of the numbers.
    pub kinds: Vec<String>,
    /// The things, in order.
    pub rows: Vec<Ranked>,
    /// What stands where a number is not known.
    pub unknown: String,
    /// A line across all of them: what it is, and where.
    pub limit: Option<(String, f64)>,
}

/// One thing and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// One for each kind, above 0; `None` if it is not known.
    pub numbers: Vec<Option<f64>>,
}

/// Where the plot begins and ends, from above.
const TOP: i32 = 92;
const BOTTOM: i32 = HEIGHT as i32 - 66;

impl Ranking {
    /// As a self-contained SVG document.
    pub fn svg(&self) -> String {
        super::svg(self)
    }

    /// As a PNG image.
    pub fn png(&self) -> Vec<u8> {
        super::bitmap::png(self)
    }

    /// Where rows begin from the left: after the longest name.
    fn left(&self) -> i32 {
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0) as i32;
        (24 + 8 * longest).min(300)
    }

    fn steps(&self) -> Steps {
        let numbers = self.rows.iter().flat_map(|row| row.numbers.iter().flatten()).copied();
        let all = numbers.chain(self.limit.iter().map(|(_, at)| *at)).filter(|number| *number > 0.0);
        Steps::over(all.map(f64::log10), &Scale::logarithmic(&self.scale))
    }

    /// Dots of one kind have a shape of their own, so that none needs its colour.
    fn dot<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        kind: usize,
        at: (i32, i32),
        times: i32,
    ) -> Drawn<B> {
        let colour = COLOURS[kind % COLOURS.len()];
        let (x, y) = at;
        let corners = |size: i32, shape: &[(i32, i32)]| {
            shape.iter().map(|(right, down)| (x + right * size, y + down * size)).collect::<Vec<_>>()
        };
        let polygon = |points| Polygon::new(points, colour.filled());
        match kind % 3 {
            0 => area.draw(&Circle::new(at, 6 * times, colour.filled())),
            1 => area.draw(&polygon(corners(times, &[(-6, 5), (6, 5), (0, -7)]))),
            _ => area.draw(&polygon(corners(times, &[(-7, 0), (0, 7), (7, 0), (0, -7)]))),
        }
    }
}

impl Drawing for Ranking {
    fn told(&self) -> String {
        let names = self.rows.iter().map(|row| row.name.as_str()).collect::<Vec<&str>>().join(", ");
        format!("{}; {}: {names}", self.title, self.scale)
    }

    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, Shift>, times: u32) -> Drawn<B> {
        area.fill(&WHITE)?;
        let long = times as i32;
        let style = |size: u32, place: HPos| {
            ("sans-serif", size * times).into_font().color(&BLACK).pos(Pos::new(place, VPos::Center))
        };
        let (left, right) = (self.left() * long, (WIDTH as i32 - 40) * long);
        let steps = self.steps();
        let across = |number: f64| steps.map(&number.log10(), (left, right));
        area.draw_text(&self.title, &style(20, HPos::Center), ((WIDTH / 2) as i32 * long, 24 * long))?;
        let mut at = left;
        for (kind, name) in self.kinds.iter().enumerate() {
            self.dot(&area, kind, (at + 6 * long, 56 * long), long)?;
            area.draw_text(name, &style(14, HPos::Left), (at + 18 * long, 56 * long))?;
            at += (42 + 8 * name.chars().count() as i32) * long;
        }
        for tick in steps.ticks() {
            let x = across(tick);
            let line = vec![(x, TOP * long), (x, BOTTOM * long)];
            area.draw(&PathElement::new(line, RGBColor(225, 225, 225).stroke_width(times)))?;
            let text = steps.format_ext(&tick.log10());
            area.draw_text(&text, &style(14, HPos::Center), (x, (BOTTOM + 16) * long))?;
        }
        area.draw_text(&self.scale, &style(16, HPos::Center), ((left + right) / 2, (BOTTOM + 42) * long))?;
        if let Some((name, at)) = &self.limit {
            let x = across(*at);
            area.draw(&PathElement::new(vec![(x, (TOP - 6) * long), (x, BOTTOM * long)], BLACK.stroke_width(times)))?;
            area.draw_text(name, &style(14, HPos::Left), (x - 4 * long, (TOP - 16) * long))?;
        }
        let height = (BOTTOM - TOP) * long / self.rows.len().max(1) as i32;
        for (number, row) in self.rows.iter().enumerate() {
            let y = TOP * long + height * number as i32 + height / 2;
            let line = vec![(left, y), (right, y)];
            area.draw(&PathElement::new(line, RGBColor(225, 225, 225).stroke_width(times)))?;
            area.draw_text(&row.name, &style(15, HPos::Right), (left - 12 * long, y))?;
            for (kind, number) in row.numbers.iter().enumerate() {
                match number.filter(|number| *number > 0.0) {
                    Some(number) => self.dot(&area, kind, (across(number), y), long)?,
                    None => {
                        let text = format!("{}: {}", self.kinds[kind], self.unknown);
                        let down = (14 * kind as i32 - 7 * (row.numbers.len() as i32 - 1)) * long;
                        area.draw_text(&text, &style(12, HPos::Right), (right, y + down))?;
                    }
                }
            }
        }
        area.present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(rows: usize) -> Ranking {
        let row = |n: usize| Ranked { name: format!("method {n}"), numbers: vec![Some(0.01 * (n + 1) as f64), None] };
        Ranking {
            title: "A < B".into(),
            scale: "error (less is better)".into(),
            kinds: vec!["one".into(), "two".into()],
            rows: (0..rows).map(row).collect(),
            unknown: "not known".into(),
            limit: Some(("the least".into(), 0.005)),
        }
    }

    #[test]
    fn every_thing_is_named_and_every_number_drawn() {
        let text = ranking(3).svg();
        for word in
            ["A &lt; B", "error (less is better)", "one", "two: not known", "method 2", "the least", "0.01", "0.02"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert_eq!(text.matches("<circle").count(), 3 + 1, "one for each method, and one in the legend");
        assert!(
            text.contains("role=\"img\" aria-label=\"A &lt; B; error (less is better): method 0, method 1, method 2\"")
        );
        assert!(ranking(3).png().starts_with(b"\x89PNG"));
    }

    #[test]
    fn nothing_to_rank_is_no_failure() {
        let empty = Ranking { limit: None, ..ranking(0) };
        assert!(empty.svg().contains("</svg>"));
    }
}
