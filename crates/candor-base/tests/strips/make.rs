//! Short constructors of strips, boxes, lotteries and plans for tests.

use candor_base::channel::{Cells, Channel, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;

pub fn strip(places: &[usize], sizes: &[usize], cells: impl Into<Cells>, weights: [u64; 2]) -> Strip {
    Strip::new(places.to_vec(), sizes.to_vec(), cells, weights).unwrap()
}

/// Returns a box with these sides.
pub fn sides(sides: &[usize]) -> Cells {
    Cells::Box(sides.to_vec())
}

pub fn weighted(weight: u64, channel: impl Into<Channel>) -> (u64, Channel) {
    (weight, channel.into())
}

pub fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
    Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
}
