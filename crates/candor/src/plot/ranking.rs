//! Draws a ranking: one row per item, best first, with dots on a common scale.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Serialize;

use super::colours::Role;
use super::frame::{BODY, EDGE, Frame, SMALL, Style, width};
use super::{Drawing, Drawn, WIDTH};
use crate::format::count;
use crate::margins::{GOOD, ROUGH};

/// A ranking of items, with one dot per kind of number on a logarithmic scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Title, which states the finding.
    pub title: String,
    /// Quantity, unit, and what they apply to.
    pub subtitle: String,
    /// Kind of quantity.
    pub quantity: Quantity,
    /// Meaning of the dots, in the order of the numbers. Dots of the last kind are filled.
    pub kinds: Vec<String>,
    /// The items, best first.
    pub rows: Vec<Ranked>,
    /// Label and position of a vertical line across all rows.
    pub limit: Option<(String, f64)>,
    /// Notes, including what is not drawn.
    pub notes: String,
}

/// The kind of quantity that is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// Margins of error in percentage points, with the zones that verdicts name.
    Points,
    /// Numbers of people.
    People,
}

/// An item and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Name of the item.
    pub name: String,
    /// One number above 0 for each kind; `None` if unknown.
    pub numbers: Vec<Option<f64>>,
    /// The number as text.
    pub value: String,
    /// Remark next to the number.
    pub remark: String,
    /// Whether the item is recommended.
    pub best: bool,
}

/// Largest margin of error that is drawn, in points; wider intervals include nearly all possible values.
pub const OFF_SCALE: f64 = 60.0;

impl Quantity {
    /// Returns the round numbers within a range, with their labels.
    fn ticks(self, (low, high): (f64, f64)) -> Vec<(f64, String)> {
        let all: Vec<(f64, String)> = match self {
            Quantity::Points => {
                [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0, 50.0].map(|at| (at, format!("±{at}"))).into()
            }
            Quantity::People => (0..=15).map(|power| 10f64.powi(power)).map(|at| (at, people(at))).collect(),
        };
        all.into_iter().filter(|(at, _)| (low..=high).contains(at)).collect()
    }

    /// Returns the ends of the scale for these numbers.
    fn range(self, numbers: impl Iterator<Item = f64>) -> (f64, f64) {
        let (low, high) = numbers.fold((f64::INFINITY, 0.0f64), |(low, high), n| (low.min(n), high.max(n)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        match self {
            Quantity::Points => (0.75 * low.min(GOOD), (1.3 * high).clamp(1.3 * GOOD, OFF_SCALE)),
            // Complete decades, so that the scale begins and ends at a grid line.
            Quantity::People => {
                (10f64.powf(low.log10().floor()), 10f64.powf(high.log10().ceil().max(low.log10() + 1.0)))
            }
        }
    }

    /// Returns the zones of the scale: upper end, name and colors.
    fn zones(self) -> &'static [(f64, &'static str, Role, Role)] {
        const ZONES: [(f64, &str, Role, Role); 3] = [
            (GOOD, "good", Role::Good, Role::GoodGround),
            (ROUGH, "rough", Role::Warn, Role::WarnGround),
            (f64::INFINITY, "too imprecise", Role::Bad, Role::BadGround),
        ];
        if self == Quantity::Points { &ZONES } else { &[] }
    }
}

/// Formats a number of people: "1,000", "1 million".
fn people(number: f64) -> String {
    match number {
        ..1e6 => count(number as u64),
        1e6..1e9 => format!("{} million", count((number / 1e6) as u64)),
        _ => format!("{} billion", count((number / 1e9) as u64)),
    }
}

impl Ranking {
    /// Returns the ranking as a self-contained SVG document.
    pub fn svg(&self) -> String {
        super::svg(self)
    }

    /// Returns the ranking as a PNG image.
    pub fn png(&self) -> Vec<u8> {
        super::bitmap::png(self)
    }

    /// Returns a number if it is within the scale.
    fn drawn(&self, number: Option<f64>) -> Option<f64> {
        number.filter(|number| *number > 0.0 && (self.quantity != Quantity::Points || *number <= OFF_SCALE))
    }

    /// Draws the legend from `top` downward and returns the position below it.
    fn legend<B: DrawingBackend>(
        &self,
        frame: &Frame<'_, B>,
        top: i32,
    ) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
        if self.kinds.len() < 2 {
            return Ok(top);
        }
        let mut x = EDGE + 7;
        for (kind, name) in self.kinds.iter().enumerate() {
            frame.dot((x, top + 4), 6, Role::Mute, kind + 1 == self.kinds.len())?;
            frame.text(name, Style::new(SMALL, Role::Ink, HPos::Left), (x + 14, top + 4))?;
            x += 44 + width(name, SMALL);
        }
        Ok(top + 26)
    }
}

impl Drawing for Ranking {
    fn told(&self) -> String {
        let row = |row: &Ranked| format!("{} {} {}", row.name, row.value, row.remark).trim_end().to_owned();
        let rows = self.rows.iter().map(row).collect::<Vec<_>>().join("; ");
        format!("{}. {}: {rows}. {}", self.title, self.subtitle, self.notes)
    }

    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, Shift>, times: u32) -> Drawn<B> {
        let frame = Frame { area: &area, times };
        let (top, bottom) = frame.around(&self.title, &self.subtitle, &self.notes)?;
        let top = self.legend(&frame, top)?;
        let widest = |text: fn(&Ranked) -> i32| self.rows.iter().map(text).max().unwrap_or(0);
        let left = EDGE + widest(|row| width(&row.name, BODY) + 6).min(330) + 14;
        let right =
            WIDTH as i32 - EDGE - widest(|row| width(&row.value, BODY) + width(&row.remark, SMALL) + 14).min(330);
        let (top, bottom) = (top + if self.quantity.zones().is_empty() { 26 } else { 46 }, bottom - 12);
        let bottom = if self.limit.is_some() { bottom - 26 } else { bottom };

        let numbers = self.rows.iter().flat_map(|row| row.numbers.iter().filter_map(|&number| self.drawn(number)));
        let (low, high) = self.quantity.range(numbers.chain(self.limit.iter().map(|(_, at)| *at)));
        let across = Across { left, right, low, high };
        self.grid(&frame, &across, (top, bottom))?;
        let height = (bottom - top) / self.rows.len().max(1) as i32;
        for (number, row) in self.rows.iter().enumerate() {
            self.row(&frame, &across, row, top + height * number as i32 + height / 2)?;
        }
        area.present()
    }
}

/// The logarithmic scale between two horizontal positions.
struct Across {
    left: i32,
    right: i32,
    low: f64,
    high: f64,
}

impl Across {
    fn at(&self, number: f64) -> i32 {
        let part =
            (number.clamp(self.low, self.high).log10() - self.low.log10()) / (self.high.log10() - self.low.log10());
        self.left + (part * f64::from(self.right - self.left)).round() as i32
    }
}

impl Ranking {
    /// Draws the zones, the ticks and the limit.
    fn grid<B: DrawingBackend>(
        &self,
        frame: &Frame<'_, B>,
        across: &Across,
        (top, bottom): (i32, i32),
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let left = across.left;
        let mut from = left;
        for &(to, name, ink, ground) in self.quantity.zones() {
            let to = across.at(to);
            if to > from {
                frame.area(&[(from, top), (to, top), (to, bottom), (from, bottom)], ground)?;
                if to - from > width(name, SMALL) {
                    frame.text(name, Style::new(SMALL, ink, HPos::Left), (from + 6, top - 32))?;
                }
            }
            from = from.max(to);
        }
        if let (Some((_, at)), Quantity::People) = (&self.limit, self.quantity) {
            frame.area(&[(left, top), (across.at(*at), top), (across.at(*at), bottom), (left, bottom)], Role::Panel)?;
        }
        let ticks = self.quantity.ticks((across.low, across.high));
        let mut free = i32::MIN;
        for (at, name) in &ticks {
            let (x, half) = (across.at(*at), width(name, SMALL) / 2);
            frame.line(&[(x, top), (x, bottom)], Role::Hair, 1)?;
            if x - half > free {
                frame.text(name, Style::new(SMALL, Role::Third, HPos::Center), (x, top - 12))?;
                free = x + half + 8;
            }
        }
        if let Some((name, at)) = &self.limit {
            let x = across.at(*at);
            frame.dashed(x, (top, bottom + 8), Role::Second)?;
            let x = x.min(WIDTH as i32 - EDGE - width(name, SMALL));
            frame.text(name, Style::new(SMALL, Role::Second, HPos::Left), (x, bottom + 18))?;
        }
        Ok(())
    }

    /// Draws a row: name, dots and number.
    fn row<B: DrawingBackend>(
        &self,
        frame: &Frame<'_, B>,
        across: &Across,
        row: &Ranked,
        y: i32,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let start = self.limit.as_ref().filter(|_| self.kinds.len() == 1).map(|(_, at)| *at);
        let (ink, dots) = if row.best { (Role::Accent, Role::Accent) } else { (Role::Ink, Role::Mute) };
        frame.text(&row.name, Style::new(BODY, ink, HPos::Right).bold(row.best), (across.left - 14, y))?;
        let known = row.numbers.iter().flatten().copied().chain(start).filter(|number| *number > 0.0);
        let (least, most) = known.fold((f64::INFINITY, 0.0f64), |(l, m), n| (l.min(n), m.max(n)));
        if least < most && least < across.high {
            frame.line(&[(across.at(least), y), (across.at(most), y)], dots, 2)?;
        }
        for (kind, number) in row.numbers.iter().enumerate() {
            if let Some(number) = self.drawn(*number) {
                frame.dot((across.at(number), y), 7, dots, kind + 1 == row.numbers.len())?;
            }
        }
        frame.text(&row.value, Style::new(BODY, ink, HPos::Left).bold(true), (across.right + 10, y))?;
        let after = across.right + 20 + width(&row.value, BODY) + width(&row.value, BODY) / 10;
        frame.text(&row.remark, Style::new(SMALL, Role::Third, HPos::Left), (after, y))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(rows: usize) -> Ranking {
        let row = |n: usize| Ranked {
            name: format!("method {n}"),
            numbers: vec![Some(1.5 * (n + 1) as f64), None],
            value: format!("±{}", n + 2),
            remark: format!("{n} times"),
            best: n == 0,
        };
        Ranking {
            title: "A < B".into(),
            subtitle: "margin of error".into(),
            quantity: Quantity::Points,
            kinds: vec!["one".into(), "two".into()],
            rows: (0..rows).map(row).collect(),
            limit: Some(("the least".into(), 0.6)),
            notes: "Not drawn: nothing.".into(),
        }
    }

    #[test]
    fn every_thing_is_named_and_every_number_drawn() {
        let text = ranking(3).svg();
        for word in ["A &lt; B", "margin of error", "one", "two", "method 2", "±4", "the least", "±1", "±5", "good"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        // A hollow dot consists of two circles; the second kind of the legend is filled.
        assert_eq!(text.matches("<circle").count(), 2 * 3 + 3, "one for each method, and the legend");
        assert!(text.contains("aria-label=\"A &lt; B. margin of error: method 0 ±2 0 times; method 1"), "{text}");
        assert!(text.contains("prefers-color-scheme: dark"));
        assert!(ranking(3).png().starts_with(b"\x89PNG"));
    }

    #[test]
    fn nothing_off_the_scale_stretches_it() {
        let mut wide = ranking(2);
        wide.rows[1].numbers = vec![Some(2.0), Some(4e9)];
        let text = wide.svg();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!(text.matches("<circle").count(), 2 * 2 + 3, "the large number has no dot");
    }

    #[test]
    fn people_are_counted_in_powers_of_ten() {
        let mut hero = ranking(2);
        hero.quantity = Quantity::People;
        hero.kinds.truncate(1);
        hero.rows.iter_mut().zip([6000.0, 2.6e6]).for_each(|(row, n)| row.numbers = vec![Some(n)]);
        hero.limit = Some(("no fewer".into(), 4800.0));
        let text = hero.svg();
        for tick in ["\n1,000\n", "\n10,000\n", "\n1 million\n", "\n10 million\n"] {
            assert!(text.contains(tick), "{tick}: {text}");
        }
        assert!(!text.contains("good"));
    }

    #[test]
    fn nothing_to_rank_is_no_failure() {
        let empty = Ranking { limit: None, ..ranking(0) };
        assert!(empty.svg().contains("</svg>"));
    }
}
