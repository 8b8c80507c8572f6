//! Tables 1 and 2: relative errors of RR-Clusters, printed values next to ours under each reading of the matrix.

use std::fmt::Write;

use super::matrix::{Block, Reading, blocks};
use super::survey::{Draw, Survey, Way};
use super::{FEWER_RUNS, KEPT, MAX_CELLS, MIN_DEPENDENCE, RUNS, alone, clusters_for, workload_plan};
use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings, Table};

/// Setup of Table 1.
pub const SETUP: &str = "\
    Relative error of RR-Clusters in the Adult data set for T_v in {50, 100, 300}, T_d in {0.1, 0.2, 0.3} and a \
    randomization matrix with p in {0.1, 0.3, 0.5, 0.7}; S was generated with sigma = 0.1.\n\
    RR-Independent: p in the main diagonal, (1 - p)/|A| outside the main diagonal, epsilon_A = |ln(p/((1 - p)/|A|))|.\n\
    RR-Clusters: p_C in the main diagonal, p_C exp(-sum of epsilon_A) outside it.\n\
    Replace any negative values by 0; rescale the rest of values so that their sum is 1.\n\
    r_S = |(Y_S - X_S)/X_S|; the values reported are median values over 1000 runs, S being a random sigma proportion \
    of the combinations of two random attributes.";

/// Setup of Table 2.
pub const SETUP_6: &str = "\
    As Table 1, with the expanded data set Adult6, obtained by concatenating the original Adult data set 6 times.";

/// Table 1 as printed: for each p and T_d, in order, the relative errors for the three T_v.
pub const TABLE_1: [[&str; 3]; 12] = [
    ["0.335", "0.404", "0.495"],
    ["0.357", "0.351", "0.501"],
    ["0.285", "0.426", "0.505"],
    ["0.335", "0.334", "0.426"],
    ["0.262", "0.310", "0.435"],
    ["0.199", "0.306", "0.445"],
    ["0.094", "0.148", "0.214"],
    ["0.107", "0.127", "0.236"],
    ["0.116", "0.119", "0.212"],
    ["0.069", "0.069", "0.074"],
    ["0.070", "0.075", "0.071"],
    ["0.070", "0.068", "0.079"],
];

/// Table 2 as printed, in the same form.
pub const TABLE_2: [[&str; 3]; 12] = [
    ["0.189", "0.312", "0.459"],
    ["0.173", "0.310", "0.449"],
    ["0.183", "0.339", "0.462"],
    ["0.149", "0.202", "0.369"],
    ["0.171", "0.225", "0.376"],
    ["0.178", "0.217", "0.369"],
    ["0.080", "0.084", "0.123"],
    ["0.082", "0.075", "0.126"],
    ["0.083", "0.079", "0.127"],
    ["0.064", "0.066", "0.056"],
    ["0.064", "0.066", "0.057"],
    ["0.065", "0.065", "0.060"],
];

/// The readings shown in the tables.
const READINGS: [Reading; 3] = [Reading::Diagonal, Reading::Keep, Reading::Rescaled];

/// Returns the mean over `T_d` of the printed values for a `p` and a `T_v`.
pub fn printed_mean(printed: &[[&str; 3]; 12], p: usize, cells: usize) -> f64 {
    let of = |dependence: usize| printed[3 * p + dependence][cells].parse::<f64>().expect("a number");
    (0..3).map(of).sum::<f64>() / 3.0
}

/// Returns the typical ratio between two numbers: the exponential of the root mean square of their log-ratios.
pub fn factor(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, count) =
        pairs.fold((0.0, 0), |(sum, count), (ours, printed)| (sum + (ours / printed).ln().powi(2), count + 1));
    (sum / f64::from(count)).sqrt().exp()
}

/// Returns Table 1.
pub fn table_1(settings: &Settings) -> Outcome {
    cluster_table(&Dataset::adult(), &TABLE_1, settings.repeats.unwrap_or(RUNS), settings.seed)
}

/// Returns Table 2.
pub fn table_2(settings: &Settings) -> Outcome {
    let adult = Dataset::adult();
    let columns = adult.columns.iter().map(|column| column.repeat(6)).collect();
    cluster_table(&Dataset { columns, ..adult }, &TABLE_2, settings.repeats.unwrap_or(FEWER_RUNS), settings.seed)
}

/// Returns the median relative errors for one `p`: of each reading for the three `T_v` and RR-Independent, and of the
/// workload plan.
fn errors(adult: &Dataset, p: f64, runs: usize, seed: u64) -> (Vec<Vec<f64>>, f64) {
    let sizes = adult.schema.sizes();
    let mut clusterings = MAX_CELLS.map(|cells| clusters_for(adult, cells)).to_vec();
    clusterings.push(alone(&adult.schema));
    let plan = workload_plan(&adult.schema, p);
    let made: Vec<Vec<Block>> = READINGS
        .iter()
        .flat_map(|&reading| clusterings.iter().map(move |together| (reading, together)))
        .map(|(reading, together)| blocks(&sizes, together, p, reading))
        .collect();
    let mut ways: Vec<Way> = made.iter().map(|blocks| Way::Product(blocks)).collect();
    ways.push(Way::Unbiased(&plan));
    let survey = Survey { adult, coverages: &[0.1], draw: Draw::Rounded, runs, seed };
    let found: Vec<f64> = survey.medians(&ways).iter().map(|errors| errors[0].relative).collect();
    (found[..made.len()].chunks(clusterings.len()).map(<[f64]>::to_vec).collect(), found[made.len()])
}

/// Returns the relative errors of RR-Clusters, printed values next to ours.
fn cluster_table(adult: &Dataset, printed: &[[&str; 3]; 12], runs: usize, seed: u64) -> Outcome {
    let found: Vec<(Vec<Vec<f64>>, f64)> = KEPT.iter().map(|&p| errors(adult, p, runs, seed)).collect();
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    for (i, (p, (readings, workload))) in KEPT.iter().zip(&found).enumerate() {
        for (j, cells) in MAX_CELLS.iter().enumerate() {
            let mut row = vec![p.to_string(), cells.to_string()];
            row.extend((0..3).map(|dependence| printed[3 * i + dependence][j].to_owned()));
            row.push(format!("{:.3}", printed_mean(printed, i, j)));
            row.extend(readings.iter().map(|errors| format!("{:.3}", errors[j])));
            rows.push(row);
        }
        let mut row = vec![p.to_string()];
        row.extend(readings.iter().map(|errors| format!("{:.3}", errors[3])));
        row.push(format!("{workload:.3}"));
        others.push(row);
    }
    let names = READINGS.map(|reading| reading.name().to_owned());
    let mut columns: Vec<String> = ["p", "T_v"].map(str::to_owned).to_vec();
    columns.extend(MIN_DEPENDENCE.map(|dependence| format!("printed, T_d = {dependence}")));
    columns.push("printed, mean".to_owned());
    columns.extend(names.clone());
    let other = |name: &String| format!("RR-Independent, {name}");
    let mut independent = vec!["p".to_owned()];
    independent.extend(names.iter().map(other));
    independent.push("workload-optimal plan at the total epsilon of the second".to_owned());
    let errors: Vec<Vec<Vec<f64>>> = found.into_iter().map(|(errors, _)| errors).collect();
    let (distances, verdict) = compared(&errors, printed, runs);
    Outcome {
        tables: vec![
            Table { name: "relative-error".to_owned(), columns, rows },
            distances,
            Table { name: "other-methods".to_owned(), columns: independent, rows: others },
        ],
        plots: Vec::new(),
        verdict,
    }
}

/// Returns the distance of each reading from the printed values, and a description of it.
fn compared(found: &[Vec<Vec<f64>>], printed: &[[&str; 3]; 12], runs: usize) -> (Table, String) {
    let off = |p: usize, reading: usize| factor((0..3).map(|j| (found[p][reading][j], printed_mean(printed, p, j))));
    let grows = |errors: &dyn Fn(usize) -> f64| if errors(2) > errors(0) { "grows" } else { "falls" };
    let mut text = format!("Medians over {runs} runs (the authors: {RUNS}).\n");
    let mut rows = Vec::new();
    for (i, p) in KEPT.iter().enumerate() {
        let mut row = vec![p.to_string()];
        row.extend((0..READINGS.len()).map(|reading| format!("{:.2}", off(i, reading))));
        row.push(grows(&|j| printed_mean(printed, i, j)).to_owned());
        row.extend((0..READINGS.len()).map(|reading| grows(&|j| found[i][reading][j]).to_owned()));
        rows.push(row);
        let best = (0..READINGS.len()).min_by(|&a, &b| off(i, a).total_cmp(&off(i, b))).expect("several");
        let smaller = (0..3).filter(|&j| found[i][best][j] < printed_mean(printed, i, j)).count();
        let _ = writeln!(
            text,
            "At p = {p} the reading closest to the print is \"{}\", off by a factor of {:.2} (root mean square over \
             T_v) and below the print in {smaller} of 3 cells.",
            READINGS[best].name(),
            off(i, best)
        );
    }
    let mut columns = vec!["p".to_owned()];
    columns.extend(READINGS.map(|reading| format!("factor, {}", reading.name())));
    columns.push("T_v = 50 to 300, printed".to_owned());
    columns.extend(READINGS.map(|reading| format!("T_v = 50 to 300, {}", reading.name())));
    let all = |reading: usize| {
        factor(
            (0..4)
                .flat_map(|p| (0..3).map(move |j| (p, j)))
                .map(|(p, j)| (found[p][reading][j], printed_mean(printed, p, j))),
        )
    };
    let listed: Vec<String> =
        (0..READINGS.len()).map(|r| format!("{:.2} (\"{}\")", all(r), READINGS[r].name())).collect();
    let _ = write!(
        text,
        "Over all cells the readings are off by {}.\n\
         Ours stand once for the three T_d, since the clusters are the same; what the print varies with T_d is not \
         explained by clusters.\n\
         What else was tried for p = 0.5 and 0.7 is in the section on readings.",
        listed.join(", ")
    );
    (Table { name: "distance".to_owned(), columns, rows }, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_means_and_factors() {
        assert!((printed_mean(&TABLE_1, 0, 0) - 0.977 / 3.0).abs() < 1e-12);
        assert!((printed_mean(&TABLE_2, 3, 2) - 0.173 / 3.0).abs() < 1e-12);
        assert!((factor([(1.0, 2.0), (2.0, 1.0)].into_iter()) - 2.0).abs() < 1e-12);
    }

    /// The literal reading explains p = 0.1, and the growth with T_v at p = 0.1 and 0.3; the other reading explains
    /// neither.
    #[test]
    fn p_on_the_diagonal_explains_strong_randomization() {
        let adult = Dataset::adult();
        for (i, &p) in KEPT[..2].iter().enumerate() {
            let (found, workload) = errors(&adult, p, 250, 4);
            let off = |reading: usize| factor((0..3).map(|j| (found[reading][j], printed_mean(&TABLE_1, i, j))));
            assert!(off(0) < 1.45 && off(1) > 1.5, "{p}: {found:?}");
            assert!(found[0][2] > 1.2 * found[0][0], "{p}: {found:?}");
            assert!(workload < found[1][0], "{p}: {workload} {found:?}");
        }
    }
}
