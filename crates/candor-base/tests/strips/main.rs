//! Strip channels: the set, its law by enumeration, what plans with strips guarantee, and how they are written.

#[path = "../strip_definition/mod.rs"]
mod strip_definition;

mod files;
mod law;
mod order;

use candor_base::channel::{Cells, Channel, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;

fn strip(places: &[usize], sizes: &[usize], cells: impl Into<Cells>, weights: [u64; 2]) -> Strip {
    Strip::new(places.to_vec(), sizes.to_vec(), cells, weights).unwrap()
}

/// A box with these sides.
fn sides(sides: &[usize]) -> Cells {
    Cells::Box(sides.to_vec())
}

fn ticket(weight: u64, channel: impl Into<Channel>) -> (u64, Channel) {
    (weight, channel.into())
}

fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
    Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
}
