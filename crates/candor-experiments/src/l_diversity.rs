//! Nayak and Zhai 2019, "A local l-diversity mechanism for privacy protected categorical data collection".
//!
//! Printed values are quoted as in the paper, next to ours.

use candor::plot::{Plot, Scale, Series};
use candor_design::{l_diversity, minimax, rappor};

use crate::adult::Dataset;
use crate::exhibit::{Exhibit, Outcome, Pace, Paper, Settings, Table};

/// The paper and its reproducible exhibits.
pub const PAPER: Paper = Paper {
    name: "l-diversity",
    title: "A local l-diversity mechanism for privacy protected categorical data collection (Nayak and Zhai, 2019)",
    exhibits: &[
        Exhibit {
            name: "table-1",
            caption: "Added variance of the minimax method",
            setup: "Values of V_R(gamma, k), the added variance of the minimax procedure in C_gamma, for selected k \
            and gamma.\n\
                    q is the largest integer not above k/(1 + gamma) or the next, whichever has the smaller risk.",
            pace: Pace::Quick,
            make: table_1,
        },
        Exhibit {
            name: "table-2",
            caption: "Best minimax designs at l-diversity's added variance",
            setup: "For selected k and l, the gamma at which the minimax method has the same added variance as the \
            l-diversity mechanism, (k - 1)(l - 1)/(k - l) (Equation (4.4)); q is given in parentheses; NA where l is \
            not below k.",
            pace: Pace::Quick,
            make: table_2,
        },
        Exhibit {
            name: "rappor",
            caption: "Basic RAPPOR against the minimax method (section 5)",
            setup: "The concluding section says, without numbers, that basic RAPPOR is substantially inefficient.\n\
                    Both methods at the same parity gamma, with k categories; each bit of RAPPOR is flipped with \
                    probability 1/(1 + sqrt(gamma)).",
            pace: Pace::Quick,
            make: rappor_ratios,
        },
        Exhibit {
            name: "section-3-2",
            caption: "What parity bounds cost: the worked percentages",
            setup: "k = 5 and pi = (.4, .2, .2, .1, .1), gamma = 20 and 10; then k = 20 and k = 100 at gamma = 20.",
            pace: Pace::Quick,
            make: section_3_2,
        },
        Exhibit {
            name: "section-4-3",
            caption: "Guessing probabilities at equal added variance",
            setup: "k = 20, l = 5 and k = 50, l = 10: the l-diversity mechanism and the minimax method of equal \
            added variance, compared by epsilon and by the probability of guessing the true category from the \
            response.",
            pace: Pace::Quick,
            make: section_4_3,
        },
    ],
};

const CATEGORIES: [usize; 9] = [2, 3, 5, 10, 20, 50, 100, 150, 200];
const PARITIES: [f64; 11] = [1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 80.0, 100.0];

/// Table 1 as printed, one row per parity.
const TABLE_1: [[&str; 9]; 11] = [
    ["220", "640", "1441.333", "3571.2", "7959.1", "21129.05", "43125.92", "65124.08", "87121.7"],
    ["12", "32", "76", "193.5", "432.25", "1151.5", "2351.25", "3551.167", "4751.125"],
    ["4", "10", "25.333", "64.2857", "143.6484", "383.2656", "783.1343", "1183.06", "1583.067"],
    ["1.5", "3.5", "9", "23.7857", "53.2", "143.1798", "293.04", "443.0614", "593.02"],
    ["0.625", "1.375", "3.25", "9.3515", "21.70", "59.0807", "121.5399", "184.015", "246.5202"],
    ["0.2469", "0.5185", "1.1358", "3.1111", "7.9883", "22.7995", "47.4115", "72.1117", "96.7882"],
    ["0.1108", "0.2271", "0.4765", "1.1967", "3.0526", "9.7502", "20.7440", "31.8096", "42.9131"],
    ["0.0713", "0.1451", "0.2996", "0.7277", "1.7621", "5.9575", "13.0144", "20.1314", "27.2974"],
    ["0.0416", "0.0841", "0.1716", "0.4048", "0.9338", "3.0204", "7.1749", "11.3367", "15.5002"],
    ["0.0256", "0.0516", "0.1045", "0.2423", "0.5419", "1.6331", "4.0926", "6.6071", "9.2567"],
    ["0.0204", "0.0410", "0.0828", "0.1910", "0.4226", "1.2399", "3.0101", "5.1851", "7.0862"],
];

const TABLE_2_CATEGORIES: [usize; 7] = [10, 15, 20, 50, 100, 200, 500];
const TABLE_2_L: [usize; 6] = [5, 10, 15, 20, 25, 30];

/// Table 2 as printed, one row per l: the smallest parity and, in parentheses, the answer size.
const TABLE_2: [[&str; 7]; 6] = [
    ["6(2)", "10.11(1)", "14.19(1)", "38.50(1)", "78.96(1)", "159.87(1)", "402.58(1)"],
    ["NA", "3.73(3)", "5.83(3)", "18.02(3)", "38.23(3)", "78.60(3)", "199.71(3)"],
    ["NA", "NA", "3.00(5)", "11.25(4)", "24.63(4)", "51.34(4)", "131.44(4)"],
    ["NA", "NA", "NA", "7.88(6)", "17.96(5)", "37.98(5)", "97.99(5)"],
    ["NA", "NA", "NA", "5.83(7)", "13.94(7)", "30.01(6)", "78.04(6)"],
    ["NA", "NA", "NA", "4.44(9)", "11.25(8)", "24.63(8)", "64.69(8)"],
];

/// Agreement of a printed number with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// Equal to ours rounded to the printed decimals.
    Rounded,
    /// Equal to ours truncated to the printed decimals.
    Truncated,
    /// Neither.
    Differs,
}

fn agreement(ours: f64, printed: &str) -> Agreement {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let Ok(value) = printed.parse::<f64>() else { return Agreement::Differs };
    let unit = 10f64.powi(-(decimals as i32));
    match () {
        // A half may be rounded either way.
        () if (ours - value).abs() <= unit * (0.5 + 1e-9) => Agreement::Rounded,
        () if ours >= value && ours < value + unit => Agreement::Truncated,
        () => Agreement::Differs,
    }
}

/// Counts the cells that agree, and names the others.
fn tally(cells: &[(String, Agreement)]) -> String {
    let of =
        |kind: Agreement| cells.iter().filter(|(_, a)| *a == kind).map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let (rounded, truncated, differs) = (of(Agreement::Rounded), of(Agreement::Truncated), of(Agreement::Differs));
    let mut text = format!("{} of {} printed numbers are ours, rounded", rounded.len(), cells.len());
    if !truncated.is_empty() {
        text += &format!("; {} cut off instead of rounded ({})", truncated.len(), truncated.join(", "));
    }
    text + &match differs.is_empty() {
        true => "; none differs.".to_owned(),
        false => format!("; these differ: {}.", differs.join(", ")),
    }
}

fn best(categories: usize, parity: f64) -> (f64, usize) {
    let size = minimax::best_size(categories, parity);
    (minimax::added_variance(categories, size, parity), size)
}

fn table_1(_: &Settings) -> Outcome {
    let (mut rows, mut cells) = (Vec::new(), Vec::new());
    for (parity, printed) in PARITIES.iter().zip(&TABLE_1) {
        for (&k, printed) in CATEGORIES.iter().zip(printed) {
            let (ours, size) = best(k, *parity);
            let agreement = agreement(ours, printed);
            cells.push((format!("parity {parity}, k = {k}"), agreement));
            rows.push(vec![
                parity.to_string(),
                k.to_string(),
                size.to_string(),
                format!("{ours:.8}"),
                (*printed).to_owned(),
                said(agreement).to_owned(),
            ]);
        }
    }
    let curve = |&k: &usize| Series {
        name: format!("k = {k}"),
        joined: true,
        points: PARITIES.iter().map(|&parity| (parity, best(k, parity).0)).collect(),
    };
    let plot = Plot {
        name: "added-variance".to_owned(),
        title: "Added variance of the minimax method".to_owned(),
        x: Scale::logarithmic("parity"),
        y: Scale::logarithmic("added variance"),
        series: [2, 5, 20, 100, 200].iter().map(curve).collect(),
    };
    Outcome {
        tables: vec![Table {
            name: "added-variance".to_owned(),
            columns: ["parity", "k", "q", "ours", "printed", ""].map(String::from).to_vec(),
            rows,
        }],
        plots: vec![plot],
        verdict: tally(&cells),
    }
}

fn said(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Rounded => "agrees",
        Agreement::Truncated => "cut off",
        Agreement::Differs => "differs",
    }
}

fn table_2(_: &Settings) -> Outcome {
    let (mut rows, mut cells, mut absent, mut ties) = (Vec::new(), Vec::new(), 0, Vec::new());
    for (&l, printed) in TABLE_2_L.iter().zip(&TABLE_2) {
        for (&k, printed) in TABLE_2_CATEGORIES.iter().zip(printed) {
            let found = (l < k).then(|| minimax::least_parity(k, l_diversity::added_variance(k, l))).flatten();
            let Some((parity, size)) = found else {
                absent += usize::from(*printed == "NA");
                let none = || "none".to_owned();
                let agrees = if *printed == "NA" { "agrees" } else { "differs" };
                rows.push(vec![l.to_string(), k.to_string(), none(), none(), (*printed).to_owned(), agrees.to_owned()]);
                continue;
            };
            let (value, printed_size) = printed.trim_end_matches(')').split_once('(').unwrap_or((printed, ""));
            let printed_size: usize = printed_size.parse().unwrap_or(0);
            // The printed size may be an equally good one.
            let variance = l_diversity::added_variance(k, l);
            let as_good =
                minimax::parity_at(k, printed_size, variance).is_some_and(|p| (p / parity - 1.0).abs() < 1e-12);
            let agreement = if as_good { agreement(parity, value) } else { Agreement::Differs };
            let name = format!("k = {k}, l = {l}");
            if as_good && printed_size != size {
                ties.push(format!("{name}: {size} and {printed_size}"));
            }
            cells.push((name, agreement));
            rows.push(vec![
                l.to_string(),
                k.to_string(),
                format!("{parity:.6}"),
                size.to_string(),
                (*printed).to_owned(),
                said(agreement).to_owned(),
            ]);
        }
    }
    let tied = if ties.is_empty() {
        String::new()
    } else {
        format!("\nAnswer sizes that are equally good: {}.", ties.join("; "))
    };
    Outcome {
        tables: vec![Table {
            name: "best-designs".to_owned(),
            columns: ["l", "k", "least parity", "q", "printed", ""].map(String::from).to_vec(),
            rows,
        }],
        plots: Vec::new(),
        verdict: format!(
            "{}{tied}\nWhere l is not below k there is no such design, {absent} cells, as printed.",
            tally(&cells)
        ),
    }
}

fn rappor_ratios(_: &Settings) -> Outcome {
    let parities = [1.5, 3.0, 10.0, 20.0];
    let row = |&k: &usize| {
        let cell = |&g: &f64| {
            let (ours, theirs) = (best(k, g).0, rappor::added_variance(k, g));
            format!("{theirs:.3}/{ours:.3} = {:.3}", theirs / ours)
        };
        std::iter::once(k.to_string()).chain(parities.iter().map(cell)).collect()
    };
    let columns = std::iter::once("k".to_owned()).chain(parities.iter().map(|g| format!("parity {g}"))).collect();
    let categories = [2usize, 5, 10, 50, 200];
    let pairs = categories.iter().flat_map(|&k| parities.iter().map(move |&g| (k, g)));
    let ratio = |&(k, g): &(usize, f64)| rappor::added_variance(k, g) / best(k, g).0;
    let mut sorted: Vec<(usize, f64)> = pairs.collect();
    sorted.sort_by(|x, y| ratio(x).total_cmp(&ratio(y)));
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    Outcome {
        tables: vec![Table { name: "ratios".to_owned(), columns, rows: categories.iter().map(row).collect() }],
        plots: Vec::new(),
        verdict: format!(
            "At equal parity basic RAPPOR adds {:.2} (k = {}, parity {}) to {:.1} (k = {}, parity {}) times the \
             variance of the minimax method.",
            ratio(&least),
            least.0,
            least.1,
            ratio(&most),
            most.0,
            most.1
        ),
    }
}

fn section_3_2(_: &Settings) -> Outcome {
    let shares: [f64; 5] = [0.4, 0.2, 0.2, 0.1, 0.1];
    let sampling: f64 = shares.iter().map(|p| p * (1.0 - p)).sum();
    let growth = |parity: f64| 100.0 * best(5, parity).0 / sampling;
    let checks = [
        ("sampling variance of (.4, .2, .2, .1, .1)", sampling, "0.74"),
        ("added variance, k = 5, parity 20", best(5, 20.0).0, "0.4765"),
        ("the same over the sampling variance", best(5, 20.0).0 / sampling, "0.644"),
        ("growth in per cent, k = 5, parity 20", growth(20.0), "64.4"),
        ("growth in per cent, k = 5, parity 10", growth(10.0), "153.49"),
        ("added variance, k = 20, parity 20", best(20, 20.0).0, "3.0526"),
        ("added variance, k = 100, parity 20", best(100, 20.0).0, "20.74"),
        ("epsilon at parity 20", 20f64.ln(), "2.996"),
    ];
    compared("percentages", &checks)
}

fn section_4_3(_: &Settings) -> Outcome {
    let at =
        |k: usize, l: usize| minimax::least_parity(k, l_diversity::added_variance(k, l)).unwrap_or((f64::INFINITY, 1));
    let ((exact20, q20), (exact50, q50)) = (at(20, 5), at(50, 10));
    // From here on the paper uses the parity as it prints it, to two decimals.
    let [g20, g50] = [exact20, exact50].map(|parity| (100.0 * parity).round() / 100.0);
    let checks = [
        ("k = 20, l = 5: parity at equal added variance", exact20, "14.19"),
        ("its answer size", q20 as f64, "1"),
        ("its epsilon", g20.ln(), "2.6525"),
        ("its smallest ratio of posterior to prior", 1.0 / g20, "0.0705"),
        ("truth reported with probability", minimax::hit_probability(20, q20, g20), "0.4275"),
        ("guessing, minimax", minimax::guessing(20, q20, g20), "0.4275"),
        ("guessing, l-diversity", 1.0 / 5.0, "0.2"),
        ("k = 50, l = 10: parity at equal added variance", exact50, "18.02"),
        ("its answer size", q50 as f64, "3"),
        ("its epsilon", g50.ln(), "2.8915"),
        ("truth reported with probability", minimax::hit_probability(50, q50, g50), "0.5349"),
        ("truth not reported with probability", 1.0 - minimax::hit_probability(50, q50, g50), "0.4651"),
        ("guessing, minimax", minimax::guessing(50, q50, g50), "0.1783"),
        ("guessing, l-diversity", 1.0 / 10.0, "0.1"),
    ];
    let mut outcome = compared("examples", &checks);
    outcome.verdict += &format!(
        "\nEverything but the parities follows from them as printed, to two decimals; from the exact ones, \
         {exact20:.6} and {exact50:.6}, the epsilons are {:.4} and {:.4}.",
        exact20.ln(),
        exact50.ln()
    );
    outcome
}

fn compared(name: &str, checks: &[(&str, f64, &str)]) -> Outcome {
    let cells: Vec<(String, Agreement)> =
        checks.iter().map(|&(what, ours, printed)| (what.to_owned(), agreement(ours, printed))).collect();
    let row = |(&(what, ours, printed), (_, agreement)): (&(&str, f64, &str), &(String, Agreement))| {
        vec![what.to_owned(), format!("{ours:.6}"), printed.to_owned(), said(*agreement).to_owned()]
    };
    let rows = checks.iter().zip(&cells).map(row).collect();
    let columns = ["", "ours", "printed", ""].map(String::from).to_vec();
    let tables = vec![Table { name: name.to_owned(), columns, rows }];
    Outcome { tables, plots: Vec::new(), verdict: tally(&cells) }
}

/// Returns the shares `pi` of an attribute's categories, and the sampling variance of one record, `1 - sum pi^2`.
fn sampling_variance(data: &Dataset, place: usize) -> f64 {
    let mut counts = vec![0.0; data.schema.size(place)];
    data.columns[place].iter().for_each(|&code| counts[usize::from(code)] += 1.0);
    let people = data.columns[place].len().max(1) as f64;
    1.0 - counts.iter().map(|count| (count / people) * (count / people)).sum::<f64>()
}

/// Returns the variance that both methods add to the sampling variance of the user's attributes.
pub(crate) fn of_attributes(data: &Dataset, attributes: &[usize], gamma: &[f64], l: &[usize]) -> Outcome {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    let number = |value: f64| format!("{value:.6}");
    for &place in attributes {
        let (name, k, sampling) = (data.schema.name(place), data.schema.size(place), sampling_variance(data, place));
        let common = |method: &str, parameter: String, size: String| {
            vec![name.to_owned(), k.to_string(), method.to_owned(), parameter, size]
        };
        let growth = |added: f64| if sampling > 0.0 { format!("{:.2}", 100.0 * added / sampling) } else { "-".into() };
        let mut minimax_points = Vec::new();
        for &parity in gamma {
            let (added, size) = best(k, parity);
            let mut row = common("minimax", format!("gamma = {parity}"), size.to_string());
            row.extend([number(added), number(sampling), growth(added), number(parity.ln())]);
            row.push(number(minimax::guessing(k, size, parity)));
            rows.push(row);
            minimax_points.push((minimax::guessing(k, size, parity), added));
        }
        let mut l_points = Vec::new();
        for &l in l.iter().filter(|&&l| l < k) {
            let added = l_diversity::added_variance(k, l);
            let mut row = common("l-diversity", format!("l = {l}"), l.to_string());
            row.extend([number(added), number(sampling), growth(added), "-".to_owned(), number(1.0 / l as f64)]);
            rows.push(row);
            l_points.push((1.0 / l as f64, added));
        }
        let series = [("minimax", minimax_points), ("l-diversity", l_points)];
        plots.push(Plot {
            name: format!("{name} added variance"),
            title: format!("Added variance, {name}"),
            x: Scale::linear("probability of guessing the category, uniform population"),
            y: Scale::logarithmic("added variance"),
            series: series.map(|(name, points)| Series { name: name.to_owned(), joined: true, points }).to_vec(),
        });
    }
    let columns = [
        "attribute",
        "k",
        "method",
        "parameter",
        "q",
        "added variance",
        "sampling variance",
        "growth in per cent",
        "epsilon",
        "guessing",
    ];
    Outcome {
        tables: vec![Table { name: "variance".to_owned(), columns: columns.map(str::to_owned).to_vec(), rows }],
        plots,
        verdict: "Variances are n times the sum over categories; l is left out where it is not below k.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings { seed: 1, repeats: None };

    fn last_column(outcome: &Outcome) -> Vec<&str> {
        outcome.tables[0].rows.iter().map(|row| row.last().unwrap().as_str()).collect()
    }

    /// All 99 cells; the notes list the two truncated ones.
    #[test]
    fn every_cell_of_table_1() {
        let outcome = table_1(&SETTINGS);
        let marks = last_column(&outcome);
        assert_eq!(marks.len(), 99);
        assert_eq!(marks.iter().filter(|mark| **mark == "agrees").count(), 97);
        let cut: Vec<&Vec<String>> = outcome.tables[0].rows.iter().filter(|row| row[5] == "cut off").collect();
        assert_eq!(
            cut.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect::<Vec<_>>(),
            [("5", "10"), ("30", "20")]
        );
        assert!(
            outcome.verdict.contains("97 of 99") && outcome.verdict.contains("none differs"),
            "{}",
            outcome.verdict
        );
    }

    /// Some cells to eight digits, with the answer size.
    #[test]
    fn cells_of_table_1_to_eight_digits() {
        for (parity, k, value, size) in [
            (1.1, 200, 87_121.701, 95),
            (2.0, 20, 143.648_35, 7),
            (3.0, 150, 443.061_44, 38),
            (10.0, 50, 22.799_451, 5),
            (30.0, 100, 13.014_404, 3),
            (100.0, 200, 7.086_216_2, 2),
            (80.0, 2, 0.025_636_917, 1),
        ] {
            let (ours, q) = best(k, parity);
            assert!((ours / value - 1.0).abs() < 5e-8 && q == size, "{parity} {k}: {ours} {q}");
        }
    }

    /// All 30 numbers and 12 empty cells; the tie at k = 10, l = 5.
    #[test]
    fn every_cell_of_table_2() {
        let outcome = table_2(&SETTINGS);
        let marks = last_column(&outcome);
        assert_eq!(marks.len(), 42);
        assert!(marks.iter().all(|mark| *mark == "agrees"), "{marks:?}");
        assert!(outcome.verdict.contains("30 of 30") && outcome.verdict.contains("12 cells"), "{}", outcome.verdict);
        assert!(outcome.verdict.contains("k = 10, l = 5: 1 and 2"), "{}", outcome.verdict);
        let row = |l: &str, k: &str| outcome.tables[0].rows.iter().find(|r| r[0] == l && r[1] == k).unwrap().clone();
        assert_eq!(row("30", "500")[2..4], ["64.691313".to_owned(), "8".to_owned()]);
        assert_eq!(row("20", "100")[2..4], ["17.957064".to_owned(), "5".to_owned()]);
    }

    /// The ratios in the notes.
    #[test]
    fn ratios_of_rappor() {
        for (k, ratios) in [
            (2usize, [4.041, 4.309, 5.479, 6.696]),
            (5, [1.595, 1.796, 2.977, 3.893]),
            (10, [1.253, 1.359, 2.174, 3.100]),
            (50, [1.053, 1.129, 1.483, 1.902]),
            (200, [1.021, 1.090, 1.398, 1.729]),
        ] {
            for (g, ratio) in [1.5, 3.0, 10.0, 20.0].into_iter().zip(ratios) {
                let ours = rappor::added_variance(k, g) / best(k, g).0;
                assert!((ours - ratio).abs() < 5.1e-4, "{k} {g}: {ours}");
            }
        }
        assert!((rappor::added_variance(10, 3.0) - 32.320_508).abs() < 1e-6);
        assert_eq!(rappor_ratios(&SETTINGS).tables[0].rows.len(), 5);
    }

    #[test]
    fn worked_examples() {
        for outcome in [section_3_2(&SETTINGS), section_4_3(&SETTINGS)] {
            assert!(!last_column(&outcome).contains(&"differs"), "{}", outcome.verdict);
        }
    }

    #[test]
    fn rounding_and_cutting_off_are_told_apart() {
        assert_eq!(agreement(9.351_562_5, "9.3515"), Agreement::Truncated);
        assert_eq!(agreement(9.351_562_5, "9.3516"), Agreement::Rounded);
        assert_eq!(agreement(9.351_562_5, "9.3514"), Agreement::Differs);
        assert_eq!(agreement(220.0, "220"), Agreement::Rounded);
    }
}
