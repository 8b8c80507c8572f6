//! Known shares of the population (benchmarks): one distribution for each of their attributes.

use candor_analysis::adjust::{KnownMargin, KnownShare};
use candor_base::schema::{Attribute, Schema};

use crate::error::StudyError;

/// Returns an error about the benchmarks.
pub(crate) fn refused(problem: String) -> StudyError {
    StudyError::Refused(format!("`benchmarks`: {problem}"))
}

/// Returns the distribution of each attribute in the order of the rows; `missing` gives the share of a category
/// without a row.
pub(crate) fn distributions(
    schema: &Schema,
    rows: &[KnownShare],
    missing: impl Fn(&Attribute, &str) -> Result<f64, StudyError>,
) -> Result<Vec<KnownMargin>, StudyError> {
    let mut found: Vec<(usize, Vec<Option<f64>>)> = Vec::new();
    for KnownShare { attribute: name, category, share } in rows {
        let position = schema.position(name).map_err(|error| refused(error.to_string()))?;
        let attribute = &schema.attributes()[position];
        let code = attribute.code_of_label(category);
        let code = code.ok_or_else(|| refused(format!("\"{name}\" has no category \"{category}\"")))?;
        if !(0.0..=1e15).contains(share) {
            return Err(refused(format!("{name} = {category} has the share {share}; expected 0 or more")));
        }
        let at = found.iter().position(|(known, _)| *known == position).unwrap_or_else(|| {
            found.push((position, vec![None; attribute.categories().len()]));
            found.len() - 1
        });
        if found[at].1[usize::from(code)].replace(*share).is_some() {
            return Err(refused(format!("the category \"{category}\" of \"{name}\" has two rows")));
        }
    }
    let whole = |(position, shares): (usize, Vec<Option<f64>>)| {
        let attribute = &schema.attributes()[position];
        let own = shares.iter().zip(attribute.categories());
        let own = own.map(|(share, label)| share.map_or_else(|| missing(attribute, label), Ok));
        let shares: Vec<f64> = own.collect::<Result<_, _>>()?;
        let sum: f64 = shares.iter().sum();
        match sum > 0.0 {
            true => Ok(KnownMargin { attribute: position, shares: shares.iter().map(|share| share / sum).collect() }),
            false => Err(refused(format!("all shares of \"{}\" are 0", attribute.name()))),
        }
    };
    found.into_iter().map(whole).collect()
}
