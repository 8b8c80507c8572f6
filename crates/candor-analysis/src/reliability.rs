//! Reliability of estimated shares: whether they are precise enough to publish.
//!
//! Both standards are based on the data presentation standards for proportions of the US National Center for Health
//! Statistics (Parker et al. 2017, Vital and Health Statistics, Series 2, no. 175). An interval at most 5 percentage
//! points wide is precise, and one of 30 points or more is not. One in between must be at most 1.3 times as wide as
//! the share.
//!
//! [`Standard::Candor`] adds the grades `Rough` and `Under`, because randomized responses often give a useful upper
//! limit where the share itself is too imprecise. [`Standard::Nchs`] is the original rule, with its limits on the
//! effective sample size and the degrees of freedom. Shares that it refers to a statistician for review are `Rough`.

/// Standard by which shares are graded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// By the width of the interval; upper limits can be published.
    #[default]
    Candor,
    /// The standards of the National Center for Health Statistics, 2017.
    Nchs,
}

/// Precision of an estimated share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Estimated share.
    pub estimate: f64,
    /// Limits of its 95% interval.
    pub interval: (f64, f64),
    /// Effective sample size: number of respondents with equal weights that would give the same precision.
    pub effective: Option<f64>,
    /// Degrees of freedom of a sampling design.
    pub degrees: Option<f64>,
}

impl Precision {
    /// Creates the precision of a share with a known interval only.
    pub fn of_interval(estimate: f64, low: f64, high: f64) -> Precision {
        Precision { estimate, interval: (low, high), effective: None, degrees: None }
    }
}

/// Grade of a share for publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Precise: published with its margin of error.
    Shown,
    /// Imprecise: published with its margin of error and a mark.
    Rough,
    /// Only the upper limit of the interval is precise enough.
    Under,
    /// Too imprecise, or undefined.
    Hidden,
}

impl Reliability {
    /// Returns the name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Reliability::Shown => "shown",
            Reliability::Rough => "rough",
            Reliability::Under => "under",
            Reliability::Hidden => "hidden",
        }
    }
}

/// A share for publication: the interval is clipped to 0 to 1, and the estimate lies within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedShare {
    /// Share within its interval; `None` if it must not be published.
    pub estimate: Option<f64>,
    /// Lower limit, at least 0.
    pub low: f64,
    /// Upper limit, at most 1.
    pub high: f64,
    /// Grade of the share.
    pub reliability: Reliability,
    /// Whether the share of all other categories is precise as well; if not, a footnote says so.
    ///
    /// Always true for [`Standard::Candor`].
    pub complement: bool,
}

/// Largest width of an interval that is always precise.
const PRECISE: f64 = 0.05;
/// Largest width of an interval of a share that is published without a mark.
const MARKED: f64 = 0.10;
/// Smallest width of an interval that is hidden.
const TOO_WIDE: f64 = 0.30;
/// Largest width of an interval relative to its share.
const RELATIVE: f64 = 1.3;
/// Largest upper limit that is published without its share.
const LARGEST_LIMIT: f64 = 0.20;
/// Smallest effective sample size for the NCHS standard.
const FEWEST: f64 = 30.0;
/// Smallest degrees of freedom for the NCHS standard; below, a statistician reviews the share.
const FEWEST_DEGREES: f64 = 8.0;
/// Tolerance for equal widths, because limits are computed in floating point.
const TIE: f64 = 1e-12;

/// Grades a share.
///
/// # Examples
/// ```
/// use candor_analysis::reliability::{Precision, Reliability, Standard, published};
/// let grade = |precision| published(&precision, Standard::Candor);
/// assert_eq!(grade(Precision::of_interval(0.19, 0.17, 0.21)).reliability, Reliability::Shown);
/// let negative = grade(Precision::of_interval(-0.01, -0.05, 0.03));
/// assert_eq!((negative.reliability, negative.estimate), (Reliability::Under, None));
/// ```
pub fn published(precision: &Precision, standard: Standard) -> PublishedShare {
    let Precision { estimate, interval: (low, high), .. } = *precision;
    let hidden =
        PublishedShare { estimate: None, low: 0.0, high: 1.0, reliability: Reliability::Hidden, complement: true };
    if ![estimate, low, high].iter().all(|number| number.is_finite()) || low > high {
        return hidden;
    }
    let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
    let (share, width) = (estimate.clamp(low, high), high - low);
    let precise = |share: f64| width <= PRECISE + TIE || width <= RELATIVE * share + TIE;
    let reliability = match standard {
        Standard::Candor => by_width(share, (low, high), precise(share)),
        Standard::Nchs => by_nchs(precision, width, precise(share)),
    };
    let shown = matches!(reliability, Reliability::Shown | Reliability::Rough);
    let complement = standard == Standard::Candor || precise(1.0 - share);
    PublishedShare { estimate: shown.then_some(share), low, high, reliability, complement }
}

/// Grades a share by its interval.
fn by_width(share: f64, (low, high): (f64, f64), precise: bool) -> Reliability {
    let width = high - low;
    if (low == 0.0 || !precise) && high <= LARGEST_LIMIT + TIE {
        Reliability::Under
    } else if width <= MARKED + TIE && precise {
        Reliability::Shown
    } else if width < TOO_WIDE - TIE && width <= RELATIVE * share + TIE {
        Reliability::Rough
    } else {
        Reliability::Hidden
    }
}

/// Grades a share by the NCHS standard. Unknown quantities are assumed to be sufficient.
fn by_nchs(precision: &Precision, width: f64, precise: bool) -> Reliability {
    let few = precision.effective.is_some_and(|effective| effective < FEWEST);
    if few || width >= TOO_WIDE - TIE || !precise {
        return Reliability::Hidden;
    }
    // The estimated share is 0 or 1.
    let no_events = precision.estimate <= 0.0 || precision.estimate >= 1.0;
    let review = no_events || precision.degrees.is_some_and(|degrees| degrees < FEWEST_DEGREES);
    if review { Reliability::Rough } else { Reliability::Shown }
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
            let found = published(&Precision::of_interval(estimate, low, high), Standard::Candor);
            assert_eq!(found.reliability, expected, "{estimate} {low} {high}");
        }
    }

    /// The rule as implemented in CDC's package surveytable, case by case.
    #[test]
    fn the_nchs_rule_changes_at_its_limits() {
        use Reliability::{Hidden, Rough, Shown};
        for (estimate, (low, high), effective, degrees, expected) in [
            (0.5, (0.4, 0.6), 30.0, 8.0, Shown),
            (0.5, (0.4, 0.6), 29.9, 8.0, Hidden),
            (0.5, (0.4, 0.6), 100.0, 7.0, Rough),
            (0.5, (0.351, 0.649), 100.0, 20.0, Shown),
            (0.5, (0.35, 0.65), 100.0, 20.0, Hidden),
            (0.04, (0.02, 0.072), 500.0, 20.0, Shown),
            (0.04, (0.02, 0.073), 500.0, 20.0, Hidden),
            (0.01, (0.0, 0.05), 500.0, 20.0, Shown),
            (-0.01, (0.0, 0.05), 500.0, 20.0, Rough),
            (1.02, (0.96, 1.0), 500.0, 20.0, Rough),
            (f64::NAN, (0.1, 0.2), 500.0, 20.0, Hidden),
        ] {
            let (effective, degrees) = (Some(effective), Some(degrees));
            let precision = Precision { estimate, interval: (low, high), effective, degrees };
            assert_eq!(published(&precision, Standard::Nchs).reliability, expected, "{precision:?}");
        }
        let complement =
            |estimate, low, high| published(&Precision::of_interval(estimate, low, high), Standard::Nchs).complement;
        assert!(!complement(0.95, 0.9, 0.97) && complement(0.95, 0.93, 0.97) && complement(0.5, 0.4, 0.6));
    }

    proptest! {
        #[test]
        fn published_points_lie_in_their_intervals(
            estimate in -3.0..4.0f64, low in -3.0..4.0f64, width in 0.0..3.0f64,
        ) {
            let share = published(&Precision::of_interval(estimate, low, low + width), Standard::Candor);
            let strict = published(&Precision::of_interval(estimate, low, low + width), Standard::Nchs);
            // A share that the NCHS standard shows is never hidden by candor's: it gets at least a mark or an
            // upper limit.
            prop_assert!(strict.reliability == Reliability::Hidden || share.reliability != Reliability::Hidden);
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
