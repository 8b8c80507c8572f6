//! Domingo-Ferrer and Soria-Comas 2020, "Multi-Dimensional Randomized Response", on the Adult data.
//!
//! A cluster spends the sum of the epsilons of its attributes. Estimates are clipped and rescaled as in section 6.4.
//! The matrix printed in section 6.3.1 is not a transition matrix, so several readings are compared
//! (`matrix::Reading`).

mod matrix;
mod survey;
mod tables;
mod figures;
mod readings;
pub(crate) mod own;

use candor::plot::{Plot, Scale, Series};
use candor_analysis::association::{Association, Limits, Measure, cluster, counted, pairs};
use candor_analysis::estimate::Interval;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::count_categories;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::lottery;

use crate::adult::Dataset;
use crate::exhibit::{Exhibit, Outcome, Pace, Paper, Settings, Table};
use matrix::Reading;

/// Domingo-Ferrer and Soria-Comas 2020.
pub const PAPER: Paper = Paper {
    name: "multidimensional",
    title: "Multi-Dimensional Randomized Response (Domingo-Ferrer and Soria-Comas, 2020)",
    exhibits: &[
        Exhibit {
            name: "figure-1",
            caption: "The factor sqrt(B) of the error of the answers' shares",
            setup: "B is the (alpha/r)-upper percentile of the chi-squared distribution with 1 degree of freedom, \
            where r is the number of categories; the figure shows sqrt(B) for alpha = 0.05.",
            pace: Pace::Quick,
            make: figure_1,
        },
        Exhibit {
            name: "dependences",
            caption: "Cramér's V on Adult and the clusters of Algorithm 1",
            setup: "Adult, over 32,500 records, categorical attributes only: Work-class (9 categories), Education \
            (16), Marital-status (7), Occupation (15), Relationship (6), Race (5), Sex (2), Income (2).\n\
                    Algorithm 1 merges the pair of clusters with the largest dependence if the product of |A| is at \
                    most T_v, while the dependence is at least T_d; the dependence is Cramér's V (Expression \
                    (9)).\n\
                    The paper prints neither the dependences nor the clusters.",
            pace: Pace::Quick,
            make: dependences,
        },
        Exhibit {
            name: "figure-2",
            caption: "Count queries from the answers themselves and from RR-Independent, p = 0.7",
            setup: "Absolute error (left) and relative error (right) of Randomized and RR-Independent when p = 0.7; \
            the x-axis represents the domain coverage sigma.\n\
                    Randomized is the empirical distribution of the raw randomized data Y.\n\
                    The subsets S have a sigma proportion of the combinations of two random attributes; medians over \
                    1000 runs.",
            pace: Pace::Slow,
            make: figures::figure_2,
        },
        Exhibit {
            name: "table-1",
            caption: "Relative error of RR-Clusters on Adult, sigma = 0.1",
            setup: tables::SETUP,
            pace: Pace::Slow,
            make: tables::table_1,
        },
        Exhibit {
            name: "table-2",
            caption: "Relative error of RR-Clusters on Adult6",
            setup: tables::SETUP_6,
            pace: Pace::Slow,
            make: tables::table_2,
        },
        Exhibit {
            name: "readings",
            caption: "What else was tried to explain Tables 1 and 2",
            setup: "Section 6.3.1 prints p in the main diagonal and (1 - p)/|A| outside it, which sums to 1 - (1 - \
            p)/|A| in each row, and epsilon_A = |ln(p/((1 - p)/|A|))|.\n\
                    Section 6.5 does not say whether the two random attributes may coincide, nor how a sigma \
                    proportion of few combinations is rounded.",
            pace: Pace::Slow,
            make: readings::readings,
        },
        Exhibit {
            name: "figure-3",
            caption: "Relative error of all methods, by coverage, for four p",
            setup: figures::SETUP_3,
            pace: Pace::Slow,
            make: figures::figure_3,
        },
    ],
};

/// Number of the authors' runs.
const RUNS: usize = 1000;
/// Number of runs where each one takes long.
const FEWER_RUNS: usize = 300;
const KEPT: [f64; 4] = [0.1, 0.3, 0.5, 0.7];
const MAX_CELLS: [u64; 3] = [50, 100, 300];
const MIN_DEPENDENCE: [f64; 3] = [0.1, 0.2, 0.3];
const COVERAGES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Returns Cramér's V of all pairs of the true records.
fn true_dependences(adult: &Dataset) -> Vec<Association> {
    let sizes = adult.schema.sizes();
    let columns: Vec<&[u16]> = adult.columns.iter().map(Vec::as_slice).collect();
    let pairs = pairs(&adult.schema);
    let tables: Vec<Vec<usize>> = pairs.iter().map(|pair| pair.to_vec()).collect();
    let counts = count_categories(&sizes, &columns, &tables);
    counted(&adult.schema, pairs.into_iter().zip(counts.iter().map(Vec::as_slice)), |_| Measure::CramersV)
}

/// Returns the clusters of Algorithm 1 on the true records.
fn clusters_of(adult: &Dataset, limits: Limits) -> Vec<Vec<usize>> {
    let attributes = adult.schema.attributes().iter().map(|a| a.categories().len()).enumerate();
    cluster(&attributes.collect::<Vec<_>>(), &true_dependences(adult), limits).clusters
}

/// Returns one cluster per attribute.
fn alone(schema: &Schema) -> Vec<Vec<usize>> {
    (0..schema.sizes().len()).map(|attribute| vec![attribute]).collect()
}

/// Returns the clusters of Algorithm 1 for a `T_v`; they are the same for all three `T_d`.
fn clusters_for(adult: &Dataset, cells: u64) -> Vec<Vec<usize>> {
    clusters_of(adult, Limits::default().cells(cells).dependence(MIN_DEPENDENCE[1]))
}

/// Returns the plan with the least error of all pairs at the total epsilon of RR-Independent, read as "keep with p,
/// else uniform".
fn workload_plan(schema: &Schema, p: f64) -> Plan {
    let tables = TableList::parse("pairs", schema).expect("several attributes");
    let total = schema.sizes().iter().map(|&size| Reading::Keep.epsilon(size, p)).sum();
    let effort = SearchLimits::to(1e-9);
    lottery(schema, total, &tables, &vec![1.0; tables.lists().len()], effort).expect("a plan").plan
}

fn figure_1(_: &Settings) -> Outcome {
    let categories: Vec<usize> =
        (0..=40).map(|step| 2.0 * 5000f64.powf(f64::from(step) / 40.0)).map(|r| r.round() as usize).collect();
    let factor = |r: usize| Interval::Simultaneous.reach(0.95, r);
    let shown = [2, 10, 100, 1000, 10_000].map(|r| vec![r.to_string(), format!("{:.6}", factor(r))]);
    let points = categories.iter().map(|&r| (r as f64, factor(r))).collect();
    Outcome {
        tables: vec![Table {
            name: "factor".to_owned(),
            columns: vec!["categories".to_owned(), "sqrt(B)".to_owned()],
            rows: shown.to_vec(),
        }],
        plots: vec![Plot {
            name: "factor".to_owned(),
            title: "sqrt(B) by the number of categories, alpha = 0.05".to_owned(),
            x: Scale::logarithmic("categories"),
            y: Scale::linear("sqrt(B)"),
            series: vec![Series { name: "sqrt(B)".to_owned(), joined: true, points }],
        }],
        verdict: "An exact formula; the paper prints its curve and no numbers.\n\
                  Definitions 1 and 2 say confidence alpha where 1 - alpha is meant (docs/project/errata.md)."
            .to_owned(),
    }
}

fn dependences(_: &Settings) -> Outcome {
    let adult = Dataset::adult();
    let name = |attribute: usize| adult.schema.name(attribute).to_owned();
    let mut found = true_dependences(&adult);
    found.sort_by(|x, y| y.value.total_cmp(&x.value));
    let rows = found.iter().map(|d| vec![name(d.attributes[0]), name(d.attributes[1]), format!("{:.6}", d.value)]);
    let (mut clustered, mut same) = (Vec::new(), true);
    for cells in MAX_CELLS {
        let found =
            MIN_DEPENDENCE.map(|dependence| clusters_of(&adult, Limits::default().cells(cells).dependence(dependence)));
        let several = found[0].iter().filter(|cluster| cluster.len() > 1);
        let listed: Vec<String> = several
            .map(|cluster| format!("{{{}}}", cluster.iter().map(|&a| name(a)).collect::<Vec<_>>().join(", ")))
            .collect();
        let alike = found.iter().all(|other| *other == found[0]);
        same &= alike;
        clustered.push(vec![cells.to_string(), listed.join(" "), if alike { "yes" } else { "no" }.to_owned()]);
    }
    Outcome {
        tables: vec![
            Table {
                name: "cramers-v".to_owned(),
                columns: ["attribute", "attribute", "Cramér's V"].map(str::to_owned).to_vec(),
                rows: rows.collect(),
            },
            Table {
                name: "clusters".to_owned(),
                columns: ["T_v", "clusters of several attributes", "the same for T_d = 0.1, 0.2, 0.3"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: clustered,
            },
        ],
        plots: Vec::new(),
        verdict: match same {
            true => {
                "The clusters are the same for the three T_d, so rows of Tables 1 and 2 that differ in T_d only \
            should differ by chance only."
            }
            false => "The clusters depend on T_d.",
        }
        .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(adult: &Dataset, cluster: &[usize]) -> Vec<String> {
        cluster.iter().map(|&a| adult.schema.name(a)[..3].to_owned()).collect()
    }

    /// All 28 golden values.
    #[test]
    fn cramers_v_on_adult() {
        let golden = "Rel-Sex .649000, Mar-Rel .487963, Mar-Sex .461827, Rel-Inc .453585, Mar-Inc .447404, Occ-Sex \
        .424364, Wor-Occ .399993, Edu-Inc .368838, Occ-Inc .351892, Sex-Inc .215980, Edu-Occ .187334, Wor-Inc \
        .179208, Occ-Rel .178626, Wor-Sex .153670, Mar-Occ .133213, Edu-Rel .122654, Rac-Sex .118115, Rac-Inc \
        .100812, Wor-Edu .099369, Wor-Rel .098712, Rel-Rac .098099, Edu-Sex .095621, Edu-Mar .091569, Wor-Mar \
        .085061, Mar-Rac .084219, Occ-Rac .080826, Edu-Rac .074900, Wor-Rac .056280";
        let adult = Dataset::adult();
        let found = true_dependences(&adult);
        assert_eq!(found.len(), 28);
        for entry in golden.split(", ") {
            let (pair, value) = entry.trim().split_once(' ').unwrap();
            let value: f64 = format!("0{value}").parse().unwrap();
            let of_pair = |d: &&Association| names(&adult, &d.attributes).join("-") == pair;
            let d = found.iter().find(of_pair).unwrap_or_else(|| panic!("{pair}"));
            assert!((d.value - value).abs() < 6e-7, "{pair}: {} against {value}", d.value);
        }
    }

    #[test]
    fn clusters_on_adult() {
        let adult = Dataset::adult();
        let golden: [(u64, &[&str]); 3] =
            [(50, &["Rel-Sex-Inc"]), (100, &["Edu-Inc", "Mar-Rel-Sex"]), (300, &["Wor-Occ", "Mar-Rel-Sex-Inc"])];
        for (cells, expected) in golden {
            for dependence in MIN_DEPENDENCE {
                let found = clusters_of(&adult, Limits::default().cells(cells).dependence(dependence));
                let several: Vec<String> =
                    found.iter().filter(|c| c.len() > 1).map(|c| names(&adult, c).join("-")).collect();
                assert_eq!(several, expected, "{cells} {dependence}");
            }
        }
    }

    #[test]
    fn sqrt_b() {
        let golden = [2.241403, 2.807034, 3.480756, 4.055627, 4.564788];
        for (row, golden) in figure_1(&Settings { seed: 1, repeats: None }).tables[0].rows.iter().zip(golden) {
            assert!((row[1].parse::<f64>().unwrap() - golden).abs() < 1e-6);
        }
    }
}
