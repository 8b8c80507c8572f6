//! Describes the subpopulation and the sampling design behind results, in any language.

use crate::html_escape::{isolated, unmarked};
use crate::locale::Language;

/// One fact about the sampling design.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Circumstance {
    /// Restricted to people who satisfy a condition.
    Where(String),
    /// Weighted by this column.
    Weighted(String),
    /// Weights raked to benchmarks of these attributes.
    Calibrated(Vec<String>),
    /// Standard errors from primary sampling units.
    Units { units: u64, strata: usize },
    /// Standard errors from replicate weights.
    Replicates { replicates: usize, method: &'static str },
}

/// All facts about the subpopulation and the sampling design; never empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Circumstances {
    all: Vec<Circumstance>,
    english: String,
}

impl Circumstances {
    /// Creates the description; `None` for a simple random sample of everybody.
    pub(crate) fn new(all: Vec<Circumstance>) -> Option<Circumstances> {
        let english = unmarked(&in_words(&all, &Language::default()));
        (!all.is_empty()).then_some(Circumstances { all, english })
    }

    /// Returns the English text.
    pub(crate) fn english(&self) -> &str {
        &self.english
    }

    /// Returns the text in any language, with foreign text isolated.
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
