//! The papers' experiments on the user's own data, with the papers' parameters and symbols.

use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings};
use crate::multidimensional::own as multidimensional_own;
use crate::optimized_rr::genome::Own;
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

/// The parameters of Yamamoto and Shibuya 2024.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimizedRr {
    /// The range from which each attribute's level is drawn: two numbers.
    pub epsilon_i: Vec<f64>,
    /// The outcome of section V-B, such as a disease: each other attribute is crossed with it, and chi-square
    /// statistics are compared instead of privacy levels.
    pub outcome: Option<String>,
    /// Numbers of attributes `k` that are crossed with the outcome; empty for all.
    pub snps: Vec<usize>,
}

impl Default for OptimizedRr {
    fn default() -> OptimizedRr {
        OptimizedRr { epsilon_i: vec![1.0, 8.0], outcome: None, snps: Vec::new() }
    }
}

/// Yamamoto and Shibuya 2024, section V-A: the record-level epsilon for attributes of these data, with `epsilon_i`
/// drawn from a range. With an outcome, section V-B: differences of chi-square statistics.
///
/// # Errors
/// Returns an error if the range is invalid, the outcome is unknown, or the data have too few or too many randomized
/// attributes.
pub fn optimized_rr(data: &Dataset, asked: &OptimizedRr, settings: &Settings) -> Result<Outcome, Unfit> {
    let &[low, high] = &asked.epsilon_i[..] else {
        return Err(Unfit::new("`epsilon_i` takes two numbers, such as 1,8"));
    };
    let epsilon_i = (low, high);
    check("epsilon_i", &[low, high], 1e-3..=20.0)?;
    if low > high {
        return Err(Unfit::new(format!("`epsilon_i` is {low},{high}; the smaller number comes first")));
    }
    if let Some(outcome) = &asked.outcome {
        return genome(data, outcome, &asked.snps, epsilon_i, settings);
    }
    if !asked.snps.is_empty() {
        return Err(Unfit::new("`snps` requires `with`, the outcome"));
    }
    let sizes: Vec<usize> = data.schema.randomized().into_iter().map(|place| data.schema.size(place)).collect();
    match sizes.len() {
        0 | 1 => Err(Unfit::new("the data have fewer than two randomized attributes")),
        2..=100 => Ok(ratios::of_sizes(&sizes, epsilon_i, settings)),
        more => Err(Unfit::new(format!("the data have {more} attributes; expected 100 at most"))),
    }
}

/// The most SNPs of one experiment, and the most answers of one.
const MAX_SNPS: usize = 10_000;
const MAX_ANSWERS: u64 = 500_000_000;

fn genome(
    data: &Dataset,
    outcome: &str,
    snps: &[usize],
    epsilon_i: (f64, f64),
    settings: &Settings,
) -> Result<Outcome, Unfit> {
    let place = attributes(data, "with", &[outcome.to_owned()])?[0];
    let all = Own { data, outcome: place, snps, epsilon_i }.others().len();
    let whole = [all];
    let snps = if snps.is_empty() { &whole[..] } else { snps };
    if all == 0 {
        return Err(Unfit::new(format!("the data have no randomized attribute besides \"{outcome}\"")));
    }
    if let Some(k) = snps.iter().find(|k| !(1..=all.min(MAX_SNPS)).contains(*k)) {
        return Err(Unfit::new(format!("`snps` is {k}; expected a number from 1 to {}", all.min(MAX_SNPS))));
    }
    let answers = data.columns[place].len() as u64 * snps.iter().sum::<usize>() as u64;
    if answers.saturating_mul(2 * settings.repeats.unwrap_or(10) as u64) > MAX_ANSWERS {
        return Err(Unfit::new(
            "the experiment would randomize more than 500,000,000 answers; use fewer `repeats`, \
                               `snps` or records",
        ));
    }
    Ok(Own { data, outcome: place, snps, epsilon_i }.experiment(settings))
}

/// The positions of attributes by name.
fn attributes(data: &Dataset, parameter: &str, names: &[String]) -> Result<Vec<usize>, Unfit> {
    let place = |name: &String| {
        data.schema.position(name).map_err(|_| {
            let known: Vec<&str> = data.schema.attributes().iter().map(|attribute| attribute.name()).collect();
            Unfit::new(format!("`{parameter}`: no attribute \"{name}\"; expected some of {}", known.join(", ")))
        })
    };
    names.iter().map(place).collect()
}

/// The positions of the named attributes; of all that are randomized if none is named.
fn named_or_all(data: &Dataset, names: &[String]) -> Result<Vec<usize>, Unfit> {
    if names.is_empty() { Ok(data.schema.randomized()) } else { attributes(data, "attributes", names) }
}

/// The parameters of Huang and Du 2008.
#[derive(Clone, Debug, PartialEq)]
pub struct Optrr {
    /// The attributes; empty for all.
    pub attributes: Vec<String>,
    /// `delta`: the bound on the posterior of any category.
    pub delta: f64,
}

impl Default for Optrr {
    fn default() -> Optrr {
        Optrr { attributes: Vec::new(), delta: 0.75 }
    }
}

/// Huang and Du 2008, section VI: the fronts of Warner's scheme, of the search and of all channels, attribute by
/// attribute.
///
/// # Errors
/// Returns an error if an attribute is unknown, or `delta` is out of range.
pub fn optrr(data: &Dataset, asked: &Optrr, settings: &Settings) -> Result<Outcome, Unfit> {
    let delta = asked.delta;
    check("delta", &[delta], 0.01..=1.0)?;
    let mut all = Outcome::default();
    for place in named_or_all(data, &asked.attributes)? {
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

/// The parameters of Nayak and Zhai 2019.
#[derive(Clone, Debug, PartialEq)]
pub struct LDiversity {
    /// The attributes; empty for all.
    pub attributes: Vec<String>,
    /// `gamma`: bounds on the parity, for the minimax method.
    pub gamma: Vec<f64>,
    /// `l`: numbers of categories in an answer.
    pub l: Vec<usize>,
}

impl Default for LDiversity {
    fn default() -> LDiversity {
        LDiversity { attributes: Vec::new(), gamma: vec![1.5, 3.0, 5.0, 10.0, 20.0, 50.0], l: vec![2, 3, 5, 10] }
    }
}

/// Nayak and Zhai 2019, sections 3.2 and 4: the variance that the minimax method at each `gamma` and the l-diversity
/// mechanism at each `l` add to the sampling variance, attribute by attribute.
///
/// # Errors
/// Returns an error if an attribute is unknown, or a parameter is out of range.
pub fn l_diversity(data: &Dataset, asked: &LDiversity) -> Result<Outcome, Unfit> {
    let LDiversity { attributes: names, gamma, l } = asked;
    check("gamma", gamma, 1.001..=1e6)?;
    check("l", &l.iter().map(|&l| l as f64).collect::<Vec<_>>(), 2.0..=1e6)?;
    Ok(l_diversity::of_attributes(data, &named_or_all(data, names)?, gamma, l))
}
