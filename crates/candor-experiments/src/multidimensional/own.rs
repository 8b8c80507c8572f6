//! Tables 1 and 2 and Figures 2 and 3 on the user's own data, under the reading "keep with p, else uniform".

use candor::plot::{Plot, Scale, Series};
use candor_analysis::association::Limits;
use candor_base::schema::Schema;

use super::matrix::{Block, Reading, blocks};
use super::survey::{Draw, Errors, Survey, Way};
use super::{RUNS, alone, clusters_of};
use crate::adult::Dataset;
use crate::exhibit::{Outcome, Settings, Table};
use crate::unfit::{Unfit, check};

/// Parameters, named by the paper's symbols.
#[derive(Clone, Debug, PartialEq)]
pub struct Multidimensional {
    /// `p`: probability that a value is kept; otherwise it is drawn uniformly.
    pub p: Vec<f64>,
    /// `T_v`: maximum number of combinations of a cluster.
    pub max_cells: Vec<u64>,
    /// `T_d`: minimum association within a cluster.
    pub min_dependence: Vec<f64>,
    /// `sigma`: share of the combinations of two attributes that a query covers.
    pub coverage: Vec<f64>,
}

impl Default for Multidimensional {
    /// The parameters of the paper.
    fn default() -> Multidimensional {
        Multidimensional {
            p: super::KEPT.to_vec(),
            max_cells: super::MAX_CELLS.to_vec(),
            min_dependence: super::MIN_DEPENDENCE.to_vec(),
            coverage: super::COVERAGES.to_vec(),
        }
    }
}

/// Maximum number of cells of a cluster's table, because an answer is a number below it.
const MAX_CELLS: f64 = 1e6;

/// A clustering, and the thresholds that produce it.
struct Clustered {
    thresholds: Vec<(u64, f64)>,
    clusters: Vec<Vec<usize>>,
}

pub(crate) fn experiment(data: Dataset, asked: &Multidimensional, settings: &Settings) -> Result<Outcome, Unfit> {
    check("p", &asked.p, 0.001..=0.999)?;
    let cells: Vec<f64> = asked.max_cells.iter().map(|&cells| cells as f64).collect();
    check("max_cells", &cells, 1.0..=MAX_CELLS)?;
    check("min_dependence", &asked.min_dependence, 0.0..=1.0)?;
    check("coverage", &asked.coverage, 0.0..=1.0)?;
    let data = randomized_only(data)?;
    let clusterings = clusterings(&data, asked);
    let runs = settings.repeats.unwrap_or(RUNS);
    let mut outcome = Outcome { tables: vec![clusters_table(&data, &clusterings)], ..Outcome::default() };
    let mut rows = Vec::new();
    let mut said = vec![format!("Medians over {runs} runs; a simulation on true records, which protects nobody.")];
    for &p in &asked.p {
        let found = errors(&data, &clusterings, p, asked, (runs, settings.seed));
        let mut of_p: Vec<Vec<String>> = found.iter().flat_map(|method| method.rows(p, &asked.coverage)).collect();
        // Sorts by thresholds, which are numbers as text; rows without thresholds come first.
        let threshold = |row: &[String], at: usize| row[at].parse::<f64>().unwrap_or(-1.0);
        of_p.sort_by(|a, b| {
            threshold(a, 1).total_cmp(&threshold(b, 1)).then(threshold(a, 2).total_cmp(&threshold(b, 2)))
        });
        rows.append(&mut of_p);
        said.push(sentence(p, &found));
        outcome.plots.push(plot(p, &found, &asked.coverage, "relative error", |errors| errors.relative));
        outcome.plots.push(plot(p, &found, &asked.coverage, "absolute error", |errors| errors.absolute));
    }
    let columns = ["p", "T_v", "T_d", "method", "sigma", "absolute error", "relative error"];
    outcome.tables.push(Table { name: "errors".to_owned(), columns: columns.map(String::from).to_vec(), rows });
    outcome.verdict = said.join("\n");
    Ok(outcome)
}

/// Returns the data without public attributes, which are neither randomized nor queried.
fn randomized_only(data: Dataset) -> Result<Dataset, Unfit> {
    let places = data.schema.randomized();
    if places.len() < 2 {
        return Err(Unfit::new("the data have fewer than two randomized attributes"));
    }
    if data.columns[0].is_empty() {
        return Err(Unfit::new("the data have no records"));
    }
    let attributes = places.iter().map(|&place| data.schema.attributes()[place].clone().without_condition()).collect();
    let schema = Schema::new(attributes).map_err(|error| Unfit::new(error.to_string()))?;
    Ok(Dataset { schema, columns: places.into_iter().map(|place| data.columns[place].clone()).collect() })
}

/// Returns the distinct clusterings of Algorithm 1 for all pairs of thresholds.
fn clusterings(data: &Dataset, asked: &Multidimensional) -> Vec<Clustered> {
    let mut found: Vec<Clustered> = Vec::new();
    for &cells in &asked.max_cells {
        for &dependence in &asked.min_dependence {
            let clusters = clusters_of(data, Limits::default().cells(cells).dependence(dependence));
            match found.iter_mut().find(|known| known.clusters == clusters) {
                Some(known) => known.thresholds.push((cells, dependence)),
                None => found.push(Clustered { thresholds: vec![(cells, dependence)], clusters }),
            }
        }
    }
    found
}

fn clusters_table(data: &Dataset, clusterings: &[Clustered]) -> Table {
    let named = |cluster: &Vec<usize>| {
        format!("{{{}}}", cluster.iter().map(|&place| data.schema.name(place)).collect::<Vec<_>>().join(", "))
    };
    let mut rows: Vec<(u64, f64, String)> = Vec::new();
    for one in clusterings {
        let listed: Vec<String> = one.clusters.iter().filter(|cluster| cluster.len() > 1).map(named).collect();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(" ") };
        rows.extend(one.thresholds.iter().map(|&(cells, dependence)| (cells, dependence, listed.clone())));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let rows =
        rows.into_iter().map(|(cells, dependence, listed)| vec![cells.to_string(), dependence.to_string(), listed]);
    let columns = ["T_v", "T_d", "clusters of several attributes"].map(String::from).to_vec();
    Table { name: "clusters".to_owned(), columns, rows: rows.collect() }
}

/// Errors of one method under one clustering, by coverage.
struct Method {
    name: &'static str,
    thresholds: Vec<(u64, f64)>,
    errors: Vec<Errors>,
}

impl Method {
    fn rows(&self, p: f64, coverage: &[f64]) -> Vec<Vec<String>> {
        let of = |thresholds: [String; 2]| {
            coverage.iter().zip(&self.errors).map(move |(sigma, errors)| {
                let [cells, dependence] = thresholds.clone();
                let errors = [format!("{:.3}", errors.absolute), format!("{:.6}", errors.relative)];
                [vec![p.to_string(), cells, dependence, self.name.to_owned(), sigma.to_string()], errors.to_vec()]
                    .concat()
            })
        };
        match self.thresholds.is_empty() {
            true => of(["-", "-"].map(String::from)).collect(),
            false => self.thresholds.iter().flat_map(|(cells, d)| of([cells.to_string(), d.to_string()])).collect(),
        }
    }

    fn mean(&self) -> f64 {
        self.errors.iter().map(|errors| errors.relative).sum::<f64>() / self.errors.len() as f64
    }
}

fn errors(
    data: &Dataset,
    clusterings: &[Clustered],
    p: f64,
    asked: &Multidimensional,
    (runs, seed): (usize, u64),
) -> Vec<Method> {
    let sizes = data.schema.sizes();
    let independent = blocks(&sizes, &alone(&data.schema), p, Reading::Keep);
    let clustered: Vec<Vec<Block>> =
        clusterings.iter().map(|one| blocks(&sizes, &one.clusters, p, Reading::Keep)).collect();
    let mut ways = vec![Way::Answers(&independent), Way::Product(&independent), Way::Adjusted(&independent)];
    let mut methods: Vec<(&str, Vec<(u64, f64)>)> =
        ["Randomized", "RR-Independent", "RR-Independent + Adjustment"].map(|name| (name, Vec::new())).to_vec();
    for (one, blocks) in clusterings.iter().zip(&clustered) {
        ways.extend([Way::Product(blocks), Way::Adjusted(blocks)]);
        methods.extend(["RR-Clusters", "RR-Clusters + Adjustment"].map(|name| (name, one.thresholds.clone())));
    }
    let survey = Survey { adult: data, coverages: &asked.coverage, draw: Draw::Rounded, runs, seed };
    let found = survey.medians(&ways).into_iter().zip(methods);
    found.map(|(errors, (name, thresholds))| Method { name, thresholds, errors }).collect()
}

/// Returns one entry per method name: among several thresholds the one with the least mean relative error, as in the
/// paper.
fn best(found: &[Method]) -> Vec<&Method> {
    let mut chosen: Vec<&Method> = Vec::new();
    for method in found {
        match chosen.iter_mut().find(|known| known.name == method.name) {
            Some(known) if method.mean() < known.mean() => *known = method,
            Some(_) => {}
            None => chosen.push(method),
        }
    }
    chosen
}

fn plot(p: f64, found: &[Method], coverage: &[f64], label: &str, of: fn(&Errors) -> f64) -> Plot {
    let series = |method: &&Method| Series {
        name: method.name.to_owned(),
        joined: true,
        points: coverage.iter().copied().zip(method.errors.iter().map(of)).collect(),
    };
    Plot {
        name: format!("{label} p = {p}"),
        title: format!("{label} of count queries, p = {p}"),
        x: Scale::linear("sigma"),
        y: Scale::linear(label),
        series: best(found).iter().map(series).collect(),
    }
}

fn sentence(p: f64, found: &[Method]) -> String {
    let told = |method: &&Method| {
        let at = method.thresholds.first().map_or(String::new(), |(cells, d)| format!(" (T_v = {cells}, T_d = {d})"));
        format!("{}{at} {:.4}", method.name, method.mean())
    };
    let told: Vec<String> = best(found).iter().map(told).collect();
    format!("p = {p}: mean relative errors over sigma, clusters at their best thresholds: {}.", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Adult with the paper's thresholds, the clusters are the paper's (docs/project/reproduction.md), and the
    /// errors are those of the exhibits: the same seed gives the same runs.
    #[test]
    fn own_data_are_treated_as_adult_is() {
        let asked = Multidimensional { p: vec![0.7], coverage: vec![0.1, 0.5], ..Multidimensional::default() };
        let settings = Settings { seed: 4, repeats: Some(3) };
        let outcome = experiment(Dataset::adult(), &asked, &settings).unwrap();
        assert_eq!((outcome.tables[0].rows.len(), outcome.plots.len()), (9, 2));
        assert_eq!(outcome.tables[0].rows[0][2], "{Relationship, Sex, Income}");
        // Three methods without thresholds, two for each of nine pairs of thresholds, at two coverages.
        assert_eq!(outcome.tables[1].rows.len(), 2 * (3 + 2 * 9));
        let adult = Dataset::adult();
        let blocks = blocks(&adult.schema.sizes(), &alone(&adult.schema), 0.7, Reading::Keep);
        let survey = Survey { adult: &adult, coverages: &[0.1, 0.5], draw: Draw::Rounded, runs: 3, seed: 4 };
        let expected = survey.medians(&[Way::Product(&blocks)])[0][1].relative;
        let row = outcome.tables[1].rows.iter().find(|row| row[3] == "RR-Independent" && row[4] == "0.5").unwrap();
        assert_eq!(row[6], format!("{expected:.6}"));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let settings = Settings { seed: 1, repeats: Some(1) };
        let refused =
            |asked: Multidimensional| experiment(Dataset::adult(), &asked, &settings).unwrap_err().to_string();
        let usual = Multidimensional::default;
        assert!(refused(Multidimensional { p: vec![1.0], ..usual() }).contains("`p` is 1"));
        assert!(refused(Multidimensional { p: vec![f64::NAN], ..usual() }).contains("`p` is NaN"));
        assert!(refused(Multidimensional { coverage: vec![], ..usual() }).contains("`coverage` has no value"));
        assert!(refused(Multidimensional { max_cells: vec![0], ..usual() }).contains("`max_cells` is 0"));
        assert!(refused(Multidimensional { min_dependence: vec![2.0], ..usual() }).contains("`min_dependence` is 2"));
    }
}
