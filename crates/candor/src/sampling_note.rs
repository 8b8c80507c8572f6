//! Of whom counts are, and how those were drawn: what is to be known beside the numbers, in words of any language.

use crate::html_escape::{isolated, unmarked};
use crate::texts::Language;

/// One thing to be known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Circumstance {
    /// Only those for whom a condition holds.
    Where(String),
    /// A column of weights.
    Weighted(String),
    /// Attributes whose known margins the weights agree with.
    Calibrated(Vec<String>),
    /// Errors come from how sampling units differ.
    Units { units: u64, strata: usize },
    /// Errors come from how replicates differ.
    Replicates { replicates: usize, method: &'static str },
}

/// Everything that is to be known; never nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Circumstances {
    all: Vec<Circumstance>,
    english: String,
}

impl Circumstances {
    /// `None` for everybody of a simple random sample.
    pub(crate) fn new(all: Vec<Circumstance>) -> Option<Circumstances> {
        let english = unmarked(&in_words(&all, &Language::default()));
        (!all.is_empty()).then_some(Circumstances { all, english })
    }

    /// In English.
    pub(crate) fn english(&self) -> &str {
        &self.english
    }

    /// In any language, what is not ours isolated.
    pub(crate) fn told(&self, language: &Language) -> String {
        in_words(&self.all, language)
    }
}

fn in_words(all: &[Circumstance], language: &Language) -> String {
    let one = |circumstance: &Circumstance| match circumstance {
        Circumstance::Where(condition) => language.report("where", &[("condition", &isolated(condition))]),
        Circumstance::Weighted(column) => language.report("weighted", &[("column", &isolated(column))]),
        Circumstance::Calibrated(names) => {
            let names: Vec<String> = names.iter().map(|name| isolated(name)).collect();
            language.report("calibrated", &[("names", &names.join(", "))])
        }
        Circumstance::Units { units, strata } => {
            let (units, strata) = (language.whole(*units), language.whole(*strata as u64));
            let text = if strata == "1" { "units" } else { "units_in_strata" };
            language.report(text, &[("units", &units), ("strata", &strata)])
        }
        Circumstance::Replicates { replicates, method } => {
            let replicates = language.whole(*replicates as u64);
            language.report("replicates", &[("n", &replicates), ("method", method)])
        }
    };
    all.iter().map(one).collect::<Vec<String>>().join(", ")
}
