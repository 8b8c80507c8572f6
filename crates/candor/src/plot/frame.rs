//! Draws the frame of a figure: a title with the finding, a subtitle with the quantity, and notes at the bottom.
//!
//! Coordinates are those of the figure before it is enlarged.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::colours::Role;
use super::{Drawn, HEIGHT, WIDTH, letters};

/// Margin on the left and the right in pixels.
pub(super) const EDGE: i32 = 30;

/// Font sizes, as line heights in pixels.
pub(super) const TITLE: u32 = 26;
pub(super) const BODY: u32 = 18;
pub(super) const SMALL: u32 = 16;

/// Line height in ems, as in plotters' SVG.
const LINE: f64 = 1.24;

/// A drawing area that is enlarged `times` times.
pub(super) struct Frame<'a, B: DrawingBackend> {
    pub area: &'a DrawingArea<B, Shift>,
    pub times: u32,
}

/// Style of a text.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub size: u32,
    pub bold: bool,
    pub role: Role,
    pub place: HPos,
}

impl Style {
    pub fn new(size: u32, role: Role, place: HPos) -> Style {
        Style { size, bold: false, role, place }
    }

    pub fn bold(self, bold: bool) -> Style {
        Style { bold, ..self }
    }
}

/// Returns the width of a text in pixels.
pub(super) fn width(text: &str, size: u32) -> i32 {
    (f64::from(letters::width(text)) * f64::from(size) / LINE).ceil() as i32
}

/// Wraps a text at a width in pixels.
pub(super) fn wrapped(text: &str, size: u32, widest: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= widest => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl<B: DrawingBackend> Frame<'_, B> {
    fn scaled(&self, (x, y): (i32, i32)) -> (i32, i32) {
        (x * self.times as i32, y * self.times as i32)
    }

    /// Draws a line of text, vertically centered at `at`.
    pub fn text(&self, text: &str, style: Style, at: (i32, i32)) -> Drawn<B> {
        let weight = if style.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", style.size * self.times).into_font().style(weight);
        let colour = style.role.light();
        self.area.draw_text(text, &font.color(&colour).pos(Pos::new(style.place, VPos::Center)), self.scaled(at))
    }

    /// Draws a wrapped text from `top` downward and returns the position below it.
    pub fn paragraph(&self, text: &str, style: Style, top: i32) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
        let mut y = top;
        for line in wrapped(text, style.size, WIDTH as i32 - 2 * EDGE) {
            self.text(&line, style, (EDGE, y))?;
            y += style.size as i32 + 4;
        }
        Ok(y)
    }

    /// Draws the title, subtitle and notes, and returns the top and bottom of the space between them.
    pub fn around(
        &self,
        title: &str,
        subtitle: &str,
        notes: &str,
    ) -> Result<(i32, i32), DrawingAreaErrorKind<B::ErrorType>> {
        self.area.fill(&Role::Ground.light())?;
        let top = self.paragraph(title, Style::new(TITLE, Role::Ink, HPos::Left).bold(true), 30)?;
        let top = self.paragraph(subtitle, Style::new(BODY, Role::Second, HPos::Left), top)?;
        let lines = wrapped(notes, SMALL, WIDTH as i32 - 2 * EDGE).len() as i32;
        let bottom = HEIGHT as i32 - 10 - lines * (SMALL as i32 + 4);
        self.paragraph(notes, Style::new(SMALL, Role::Second, HPos::Left), bottom + 6)?;
        Ok((top, bottom))
    }

    pub fn line(&self, points: &[(i32, i32)], role: Role, thick: u32) -> Drawn<B> {
        let points: Vec<(i32, i32)> = points.iter().map(|&point| self.scaled(point)).collect();
        self.area.draw(&PathElement::new(points, role.light().stroke_width(thick * self.times)))
    }

    /// Draws a vertical dashed line.
    pub fn dashed(&self, x: i32, (top, bottom): (i32, i32), role: Role) -> Drawn<B> {
        (top..bottom).step_by(8).try_for_each(|y| self.line(&[(x, y), (x, (y + 4).min(bottom))], role, 1))
    }

    pub fn area(&self, points: &[(i32, i32)], role: Role) -> Drawn<B> {
        let points: Vec<(i32, i32)> = points.iter().map(|&point| self.scaled(point)).collect();
        self.area.draw(&Polygon::new(points, role.light().filled()))
    }

    /// Draws a dot, filled or hollow.
    pub fn dot(&self, at: (i32, i32), size: i32, role: Role, filled: bool) -> Drawn<B> {
        let size = size * self.times as i32;
        self.area.draw(&Circle::new(self.scaled(at), size, role.light().filled()))?;
        if !filled {
            let inside = size - 2 * self.times as i32;
            self.area.draw(&Circle::new(self.scaled(at), inside, Role::Ground.light().filled()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_wider_and_lose_no_word() {
        let text =
            "Margin of error in percentage points of all pairs at epsilon 4 with 32,561 respondents, less is better";
        for widest in [100, 300, 2000] {
            let lines = wrapped(text, BODY, widest);
            assert!(lines.iter().all(|line| width(line, BODY) <= widest || !line.contains(' ')), "{lines:?}");
            assert_eq!(lines.join(" "), text);
        }
        assert!(wrapped("", BODY, 100).is_empty());
    }
}
