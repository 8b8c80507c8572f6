//! Further attempts to explain Tables 1 and 2: other matrices, other query sets, other clusters.

use super::matrix::{Block, Reading, blocks};
use super::survey::{Draw, Survey, Way, median, without_noise};
use super::tables::{TABLE_1, TABLE_2, factor, printed_mean};
use super::{FEWER_RUNS, KEPT, MAX_CELLS, clusters_for};
use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings, Table};

/// Number of queries for errors without noise.
const QUESTIONS: usize = 10_000;

/// Combinations compared with Table 1: the matrix, how query sets are drawn, and the share of the sum of epsilons that
/// a cluster spends.
const TRIED: [(Reading, Draw, f64); 13] = [
    (Reading::Diagonal, Draw::Rounded, 1.0),
    (Reading::DiagonalAbsolute, Draw::Rounded, 1.0),
    (Reading::Keep, Draw::Rounded, 1.0),
    (Reading::Rescaled, Draw::Rounded, 1.0),
    (Reading::RescaledAbsolute, Draw::Rounded, 1.0),
    (Reading::Diagonal, Draw::RoundedUp, 1.0),
    (Reading::Diagonal, Draw::EachByChance, 1.0),
    (Reading::Diagonal, Draw::Rectangle, 1.0),
    (Reading::Diagonal, Draw::WithReplacement, 1.0),
    (Reading::Rescaled, Draw::WithReplacement, 1.0),
    (Reading::Diagonal, Draw::Rounded, 0.8),
    (Reading::Diagonal, Draw::WithReplacement, 0.9),
    (Reading::Diagonal, Draw::WithReplacement, 0.8),
];

fn drawn(draw: Draw) -> &'static str {
    match draw {
        Draw::Rounded => "two attributes, |S| rounded",
        Draw::RoundedUp => "two attributes, |S| rounded up",
        Draw::EachByChance => "two attributes, each combination with probability sigma",
        Draw::Rectangle => "two attributes, a product of sets of categories",
        Draw::WithReplacement => "two draws that may be the same attribute",
    }
}

/// Returns the exhibit.
pub fn readings(settings: &Settings) -> Outcome {
    let adult = Dataset::adult();
    let runs = settings.repeats.unwrap_or(FEWER_RUNS);
    let (tried, mut verdict) = tried(&adult, runs, settings.seed);
    let (limits, said) = limits(&adult, QUESTIONS, settings.seed);
    verdict += &said;
    Outcome { tables: vec![tried, limits], plots: Vec::new(), verdict }
}

/// Compares every combination with Table 1.
fn tried(adult: &Dataset, runs: usize, seed: u64) -> (Table, String) {
    let mut rows = Vec::new();
    let mut factors = Vec::new();
    for (reading, draw, spent) in TRIED {
        let found: Vec<Vec<f64>> = KEPT.iter().map(|&p| errors(adult, p, (reading, draw, spent), runs, seed)).collect();
        let of = |p: usize| factor((0..3).map(|j| (found[p][j], printed_mean(&TABLE_1, p, j))));
        let pairs = (0..4).flat_map(|p| (0..3).map(move |j| (p, j)));
        let all = factor(pairs.map(|(p, j)| (found[p][j], printed_mean(&TABLE_1, p, j))));
        let mut row = vec![reading.name().to_owned(), drawn(draw).to_owned(), format!("{spent}")];
        row.extend(found.iter().map(|errors| errors.iter().map(|e| format!("{e:.3}")).collect::<Vec<_>>().join(" ")));
        row.extend((0..4).map(|p| format!("{:.2}", of(p))));
        row.push(format!("{all:.2}"));
        rows.push(row);
        factors.push([of(0), of(1), of(2), of(3), all]);
    }
    let mut columns: Vec<String> = ["matrix", "sets S", "share of the sum"].map(str::to_owned).to_vec();
    columns.extend(KEPT.map(|p| format!("p = {p}: T_v = 50, 100, 300")));
    columns.extend(KEPT.map(|p| format!("factor, p = {p}")));
    columns.push("factor, all".to_owned());
    let named = |at: usize| {
        let (reading, draw, spent) = TRIED[at];
        let spent = if spent < 1.0 { format!(", clusters spend {spent} of the sum") } else { String::new() };
        format!("\"{}\" with {}{spent}", reading.name(), drawn(draw))
    };
    let best = |which: usize| {
        let at = (0..TRIED.len()).min_by(|&a, &b| factors[a][which].total_cmp(&factors[b][which])).expect("several");
        (at, factors[at][which])
    };
    let ((half, half_off), (most, most_off), (all, all_off)) = (best(2), best(3), best(4));
    let text = format!(
        "Medians over {runs} runs against the means of Table 1 over T_d; factors are root mean squares of logarithms.\n\
         Closest at p = 0.5: {} ({half_off:.2}); at p = 0.7: {} ({most_off:.2}); over all cells: {} ({all_off:.2}).\n\
         A share below 1 has no ground in the paper: it was fitted, to see whether clusters with less epsilon would \
         explain the growth with T_v at p = 0.5.\n",
        named(half),
        named(most),
        named(all)
    );
    (Table { name: "tried".to_owned(), columns, rows }, text)
}

/// Returns the median relative errors for the three `T_v`.
fn errors(adult: &Dataset, p: f64, (reading, draw, spent): (Reading, Draw, f64), runs: usize, seed: u64) -> Vec<f64> {
    let sizes = adult.schema.sizes();
    let made: Vec<Vec<Block>> = MAX_CELLS
        .iter()
        .map(|&cells| {
            let mut made = blocks(&sizes, &clusters_for(adult, cells), p, reading);
            made.iter_mut().filter(|block| block.attributes.len() > 1).for_each(|block| block.spend(spent));
            made
        })
        .collect();
    let ways: Vec<Way> = made.iter().map(|blocks| Way::Product(blocks)).collect();
    let survey = Survey { adult, coverages: &[0.1], draw, runs, seed };
    survey.medians(&ways).iter().map(|errors| errors[0].relative).collect()
}

/// Returns the errors that would remain without noise, for the clusters of Algorithm 1 and for the best of all
/// clusterings.
fn limits(adult: &Dataset, number: usize, seed: u64) -> (Table, String) {
    let sizes = adult.schema.sizes();
    let all = partitions(sizes.len());
    let mut rows = Vec::new();
    let mut below = [true; 3];
    for draw in [Draw::Rounded, Draw::RoundedUp, Draw::EachByChance, Draw::WithReplacement] {
        let questions = without_noise(adult, draw, number, seed);
        let left = |clusters: &[Vec<usize>]| {
            let together = |asked: &Vec<usize>| clusters.iter().any(|c| asked.iter().all(|a| c.contains(a)));
            median(questions.iter().map(|(asked, error)| if together(asked) { 0.0 } else { *error }).collect())
        };
        for (j, &cells) in MAX_CELLS.iter().enumerate() {
            let fits = |clusters: &&Vec<Vec<usize>>| {
                clusters.iter().all(|c| c.iter().map(|&a| sizes[a] as u64).product::<u64>() <= cells)
            };
            let least = all.iter().filter(fits).map(|clusters| left(clusters)).fold(f64::INFINITY, f64::min);
            let printed = printed_mean(&TABLE_2, 3, j);
            below[j] &= printed < least || draw == Draw::WithReplacement;
            rows.push(vec![
                drawn(draw).to_owned(),
                cells.to_string(),
                format!("{:.3}", left(&clusters_for(adult, cells))),
                format!("{least:.3}"),
                format!("{printed:.3}"),
            ]);
        }
    }
    let columns =
        ["sets S", "T_v", "clusters of Algorithm 1", "best of all clusterings", "Table 2 at p = 0.7, mean over T_d"];
    let beyond: Vec<String> =
        MAX_CELLS.iter().zip(below).filter(|(_, b)| *b).map(|(cells, _)| cells.to_string()).collect();
    let text = match beyond.is_empty() {
        true => "Without noise, some clusters would reach the printed errors of Table 2 at p = 0.7.".to_owned(),
        false => format!(
            "Without noise, what is left is the error of assuming independence between clusters ({number} sets).\n\
             Table 2 at p = 0.7 is below the least that any clustering of the eight attributes leaves for T_v = {}, \
             however sets of two different attributes were drawn.\n\
             So neither other clusters nor less noise explain it, and p = 0.7 remains unexplained there: the sets S \
             or the medians must have been made otherwise than described.",
            beyond.join(" and ")
        ),
    };
    (Table { name: "without-noise".to_owned(), columns: columns.map(str::to_owned).to_vec(), rows }, text)
}

/// Returns all partitions of this many attributes.
fn partitions(attributes: usize) -> Vec<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
    for attribute in 0..attributes {
        let extended = |partition: Vec<Vec<usize>>| {
            let mut more: Vec<Vec<Vec<usize>>> = (0..partition.len())
                .map(|at| {
                    let mut next = partition.clone();
                    next[at].push(attribute);
                    next
                })
                .collect();
            more.push(partition.into_iter().chain([vec![attribute]]).collect());
            more
        };
        all = all.into_iter().flat_map(extended).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_counted_by_bell_numbers() {
        assert_eq!([1, 3, 5, 8].map(|n| partitions(n).len()), [1, 5, 52, 4140]);
    }

    /// No clustering within 50 combinations has an error as small as the one printed in Table 2 at p = 0.7.
    #[test]
    fn printed_errors_are_below_every_clustering() {
        let (table, text) = limits(&Dataset::adult(), 2_000, 7);
        assert_eq!(table.rows.len(), 12);
        let number = |column: usize| table.rows[0][column].parse::<f64>().unwrap();
        assert!(number(4) < 0.9 * number(3) && number(3) <= number(2), "{:?}", table.rows[0]);
        assert!(text.contains("T_v = 50"), "{text}");
    }
}
