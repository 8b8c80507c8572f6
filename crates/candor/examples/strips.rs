//! Prints a plan with every kind of answer, whose responses `.ci/sql` counts in databases.
//!
//! The kinds are sets of categories, single ones, cells of subset channels with and without other channels in their
//! block, outputs of a matrix, and a public attribute.

use candor_base::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};

fn attribute(name: &str, categories: &[&str]) -> Result<Attribute, Box<dyn std::error::Error>> {
    Ok(Attribute::new(name, categories.iter().copied())?)
}

fn strip(places: &[usize], categories: &[usize], cells: usize) -> Result<Channel, Box<dyn std::error::Error>> {
    Ok(Strip::within(places.to_vec(), categories.to_vec(), cells, 2.0)?.into())
}

/// Returns the plan.
pub fn plan() -> Result<Plan, Box<dyn std::error::Error>> {
    let schema = Schema::new(vec![
        attribute("smokes", &["no", "it's \"complicated\""])?,
        attribute("school", &["none", "some", "much"])?,
        attribute("region", &["north", "south"])?.public(),
        attribute("Größe", &["1", "2", "3", "4"])?,
        attribute("count", &["0", "1", "2"])?,
        attribute("party", &["left", "right"])?,
    ])?;
    let mixed = vec![
        (2, strip(&[0, 1], &[2, 3], 2)?),
        (1, Pattern::k_ary(vec![Axis::single(2), Axis::set(3, 2), Axis::single(4)], 2.0)?.into()),
        (1, strip(&[2], &[4], 1)?),
        (1, Pattern::k_ary(vec![Axis::single(2), Axis::single(3), Axis::set(4, 2)], 2.0)?.into()),
        (2, strip(&[1, 2], &[3, 4], 3)?),
    ];
    let single = strip(&[0], &[3], 1)?;
    let blocks =
        vec![Block::lottery(vec![0, 1, 3], mixed), Block::new(vec![4], single), Block::lottery(vec![5], matrices()?)];
    Ok(Plan::new(schema, blocks)?)
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", plan()?.to_json());
    Ok(())
}

/// Returns two matrices, of which one or both report a side.
fn matrices() -> Result<Vec<(u64, Channel)>, Box<dyn std::error::Error>> {
    let outputs = || ["left", "right", "no answer"].map(str::to_owned).to_vec();
    let matrix = |shares: [f64; 3]| {
        let [own, other, none] = shares;
        Matrix::rounded(vec![2], outputs(), &[vec![own, other, none], vec![other, own, none]])
    };
    Ok(vec![(1, matrix([0.6, 0.2, 0.2])?.into()), (2, matrix([0.5, 0.1, 0.4])?.into())])
}
