//! Which estimated shares are precise enough to publish.
//!
//! The limits are those of the data presentation standards for proportions of the US National Center for Health
//! Statistics (Parker et al. 2017, Vital and Health Statistics, Series 2, no. 175): an interval at most 5 percentage
//! points wide is precise, one of 30 points or more is not, and one in between must be at most 1.3 times as wide as the
//! share. `Rough` and `Under` refine them, because randomized responses often give a useful
//! upper limit where the share itself is too imprecise.

/// How a share may be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Precise: the share with its margin of error.
    Shown,
    /// Imprecise: the share with its margin of error, marked as such.
    Rough,
    /// Only the upper limit of the interval is precise enough.
    Under,
    /// Too imprecise, or undefined.
    Hidden,
}

impl Reliability {
    /// Its name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Reliability::Shown => "shown",
            Reliability::Rough => "rough",
            Reliability::Under => "under",
            Reliability::Hidden => "hidden",
        }
    }
}

/// A share as it may be published: its interval clipped to 0 to 1, and the point within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedShare {
    /// The share, within its interval; `None` if it must not be published.
    pub estimate: Option<f64>,
    /// The lower limit, at least 0.
    pub low: f64,
    /// The upper limit, at most 1.
    pub high: f64,
    /// What may be published of it.
    pub reliability: Reliability,
}

/// Widest interval that is always precise.
const PRECISE: f64 = 0.05;
/// Widest interval of a share that is shown without a mark.
const MARKED: f64 = 0.10;
/// Intervals at least this wide are hidden.
const TOO_WIDE: f64 = 0.30;
/// Largest width of an interval relative to its share.
const RELATIVE: f64 = 1.3;
/// Largest upper limit that is published alone.
const LARGEST_LIMIT: f64 = 0.20;
/// Widths that differ by less are equal: limits are computed in floating point.
const TIE: f64 = 1e-12;

/// Grades a share by its 95% confidence interval.
///
/// # Examples
/// ```
/// use candor_analysis::reliability::{Reliability, published};
/// assert_eq!(published(0.19, 0.17, 0.21).reliability, Reliability::Shown);
/// let negative = published(-0.01, -0.05, 0.03);
/// assert_eq!((negative.reliability, negative.estimate), (Reliability::Under, None));
/// ```
pub fn published(estimate: f64, low: f64, high: f64) -> PublishedShare {
    if ![estimate, low, high].iter().all(|number| number.is_finite()) || low > high {
        return PublishedShare { estimate: None, low: 0.0, high: 1.0, reliability: Reliability::Hidden };
    }
    let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
    let (share, width) = (estimate.clamp(low, high), high - low);
    let precise = width <= PRECISE + TIE;
    let relative = width <= RELATIVE * share + TIE;
    let reliability = if (low == 0.0 || !(precise || relative)) && high <= LARGEST_LIMIT + TIE {
        Reliability::Under
    } else if width <= MARKED + TIE && (precise || relative) {
        Reliability::Shown
    } else if width < TOO_WIDE - TIE && relative {
        Reliability::Rough
    } else {
        Reliability::Hidden
    };
    let shown = matches!(reliability, Reliability::Shown | Reliability::Rough);
    PublishedShare { estimate: shown.then_some(share), low, high, reliability }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn grades_change_at_the_stated_limits() {
        use Reliability::{Hidden, Rough, Shown, Under};
        for (estimate, low, high, expected) in [
            (0.5, 0.45, 0.55, Shown),
            (0.5, 0.449, 0.551, Rough),
            (0.5, 0.351, 0.649, Rough),
            (0.5, 0.35, 0.65, Hidden),
            (0.03, 0.01, 0.06, Shown),
            (0.03, 0.0, 0.05, Under),
            (0.03, 0.001, 0.07, Under),
            (0.1, 0.03, 0.21, Hidden),
            (0.99, 0.96, 1.0, Shown),
            (f64::NAN, 0.1, 0.2, Hidden),
            (0.1, f64::NEG_INFINITY, 0.2, Hidden),
        ] {
            assert_eq!(published(estimate, low, high).reliability, expected, "{estimate} {low} {high}");
        }
    }

    proptest! {
        #[test]
        fn published_points_lie_in_their_intervals(
            estimate in -3.0..4.0f64, low in -3.0..4.0f64, width in 0.0..3.0f64,
        ) {
            let share = published(estimate, low, low + width);
            prop_assert!(0.0 <= share.low && share.low <= share.high && share.high <= 1.0);
            match share.estimate {
                Some(point) => {
                    prop_assert!(share.low <= point && point <= share.high);
                    prop_assert!(share.high - share.low < TOO_WIDE);
                }
                None => prop_assert!(matches!(share.reliability, Reliability::Under | Reliability::Hidden)),
            }
            prop_assert!(share.reliability != Reliability::Under || share.high <= LARGEST_LIMIT + TIE);
        }
    }
}
