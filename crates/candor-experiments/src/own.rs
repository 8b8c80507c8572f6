//! The papers' experiments on the user's own data, with the papers' parameters and symbols.

use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings};
use crate::multidimensional::own as multidimensional_own;
use crate::optimized_rr::ratios;
use crate::unfit::check;
use crate::{l_diversity, optrr};

pub use crate::multidimensional::own::Multidimensional;
pub use crate::unfit::Unfit;

/// Domingo-Ferrer and Soria-Comas 2020, sections 6.5 and 6.6: errors of count queries under RR-Independent,
/// RR-Clusters, and both with adjustment.
///
/// # Errors
/// Returns an error if a parameter is out of range, or the data have fewer than two randomized attributes.
pub fn multidimensional(data: Dataset, asked: &Multidimensional, settings: &Settings) -> Result<Outcome, Unfit> {
    multidimensional_own::experiment(data, asked, settings)
}

/// Yamamoto and Shibuya 2024, section V-A: the record-level epsilon for attributes of these data, with `epsilon_i`
/// drawn from a range.
///
/// # Errors
/// Returns an error if the range is invalid, or the data have fewer than two randomized attributes.
pub fn optimized_rr(data: &Dataset, epsilon_i: (f64, f64), settings: &Settings) -> Result<Outcome, Unfit> {
    let (low, high) = epsilon_i;
    check("epsilon_i", &[low, high], 1e-3..=20.0)?;
    if low > high {
        return Err(Unfit::new(format!("`epsilon_i` is {low},{high}; the smaller number comes first")));
    }
    let sizes: Vec<usize> = data.schema.randomized().into_iter().map(|place| data.schema.size(place)).collect();
    match sizes.len() {
        0 | 1 => Err(Unfit::new("the data have fewer than two randomized attributes")),
        2..=100 => Ok(ratios::of_sizes(&sizes, epsilon_i, settings)),
        more => Err(Unfit::new(format!("the data have {more} attributes; expected 100 at most"))),
    }
}

/// Huang and Du 2008, section VI: the fronts of Warner's scheme, of the search and of all channels, attribute by
/// attribute.
///
/// # Errors
/// Returns an error if `delta` is out of range.
pub fn optrr(data: &Dataset, attributes: &[usize], delta: f64, settings: &Settings) -> Result<Outcome, Unfit> {
    check("delta", &[delta], 0.01..=1.0)?;
    let mut all = Outcome::default();
    for &place in attributes {
        let name = data.schema.name(place);
        let mut outcome = optrr::of_attribute(data, place, delta, settings);
        outcome.tables.iter_mut().for_each(|table| table.name = format!("{name} {}", table.name));
        outcome.plots.iter_mut().for_each(|plot| plot.name = format!("{name} {}", plot.name));
        all.tables.append(&mut outcome.tables);
        all.plots.append(&mut outcome.plots);
        let between = if all.verdict.is_empty() { "" } else { "\n" };
        all.verdict += &format!("{between}{name}: {}", outcome.verdict);
    }
    Ok(all)
}

/// Nayak and Zhai 2019, sections 3.2 and 4: the variance that the minimax method at each `gamma` and the l-diversity
/// mechanism at each `l` add to the sampling variance, attribute by attribute.
///
/// # Errors
/// Returns an error if a parameter is out of range.
pub fn l_diversity(data: &Dataset, attributes: &[usize], gamma: &[f64], l: &[usize]) -> Result<Outcome, Unfit> {
    check("gamma", gamma, 1.001..=1e6)?;
    check("l", &l.iter().map(|&l| l as f64).collect::<Vec<_>>(), 2.0..=1e6)?;
    Ok(l_diversity::of_attributes(data, attributes, gamma, l))
}
