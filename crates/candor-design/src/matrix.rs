//! Column-stochastic matrices from users.
//!
//! Columns are inputs and sum to one; rows are outputs. Other tools use the transpose. A transposed matrix is a
//! different mechanism, and often looks valid, too. So the orientation is checked against the sums, and has to be
//! stated if they do not determine it.

use candor_base::channel::{COLUMN_TOLERANCE, Matrix};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::{CROSS, MAX_CATEGORIES, Schema, nearest};
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::outcome::DesignOutcome;
use crate::traits::{Design, parameters, texts};
use crate::{DesignError, randomized_attributes, single_attribute};

/// The orientation of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// Each column is an input and sums to one: candor's own convention.
    Columns,
    /// Each row is an input and sums to one: the convention of Domingo-Ferrer and Soria-Comas 2020.
    Rows,
}

/// Parameters of a matrix from a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixRequest {
    /// Its cells as text, row by row, with or without labels.
    pub matrix: Vec<Vec<String>>,
    /// Its orientation; auto-detected from its sums by default.
    #[serde(
        rename(serialize = "inputs", deserialize = "matrix_inputs"),
        alias = "inputs",
        skip_serializing_if = "Option::is_none"
    )]
    pub inputs: Option<Inputs>,
    /// The prior of the only attribute. The plan is then certified for it, like a point of the Pareto front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<Vec<f64>>,
}

impl MatrixRequest {
    /// Creates a request from the cells of a matrix as text, row by row, with or without labels.
    pub fn new<R>(rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item: Into<String>>,
    {
        MatrixRequest { matrix: rows.into_iter().map(texts).collect(), inputs: None, prior: None }
    }

    parameters! {
        /// Sets the orientation; auto-detected from the sums by default.
        matrix_inputs(inputs: Inputs): inputs = Some(inputs);
        /// Sets the prior, for which the plan is then certified.
        prior(shares: impl Into<Vec<f64>>): prior = Some(shares.into());
    }
}

impl Design for MatrixRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let plan = matrix(schema, &self.matrix, self.inputs)?;
        match &self.prior {
            None => Ok(plan.into()),
            Some(prior) => Ok(plan.with_prior(single_attribute(schema, "a prior")?.0, prior.clone())?.into()),
        }
    }
}

/// Designs a plan of one matrix over all randomized attributes.
///
/// Usually there is one attribute; over several, inputs are their combinations, first attribute slowest. `cells` are
/// the fields of the file.
///
/// - If the first row or column is not all numbers, it contains labels of inputs or outputs. Labels of inputs are
///   compared with the categories and put in their order.
/// - An empty first cell marks both as labels, even if these are numbers.
/// - Without labels, outputs are the inputs if there are equally many, otherwise `o1, o2, ...`.
/// - Entries are decimals or fractions such as `1/3`.
///
/// # Errors
/// Returns [`DesignError::Matrix`] if the cells are not a matrix of numbers, do not fit the attributes, or do not sum
/// to one in the stated direction. It is also returned if they sum to one in both directions and `inputs` does not
/// state which is meant.
pub fn matrix(schema: &Schema, cells: &[Vec<String>], inputs: Option<Inputs>) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    let inputs_wanted = private.iter().map(|&(_, size)| size).fold(1usize, usize::saturating_mul);
    if inputs_wanted > MAX_CATEGORIES {
        let problem = format!(
            "the attributes have {inputs_wanted} combinations, and a matrix takes at most {MAX_CATEGORIES} inputs; use \
             a schema with fewer attributes"
        );
        return Err(DesignError::Matrix(problem));
    }
    let categories = input_labels(schema, &private);
    let Labelled { mut rows, mut row_labels, mut column_labels } = Labelled::parse(cells)?;
    if direction(&rows, inputs)? == Inputs::Rows {
        rows = transposed(&rows);
        (row_labels, column_labels) = (column_labels, row_labels);
    }
    let mut columns = transposed(&rows);
    if let Some(labels) = column_labels {
        columns = in_order_of(&categories, &labels, columns)?;
    }
    let outputs = row_labels.unwrap_or_else(|| match rows.len() == categories.len() {
        true => categories,
        false => (1..=rows.len()).map(|output| format!("o{output}")).collect(),
    });
    let sizes = private.iter().map(|&(_, size)| size).collect();
    let channel = Matrix::rounded(sizes, outputs, &columns)?;
    let attributes: Vec<usize> = private.iter().map(|&(attribute, _)| attribute).collect();
    let requested = vec![None; attributes.len()];
    let blocks = vec![Block::new(attributes, channel)];
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "matrix".to_owned(), requested }))
}

/// Returns the labels of the inputs: categories, or `x*y` for their combinations.
fn input_labels(schema: &Schema, private: &[(usize, usize)]) -> Vec<String> {
    let lists = private.iter().map(|&(attribute, _)| schema.attributes()[attribute].categories());
    let combine = |labels: Vec<String>, categories: &[String]| {
        labels.iter().flat_map(|label| categories.iter().map(move |c| format!("{label}{CROSS}{c}"))).collect()
    };
    lists.fold(Vec::new(), |labels, categories| match labels.is_empty() {
        true => categories.to_vec(),
        false => combine(labels, categories),
    })
}

pub(crate) struct Labelled {
    pub rows: Vec<Vec<f64>>,
    pub row_labels: Option<Vec<String>>,
    pub column_labels: Option<Vec<String>>,
}

impl Labelled {
    pub fn parse(cells: &[Vec<String>]) -> Result<Labelled, DesignError> {
        let width = cells.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(DesignError::Matrix("the file is empty".to_owned()));
        }
        if let Some(row) = cells.iter().position(|row| row.len() != width) {
            let found = cells[row].len();
            return Err(DesignError::Matrix(format!("row {} has {found} entries, the first has {width}", row + 1)));
        }
        let text = |cell: &String| number(cell).is_none();
        // An empty corner means labels on both sides, even if they are numbers. Otherwise, text marks labels.
        let corner = cells[0][0].trim().is_empty();
        let header = corner || cells[0].iter().skip(1).any(text) || (width == 1 && text(&cells[0][0]));
        let side = corner || cells.iter().skip(1).any(|row| text(&row[0])) || (cells.len() == 1 && text(&cells[0][0]));
        let (from_row, from_column) = (usize::from(header), usize::from(side));
        let mut rows = Vec::new();
        for (r, row) in cells.iter().enumerate().skip(from_row) {
            let entry = |(c, cell): (usize, &String)| {
                number(cell).ok_or_else(|| {
                    let place = format!("row {}, column {}", r + 1, c + 1);
                    DesignError::Matrix(format!("\"{cell}\" in {place} is not a number or a fraction such as 1/3"))
                })
            };
            rows.push(row.iter().enumerate().skip(from_column).map(entry).collect::<Result<Vec<f64>, _>>()?);
        }
        if rows.is_empty() || rows[0].is_empty() {
            return Err(DesignError::Matrix("there are labels but no numbers".to_owned()));
        }
        let label = |cell: &String| cell.trim().to_owned();
        let column_labels = header.then(|| cells[0].iter().skip(from_column).map(label).collect());
        let row_labels = side.then(|| cells.iter().skip(from_row).map(|row| label(&row[0])).collect());
        Ok(Labelled { rows, row_labels, column_labels })
    }
}

/// Parses a decimal or a fraction of two decimals.
fn number(text: &str) -> Option<f64> {
    match text.trim().split_once('/') {
        Some((n, d)) => Some(n.trim().parse::<f64>().ok()? / d.trim().parse::<f64>().ok()?),
        None => text.trim().parse().ok(),
    }
}

fn transposed(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
}

/// Returns the orientation of the matrix, from its sums and from the stated one.
fn direction(rows: &[Vec<f64>], stated: Option<Inputs>) -> Result<Inputs, DesignError> {
    let sums_to_one =
        |lines: &[Vec<f64>]| lines.iter().all(|line| (line.iter().sum::<f64>() - 1.0).abs() <= COLUMN_TOLERANCE);
    let columns = transposed(rows);
    let symmetric = columns == rows;
    let wrong = |problem: String| Err(DesignError::Matrix(problem));
    match (stated, sums_to_one(&columns), sums_to_one(rows)) {
        (Some(Inputs::Columns) | None, true, false) | (Some(Inputs::Columns), true, true) => Ok(Inputs::Columns),
        (Some(Inputs::Rows), _, true) => Ok(Inputs::Rows),
        (None, true, true) if symmetric => Ok(Inputs::Columns),
        (None, true, true) => wrong(
            "its rows and its columns both sum to 1, so it could be written either way round, and the two are \
             different mechanisms: say `matrix_inputs columns` or `matrix_inputs rows`"
                .to_owned(),
        ),
        (None | Some(Inputs::Columns), false, true) => wrong(
            "its rows sum to 1, not its columns: it is written with inputs as rows. Here columns are inputs; say \
             `matrix_inputs rows` to have it transposed"
                .to_owned(),
        ),
        (Some(Inputs::Rows), _, false) => wrong(format!("its rows do not sum to 1: {}", worst(rows, "row"))),
        (None | Some(Inputs::Columns), false, false) => wrong(format!(
            "its columns do not sum to 1: {}; columns are inputs, rows are \
                           outputs",
            worst(&columns, "column")
        )),
    }
}

/// Describes the line whose sum is furthest from one.
fn worst(lines: &[Vec<f64>], name: &str) -> String {
    let off = |line: &Vec<f64>| (line.iter().sum::<f64>() - 1.0).abs();
    let line = (0..lines.len()).max_by(|&a, &b| off(&lines[a]).total_cmp(&off(&lines[b]))).unwrap_or(0);
    format!("{name} {} sums to {}", line + 1, lines[line].iter().sum::<f64>())
}

/// Returns the columns rearranged so that their labels are the categories in order.
fn in_order_of(categories: &[String], labels: &[String], columns: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, DesignError> {
    if let Some(label) = labels.iter().find(|label| !categories.contains(label)) {
        let hint = nearest(label, categories.iter().map(String::as_str));
        let hint = hint.map_or(String::new(), |hint| format!("; did you mean \"{hint}\"?"));
        return Err(DesignError::Matrix(format!("the input \"{label}\" is not a category{hint}")));
    }
    let position = |category: &String| {
        let found: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == *category).collect();
        match found[..] {
            [one] => Ok(columns[one].clone()),
            [] => Err(DesignError::Matrix(format!("there is no input labelled \"{category}\""))),
            _ => Err(DesignError::Matrix(format!("two inputs are labelled \"{category}\""))),
        }
    };
    categories.iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::Channel;

    fn schema() -> Schema {
        let toml = "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\", \"z\"]\n";
        Schema::from_toml(toml).unwrap()
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    fn probabilities(plan: &Plan) -> Vec<Vec<f64>> {
        let Channel::Matrix(matrix) = &plan.blocks()[0].channels()[0].1 else { unreachable!() };
        let column = |input| (0..matrix.labels().len()).map(|output| matrix.probability(output, input)).collect();
        (0..matrix.columns().len()).map(column).collect()
    }

    fn outputs(plan: &Plan) -> Vec<String> {
        let Channel::Matrix(matrix) = &plan.blocks()[0].channels()[0].1 else { unreachable!() };
        matrix.labels().to_vec()
    }

    const GOLDEN_A: &str = "0.7,0.2,0.1\n0.2,0.6,0.3\n0.1,0.2,0.6";

    #[test]
    fn columns_are_inputs() {
        let plan = matrix(&schema(), &cells(GOLDEN_A), None).unwrap();
        assert_eq!(outputs(&plan), ["x", "y", "z"]);
        let first = &probabilities(&plan)[0];
        assert!(first.iter().zip([0.7, 0.2, 0.1]).all(|(p, q)| (p - q).abs() < 1e-15));
        assert!((plan.guarantee().epsilon().as_f64() - 7f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn the_other_way_round_is_noticed_and_can_be_said() {
        let transposed = "0.7,0.2,0.1\n0.2,0.6,0.2\n0.1,0.3,0.6";
        let error = matrix(&schema(), &cells(transposed), None).unwrap_err().to_string();
        assert!(
            error.contains("its rows sum to 1, not its columns") && error.contains("`matrix_inputs rows`"),
            "{error}"
        );
        let plan = matrix(&schema(), &cells(transposed), Some(Inputs::Rows)).unwrap();
        assert_eq!(plan, matrix(&schema(), &cells(GOLDEN_A), None).unwrap());
        let error = matrix(&schema(), &cells(GOLDEN_A), Some(Inputs::Rows)).unwrap_err().to_string();
        assert!(error.contains("its rows do not sum to 1: row 2 sums to 1.1"), "{error}");
        // A circulant sums to 1 in both directions and is not symmetric.
        let circulant = "0.6,0.3,0.1\n0.1,0.6,0.3\n0.3,0.1,0.6";
        let error = matrix(&schema(), &cells(circulant), None).unwrap_err().to_string();
        assert!(error.contains("either way round"), "{error}");
        assert!(matrix(&schema(), &cells(circulant), Some(Inputs::Columns)).is_ok());
        let symmetric = "0.8,0.1,0.1\n0.1,0.8,0.1\n0.1,0.1,0.8";
        assert!(matrix(&schema(), &cells(symmetric), None).is_ok());
    }

    #[test]
    fn labels_fractions_and_more_outputs_than_inputs() {
        let text = ",z,x,y\nsays x,0,1/3,0\nsays y,0,0,1/3\nsays z,1/3,0,0\nsilent,2/3,2/3,2/3";
        let plan = matrix(&schema(), &cells(text), None).unwrap();
        assert_eq!(outputs(&plan), ["says x", "says y", "says z", "silent"]);
        assert!((probabilities(&plan)[0][0] - 1.0 / 3.0).abs() < 1e-15, "columns follow their labels");
        assert_eq!(plan.guarantee().epsilon().finite(), None);
        let numbers = Schema::with_sizes(&[2]).unwrap();
        let text = ",1,0\n10,0,1/3\n20,1/3,0\n30,2/3,2/3";
        let plan = matrix(&numbers, &cells(text), None).unwrap();
        assert_eq!(outputs(&plan), ["10", "20", "30"]);
        assert!((probabilities(&plan)[0][0] - 1.0 / 3.0).abs() < 1e-15);
        let unlabelled = "1/3,0,0\n0,1/3,0\n0,0,1/3\n2/3,2/3,2/3";
        assert_eq!(outputs(&matrix(&schema(), &cells(unlabelled), None).unwrap()), ["o1", "o2", "o3", "o4"]);
    }

    #[test]
    fn cross_classifications() {
        let schema = Schema::with_sizes(&[2, 2]).unwrap();
        let rows: Vec<String> =
            (0..4).map(|z| (0..4).map(|x| if x == z { "0.7" } else { "0.1" }).collect::<Vec<_>>().join(",")).collect();
        let plan = matrix(&schema, &cells(&rows.join("\n")), None).unwrap();
        assert_eq!(outputs(&plan), ["0*0", "0*1", "1*0", "1*1"]);
        assert_eq!(plan.columns()[0].name, "a1*a2");
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        let message = |text: &str| matrix(&schema(), &cells(text), None).unwrap_err().to_string();
        assert!(message("").contains("empty"));
        assert!(message("0.5,0.5\n0.5").contains("row 2 has 1 entries"));
        assert!(message("0.5,0.5,0.5\n0.5,half,0.5").contains("\"half\" in row 2, column 2"));
        assert!(message("0.5,0.5\n0.5,0.5").contains("2 columns, but there are 3 inputs"));
        assert!(message("0.5,0.5,0.4\n0.5,0.5,0.5").contains("column 3 sums to 0.9"));
        assert!(message("1.5,1,1\n-0.5,0,0").contains("not a probability"));
        assert!(message("x,y,w\n1,1,1").contains("\"w\" is not a category"));
        assert!(message("x,y,y\n1,1,1").contains("two inputs are labelled \"y\""));
        let huge = Schema::with_sizes(&[65_535, 65_535]).unwrap();
        assert!(matrix(&huge, &cells("1,0\n0,1"), None).unwrap_err().to_string().contains("combinations"));
        assert!(message("NaN,1,1\n0,0,0").contains("sum"));
    }
}
