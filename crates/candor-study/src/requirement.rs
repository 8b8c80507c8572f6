//! What a user requires of a plan, as it is written: `name=value`, one threshold per criterion.

use candor::privacy::{CRITERIA, Requirement};

/// Why a text is no requirement.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// Not `name=value`.
    #[error("\"{0}\" is no requirement; write a criterion, = and a threshold, such as ldp=1 or rho=0.1:0.5")]
    Form(String),
    /// No such criterion.
    #[error("there is no criterion \"{0}\"; there are: {1}")]
    Name(String, String),
    /// The threshold is out of range.
    #[error("{name}={value}: {right}")]
    Value {
        /// The criterion.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        right: &'static str,
    },
}

/// How thresholds of several numbers are written.
const RHO_FORM: &str = "write rho1:rho2, two probabilities above 0 and below 1, rho1 below rho2, such as 0.1:0.5";
const BOUNDS_FORM: &str = "write event:low:high, the probability before and its bounds after, with 0 <= low <= event <= high \
                           <= 1, such as 0.1:0.02:0.4";

/// Reads a threshold on one criterion.
///
/// # Errors
/// If it is not of the form `name=value`, there is no such criterion, or the threshold is out of range.
///
/// ```
/// use candor::privacy::Requirement;
/// use candor_study::requirement::requirement;
///
/// assert_eq!(requirement("ldp=1"), Ok(Requirement::Ldp(1.0)));
/// assert_eq!(requirement("rho=0.1:0.5"), Ok(Requirement::Rho { rho1: 0.1, rho2: 0.5 }));
/// assert!(requirement("rho=0.5:0.1").unwrap_err().to_string().contains("below"));
/// ```
pub fn requirement(text: &str) -> Result<Requirement, ThresholdError> {
    let form = || ThresholdError::Form(text.to_owned());
    let (name, value) = text.split_once('=').ok_or_else(form)?;
    let (name, value) = (name.trim(), value.trim());
    let numbers: Vec<f64> =
        value.split(':').map(|part| part.trim().parse::<f64>().map_err(|_| form())).collect::<Result<_, _>>()?;
    let criterion = CRITERIA.iter().find(|criterion| criterion.name == name).ok_or_else(|| {
        let names: Vec<&str> = CRITERIA.iter().map(|criterion| criterion.name).collect();
        ThresholdError::Name(name.to_owned(), names.join(", "))
    })?;
    of(criterion.name, &numbers).map_err(|right| ThresholdError::Value {
        name: criterion.name,
        value: value.to_owned(),
        right,
    })
}

/// What these numbers require of a criterion; else what would be right.
fn of(criterion: &str, numbers: &[f64]) -> Result<Requirement, &'static str> {
    let one = |fits: fn(f64) -> bool, right| match numbers {
        &[x] if fits(x) => Ok(x),
        _ => Err(right),
    };
    let amount = |right| one(|x| x.is_finite() && x >= 0.0, right);
    let factor = |right| one(|x| x.is_finite() && x >= 1.0, right);
    let probability = |right| one(|p| (0.0..=1.0).contains(&p), right);
    Ok(match criterion {
        "ldp" => Requirement::Ldp(amount("an epsilon is a finite number, 0 or more")?),
        "parity" => {
            Requirement::Parity(factor("a parity is a ratio of a larger likelihood to a smaller one, so 1 or more")?)
        }
        "beta-factor" => {
            Requirement::BetaFactor(factor("a beta is a factor by which probabilities may grow, so 1 or more")?)
        }
        "rho" => match *numbers {
            [rho1, rho2] if 0.0 < rho1 && rho1 < rho2 && rho2 < 1.0 => Requirement::Rho { rho1, rho2 },
            _ => return Err(RHO_FORM),
        },
        "information-bounds" => match *numbers {
            [event, low, high] if 0.0 <= low && low <= event && event <= high && high <= 1.0 => {
                Requirement::InformationBounds { event, low, high }
            }
            _ => return Err(BOUNDS_FORM),
        },
        "average-security" => Requirement::AverageSecurity(one(
            |phi| 1.0 < phi && phi < 2.0,
            "phi is above 1 and below 2: a guess between two cannot get better than twice as often right",
        )?),
        "map-privacy" => Requirement::MapPrivacy(probability("MAP privacy is a probability, from 0 to 1")?),
        "worst-posterior" => Requirement::WorstPosterior(one(
            |p| 0.0 < p && p < 1.0,
            "a bound on posteriors is a probability above 0 and below 1",
        )?),
        "l-diversity" => Requirement::LDiversity(one(
            |l| l >= 2.0 && l.fract() == 0.0 && l <= 65_535.0,
            "l is a whole number of categories, 2 or more",
        )? as usize),
        "guessing" => Requirement::Guessing(probability("a probability of guessing right is from 0 to 1")?),
        _ => Requirement::MutualInformation(amount("information is a number of bits, 0 or more")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_takes_a_threshold_and_shows_it() {
        for text in [
            "ldp=1",
            "parity=14.19",
            "beta-factor=3",
            "rho=0.1:0.5",
            "information-bounds=0.1:0.02:0.4",
            "average-security=1.5",
            "map-privacy=0.3",
            "worst-posterior=0.75",
            "l-diversity=5",
            "guessing=0.2",
            "mutual-information=0.5",
        ] {
            let required = requirement(text).unwrap();
            assert_eq!(format!("{}={required}", required.name()), text);
        }
    }

    #[test]
    fn wrong_thresholds_are_explained() {
        for (text, part) in [
            ("ldp", "no requirement"),
            ("ldp=", "no requirement"),
            ("ldp=x", "no requirement"),
            ("ldp=-1", "0 or more"),
            ("ldp=NaN", "0 or more"),
            ("ldp=1:2", "0 or more"),
            ("secrecy=1", "there is no criterion \"secrecy\"; there are: ldp, parity"),
            ("parity=0.5", "so 1 or more"),
            ("beta-factor=0", "so 1 or more"),
            ("rho=0.5:0.1", "rho1 below rho2"),
            ("rho=0.5:0.5", "rho1 below rho2"),
            ("rho=0.5", "rho1 below rho2"),
            ("rho=0:1", "above 0 and below 1"),
            ("information-bounds=0.1:0.2:0.4", "low <= event"),
            ("average-security=1", "above 1 and below 2"),
            ("average-security=2", "above 1 and below 2"),
            ("map-privacy=1.5", "from 0 to 1"),
            ("worst-posterior=1", "below 1"),
            ("l-diversity=1", "2 or more"),
            ("l-diversity=2.5", "2 or more"),
            ("guessing=-0.1", "from 0 to 1"),
            ("mutual-information=inf", "0 or more"),
        ] {
            let error = requirement(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
