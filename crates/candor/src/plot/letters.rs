//! The font of bitmaps: outlines that come with the crate, filled without a font library.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The outlines; their license is in the same folder.
const LETTERS: &str = include_str!("../../assets/letters.txt");

/// Units of the outlines per em.
const EM: f32 = 2048.0;

/// Position of the baseline, in ems below the top of a line one em high; as in plotters' SVG.
const BASELINE: f32 = 0.76;

/// Number of line segments per curve; at the sizes of plots the difference is invisible.
const LINES_OF_CURVE: usize = 6;

/// Number of scan lines per row of pixels, for antialiasing.
const SCANS: i32 = 4;

/// A point, x to the right and y downward.
pub type Point = (f32, f32);

struct Letter {
    /// Advance width.
    advance: f32,
    /// Closed polygons, y upward.
    contours: Vec<Vec<Point>>,
}

static ALPHABET: LazyLock<HashMap<char, Letter>> =
    LazyLock::new(|| LETTERS.lines().filter(|line| !line.starts_with('#')).filter_map(letter).collect());

/// Parses a line of the outlines.
fn letter(line: &str) -> Option<(char, Letter)> {
    let mut words = line.split(' ');
    let name = char::from_u32(u32::from_str_radix(words.next()?, 16).ok()?)?;
    let advance = words.next()?.parse().ok()?;
    let mut contours: Vec<Vec<Point>> = Vec::new();
    while let Some(step) = words.next() {
        let mut point = || Some((words.next()?.parse::<f32>().ok()?, words.next()?.parse::<f32>().ok()?));
        match step {
            "M" => contours.push(vec![point()?]),
            "L" => contours.last_mut()?.push(point()?),
            _ => {
                let (pull, end) = (point()?, point()?);
                let start = *contours.last()?.last()?;
                let at = |t: f32| {
                    let along =
                        |s: f32, p: f32, e: f32| (1.0 - t) * (1.0 - t) * s + 2.0 * t * (1.0 - t) * p + t * t * e;
                    (along(start.0, pull.0, end.0), along(start.1, pull.1, end.1))
                };
                let curve = (1..=LINES_OF_CURVE).map(|i| at(i as f32 / LINES_OF_CURVE as f32));
                contours.last_mut()?.extend(curve);
            }
        }
    }
    Some((name, Letter { advance, contours }))
}

/// Returns the letters of a text; a character without outline becomes a question mark.
fn letters(text: &str) -> impl Iterator<Item = &'static Letter> {
    text.chars().filter_map(|c| ALPHABET.get(&c).or_else(|| ALPHABET.get(&'?')))
}

/// Returns the width of a text in ems.
pub fn width(text: &str) -> f32 {
    letters(text).map(|letter| letter.advance).sum::<f32>() / EM
}

/// Returns the outlines of a text that is `em` high, with its upper left corner at the origin.
pub fn outlines(text: &str, em: f32) -> Vec<Vec<Point>> {
    let mut pen = 0.0;
    let mut all = Vec::new();
    for letter in letters(text) {
        let place = |&(x, y): &Point| ((pen + x) / EM * em, (BASELINE - y / EM) * em);
        all.extend(letter.contours.iter().map(|contour| contour.iter().map(place).collect::<Vec<Point>>()));
        pen += letter.advance;
    }
    all
}

/// Fills closed polygons by the nonzero winding rule.
///
/// `pixel` receives each covered pixel and the fraction of it that is covered.
pub fn fill(polygons: &[Vec<Point>], mut pixel: impl FnMut(i32, i32, f32)) {
    let edges: Vec<(Point, Point)> = polygons
        .iter()
        .flat_map(|polygon| polygon.iter().copied().zip(polygon.iter().copied().cycle().skip(1)))
        .filter(|(from, to)| from.1 != to.1)
        .collect();
    let ends = |which: fn(&Point) -> f32| {
        let values = || polygons.iter().flatten().map(which);
        (
            values().fold(f32::INFINITY, f32::min).floor() as i32,
            values().fold(f32::NEG_INFINITY, f32::max).ceil() as i32,
        )
    };
    if edges.is_empty() {
        return;
    }
    let ((left, right), (top, bottom)) = (ends(|p| p.0), ends(|p| p.1));
    for row in top..bottom {
        let mut covered = vec![0.0f32; (right - left) as usize];
        for scan in 0..SCANS {
            let y = row as f32 + (scan as f32 + 0.5) / SCANS as f32;
            for (from, to) in spans(&edges, y) {
                cover(&mut covered, from - left as f32, to - left as f32);
            }
        }
        for (x, &part) in (left..).zip(&covered) {
            if part > 0.0 {
                pixel(x, row, (part / SCANS as f32).min(1.0));
            }
        }
    }
}

/// Returns the intervals in which a horizontal line at height `y` is inside the polygons.
fn spans(edges: &[(Point, Point)], y: f32) -> Vec<(f32, f32)> {
    let crossing = |&(from, to): &(Point, Point)| {
        let crosses = (from.1 <= y) != (to.1 <= y);
        let x = || from.0 + (y - from.1) / (to.1 - from.1) * (to.0 - from.0);
        crosses.then(|| (x(), if from.1 < to.1 { 1 } else { -1 }))
    };
    let mut crossings: Vec<(f32, i32)> = edges.iter().filter_map(crossing).collect();
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut winding, mut begun, mut inside) = (0, 0.0, Vec::new());
    for (x, turn) in crossings {
        if winding == 0 {
            begun = x;
        }
        winding += turn;
        if winding == 0 {
            inside.push((begun, x));
        }
    }
    inside
}

/// Adds the covered part of each pixel between two positions.
fn cover(pixels: &mut [f32], from: f32, to: f32) {
    for (x, pixel) in pixels.iter_mut().enumerate().take(to.ceil() as usize).skip(from as usize) {
        *pixel += (to.min(x as f32 + 1.0) - from.max(x as f32)).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_letter_of_its_own() {
        assert_eq!(ALPHABET.len(), LETTERS.lines().filter(|line| !line.starts_with('#')).count());
        assert!((' '..='~').chain("äßéøŁΩε≤∞".chars()).all(|c| ALPHABET.contains_key(&c)));
        // A missing letter is as wide as the question mark in its place.
        assert_eq!(width("\u{4e2d}"), width("?"));
        assert!(width("WWW") > 2.0 * width("iii"));
    }

    #[test]
    fn areas_are_those_of_geometry() {
        let area = |polygons: &[Vec<Point>]| {
            let mut sum = 0.0;
            fill(polygons, |_, _, part| sum += part);
            sum
        };
        let square = |from: f32, to: f32| vec![(from, from), (to, from), (to, to), (from, to)];
        let hole: Vec<Point> = square(3.5, 6.5).into_iter().rev().collect();
        assert!((area(&[square(1.25, 8.75)]) - 56.25).abs() < 0.01);
        assert!((area(&[square(1.25, 8.75), hole]) - 47.25).abs() < 0.01, "what winds the other way is a hole");
        assert!((area(&[square(1.25, 8.75), square(3.5, 6.5)]) - 56.25).abs() < 0.01, "twice inside is inside");
        assert!((area(&[vec![(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)]]) - 50.0).abs() < 0.2);
        assert_eq!(area(&[]), 0.0);
        // The letter o has a hole and stays within its box.
        let o = outlines("o", 100.0);
        assert!(o.len() == 2 && area(&o) < 0.7 * area(&o[..1]).max(area(&o[1..])));
        assert!(o.iter().flatten().all(|p| p.0 > 0.0 && p.0 < 100.0 * width("o") && p.1 > 0.0 && p.1 < 100.0));
    }
}
