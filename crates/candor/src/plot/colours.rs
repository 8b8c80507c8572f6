//! Colors that people with any color vision can distinguish, also in gray: tests simulate them.

use plotters::style::RGBColor;

/// Colors of series, in order.
///
/// They start from Okabe and Ito's palette. They were adjusted until neighbors differ in every simulation and in
/// gray, and each is visible on white.
pub(crate) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(233, 108, 17),
    RGBColor(40, 94, 95),
    RGBColor(193, 125, 145),
    RGBColor(131, 94, 0),
    RGBColor(59, 150, 219),
    RGBColor(0, 0, 0),
];

/// The role of a color in figures that follow the light or dark mode of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Ground,
    Panel,
    Ink,
    Second,
    Third,
    Hair,
    Accent,
    Mute,
    Good,
    GoodGround,
    Warn,
    WarnGround,
    Bad,
    BadGround,
}

impl Role {
    pub(crate) const ALL: [Role; 14] = [
        Role::Ground,
        Role::Panel,
        Role::Ink,
        Role::Second,
        Role::Third,
        Role::Hair,
        Role::Accent,
        Role::Mute,
        Role::Good,
        Role::GoodGround,
        Role::Warn,
        Role::WarnGround,
        Role::Bad,
        Role::BadGround,
    ];

    /// Returns the colors in light and in dark mode.
    const fn pair(self) -> [u32; 2] {
        match self {
            Role::Ground => [0xFF_FF_FF, 0x10_16_1C],
            Role::Panel => [0xF4_F6_F8, 0x19_21_2A],
            Role::Ink => [0x17_21_2B, 0xE8_ED_F1],
            Role::Second => [0x46_52_5E, 0xB7_C1_CB],
            Role::Third => [0x62_6E_7A, 0x94_A1_AD],
            Role::Hair => [0xE4_E9_ED, 0x29_34_3E],
            Role::Accent => [0x0B_5C_9C, 0x74_B7_F2],
            Role::Mute => [0x84_90_9B, 0x76_83_8F],
            Role::Good => [0x00_6B_6E, 0x6C_CB_D2],
            Role::GoodGround => [0xDC_F2_F1, 0x0F_33_3A],
            Role::Warn => [0x87_5B_00, 0xEF_C3_5B],
            Role::WarnGround => [0xFF_F2_CC, 0x46_3A_14],
            Role::Bad => [0x86_10_18, 0xFF_8A_80],
            Role::BadGround => [0xF7_D8_D3, 0x46_12_0F],
        }
    }

    pub(crate) fn light(self) -> RGBColor {
        colour(self.pair()[0])
    }
}

fn colour(code: u32) -> RGBColor {
    let [_, red, green, blue] = code.to_be_bytes();
    RGBColor(red, green, blue)
}

/// Returns a style element with the dark colors, for browsers that prefer them.
pub(crate) fn dark_style() -> String {
    let rule = |role: Role| {
        let [light, dark] = role.pair().map(|code| format!("#{code:06X}"));
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    format!("<style>@media (prefers-color-scheme: dark){{{}}}</style>", Role::ALL.map(rule).concat())
}

/// Color of the shading that is laid over the background of table cells.
pub(crate) const SHADE: RGBColor = RGBColor(0, 114, 178);

/// Opacity of the darkest shading; at most 0.6, so that a number on it stays readable in black or white.
pub(crate) const DARKEST: f64 = 0.6;

#[cfg(test)]
mod tests {
    use super::*;

    type Linear = [f64; 3];

    /// The matrices of Machado, Oliveira and Fernandes 2009 (severity 1, linear RGB): normal vision, protanopia,
    /// deuteranopia, tritanopia.
    const VISIONS: [(&str, [[f64; 3]; 3]); 4] = [
        ("all", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        ("protan", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
        ("deutan", [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
        ("tritan", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
    ];

    fn linear(colour: RGBColor) -> Linear {
        [colour.0, colour.1, colour.2].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: &[[f64; 3]; 3], colour: Linear) -> Linear {
        matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
    }

    fn seen(vision: &[[f64; 3]; 3], colour: Linear) -> Linear {
        times(vision, colour).map(|part| part.clamp(0.0, 1.0))
    }

    /// OKLab (Ottosson 2020), in which equal distances look about equally far apart.
    fn lab(colour: Linear) -> [f64; 3] {
        let cones = times(
            &[
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            colour,
        );
        times(
            &[
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    fn distance(a: Linear, b: Linear) -> f64 {
        lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    fn luminance([red, green, blue]: Linear) -> f64 {
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn grey(colour: Linear) -> Linear {
        [luminance(colour); 3]
    }

    /// Returns the WCAG 2 contrast ratio.
    fn contrast(a: Linear, b: Linear) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    /// Blends the shading over a color with this opacity, as a browser does.
    fn shaded(under: RGBColor, level: f64) -> Linear {
        let part = |shade: u8, under: u8| {
            let alpha = DARKEST * level;
            (alpha * f64::from(shade) + (1.0 - alpha) * f64::from(under)).round() as u8
        };
        linear(RGBColor(part(SHADE.0, under.0), part(SHADE.1, under.1), part(SHADE.2, under.2)))
    }

    #[test]
    fn words_of_figures_can_be_read_in_light_and_dark() {
        let on = |role: Role, ground: Role, scheme: usize| {
            contrast(linear(colour(role.pair()[scheme])), linear(colour(ground.pair()[scheme])))
        };
        for scheme in [0, 1] {
            for ground in [Role::Ground, Role::Panel] {
                for words in [Role::Ink, Role::Second, Role::Third, Role::Accent] {
                    assert!(on(words, ground, scheme) >= 4.5, "{words:?} on {ground:?}");
                }
                assert!(on(Role::Mute, ground, scheme) >= 3.0 - 0.05, "{ground:?}");
            }
            for (words, ground) in
                [(Role::Good, Role::GoodGround), (Role::Warn, Role::WarnGround), (Role::Bad, Role::BadGround)]
            {
                assert!(on(words, ground, scheme) >= 4.5, "{words:?}");
                assert!(on(Role::Accent, ground, scheme) >= 3.0, "dots on {ground:?}");
            }
        }
        assert!(dark_style().contains("[fill=\"#0B5C9C\"]{fill:#74B7F2}"));
    }

    #[test]
    fn the_measure_is_that_of_the_literature() {
        let white = lab([1.0; 3]);
        assert!((white[0] - 1.0).abs() < 1e-6 && white[1].abs() < 1e-6 && white[2].abs() < 1e-6, "{white:?}");
        let red = lab(linear(RGBColor(255, 0, 0)));
        assert!((red[0] - 0.627955).abs() < 1e-4 && (red[1] - 0.224863).abs() < 1e-4, "{red:?}");
        for (name, vision) in &VISIONS {
            let white = seen(vision, [1.0; 3]);
            assert!(white.iter().all(|part| (part - 1.0).abs() < 1e-3), "{name}: white stays white");
        }
        // The test can fail: a deuteranope confuses red and green of equal lightness.
        let [a, b] = [RGBColor(200, 60, 60), RGBColor(110, 120, 50)].map(linear);
        assert!(distance(a, b) > 0.2 && distance(seen(&VISIONS[2].1, a), seen(&VISIONS[2].1, b)) < 0.1);
    }

    #[test]
    fn series_differ_for_every_vision_and_in_grey() {
        let colours = COLOURS.map(linear);
        for (i, &a) in colours.iter().enumerate() {
            assert!(contrast(a, [1.0; 3]) >= 3.0, "{:?} on white", COLOURS[i]);
            for (j, &b) in colours.iter().enumerate().skip(i + 1) {
                for (name, vision) in &VISIONS {
                    let far = distance(seen(vision, a), seen(vision, b));
                    let least = if j == i + 1 { 0.15 } else { 0.1 };
                    assert!(far >= least, "{name}: {:?} and {:?} are {far:.3} apart", COLOURS[i], COLOURS[j]);
                }
                if j == i + 1 {
                    let far = distance(grey(a), grey(b));
                    assert!(far >= 0.1, "in grey {:?} and {:?} are {far:.3} apart", COLOURS[i], COLOURS[j]);
                }
            }
        }
    }

    #[test]
    fn shades_grow_for_every_vision_and_words_on_them_can_be_read() {
        // The page colors and text colors of browsers in light and dark mode.
        for (page, words) in [(RGBColor(255, 255, 255), [0.0; 3]), (RGBColor(18, 18, 18), [1.0; 3])] {
            let levels = [0.0, 0.25, 0.5, 0.75, 1.0].map(|level| shaded(page, level));
            for pair in levels.windows(2) {
                for (name, vision) in &VISIONS {
                    let far = distance(seen(vision, pair[0]), seen(vision, pair[1]));
                    assert!(far >= 0.04, "{name}: a quarter is {far:.3}");
                }
                assert!(distance(grey(pair[0]), grey(pair[1])) >= 0.03);
            }
            for level in levels {
                for (name, vision) in &VISIONS {
                    assert!(contrast(seen(vision, level), words) >= 4.5, "{name}");
                }
            }
        }
    }
}
