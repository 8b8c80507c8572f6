//! Renders plots as PNG images, with a built-in font.

use std::convert::Infallible;
use std::io::Write;

use plotters::prelude::*;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind, FontTransform};

use super::letters::{self, Point};
use super::{Drawing, HEIGHT, WIDTH};

/// Oversampling factor of the bitmap, for smooth lines.
const FINER: u32 = 3;

/// Font size relative to the em, as in plotters' SVG.
const LINE: f64 = 1.24;

/// Renders a drawing as a PNG image.
pub(super) fn png(drawing: &impl Drawing) -> Vec<u8> {
    let mut canvas = Canvas { pixels: vec![[255; 3]; (WIDTH * FINER * HEIGHT * FINER) as usize] };
    // Drawing into memory cannot fail.
    let drawn = drawing.draw((&mut canvas).into_drawing_area(), FINER);
    debug_assert!(drawn.is_ok());
    encode_png(&canvas.shrunk())
}

/// Pixels of a plot, oversampled [`FINER`] times in each direction.
struct Canvas {
    pixels: Vec<[u8; 3]>,
}

impl Canvas {
    /// Returns the rows of the image at its final size, each a filter byte (0, none) and three colors a pixel.
    fn shrunk(&self) -> Vec<u8> {
        let mut lines = Vec::with_capacity((HEIGHT * (WIDTH * 3 + 1)) as usize);
        for y in 0..HEIGHT {
            lines.push(0);
            for x in 0..WIDTH {
                for colour in 0..3 {
                    let fine = |i: u32| (y * FINER + i / FINER) * WIDTH * FINER + x * FINER + i % FINER;
                    let sum: u32 = (0..FINER * FINER).map(|i| u32::from(self.pixels[fine(i) as usize][colour])).sum();
                    lines.push((sum / (FINER * FINER)) as u8);
                }
            }
        }
        lines
    }

    /// Blends a color into a pixel; pixels outside of the canvas are ignored.
    fn mix(&mut self, (x, y): BackendCoord, colour: BackendColor) {
        let (width, height) = ((WIDTH * FINER) as i32, (HEIGHT * FINER) as i32);
        if (0..width).contains(&x) && (0..height).contains(&y) {
            let pixel = &mut self.pixels[(y * width + x) as usize];
            let (red, green, blue) = colour.rgb;
            for (held, new) in pixel.iter_mut().zip([red, green, blue]) {
                let mixed = f64::from(*held) * (1.0 - colour.alpha) + f64::from(new) * colour.alpha;
                *held = mixed.round() as u8;
            }
        }
    }
}

impl DrawingBackend for &mut Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (WIDTH * FINER, HEIGHT * FINER)
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Result<(), DrawingErrorKind<Infallible>> {
        self.mix(at, colour);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let em = (style.size() / LINE) as f32;
        let right = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => 0.5,
            HPos::Right => 1.0,
        } * letters::width(text)
            * em;
        let down = match style.anchor().v_pos {
            VPos::Top => 0.0,
            VPos::Center => 0.5,
            VPos::Bottom => 1.0,
        } * em;
        let turn = style.transform();
        let place = |point: &Point| {
            let turned = turned(&turn, (point.0 - right, point.1 - down));
            (turned.0 + x as f32, turned.1 + y as f32)
        };
        let outlines: Vec<Vec<Point>> =
            letters::outlines(text, em).iter().map(|contour| contour.iter().map(place).collect()).collect();
        let BackendColor { alpha, rgb } = style.color();
        letters::fill(&outlines, |x, y, part| self.mix((x, y), BackendColor { alpha: alpha * f64::from(part), rgb }));
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let em = (style.size() / LINE) as f32;
        Ok(((letters::width(text) * em).ceil() as u32, em.ceil() as u32))
    }
}

fn turned(turn: &FontTransform, (x, y): Point) -> Point {
    match turn {
        FontTransform::None => (x, y),
        FontTransform::Rotate90 => (-y, x),
        FontTransform::Rotate180 => (-x, -y),
        FontTransform::Rotate270 => (y, -x),
    }
}

/// Encodes rows of pixels as PNG: 8 bits per channel, RGB, one compressed data chunk.
fn encode_png(lines: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory cannot fail.
    let packed = packer.write_all(lines).and_then(|()| packer.finish()).unwrap_or_default();
    let header = [&WIDTH.to_be_bytes()[..], &HEIGHT.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", &header), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
        let mut sum = flate2::Crc::new();
        sum.update(kind);
        sum.update(data);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(data);
        file.extend(sum.sum().to_be_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::tests::plot;

    #[test]
    fn bitmaps_are_images_of_the_same() {
        let file = png(&plot(false, vec![(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]));
        assert!(file.starts_with(b"\x89PNG\r\n\x1a\n") && file.ends_with(b"IEND\xaeB`\x82"));
        let start = file.windows(4).position(|w| w == b"IDAT").unwrap() + 4;
        let mut lines = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&file[start..]), &mut lines).unwrap();
        assert_eq!(lines.len(), (HEIGHT * (WIDTH * 3 + 1)) as usize);
        // Mostly white, the colors of both series, and black letters.
        let pixels = || lines.chunks_exact((WIDTH * 3 + 1) as usize).flat_map(|line| line[1..].chunks_exact(3));
        let count = |colour: [u8; 3]| pixels().filter(|pixel| **pixel == colour).count();
        assert!(count([255, 255, 255]) > 350_000);
        assert!(count([0, 114, 178]) > 300 && count([233, 108, 17]) > 60 && count([0, 0, 0]) > 200);
    }
}
