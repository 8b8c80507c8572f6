//! Designs and certifies a plan for three attributes, with a record-level epsilon of at most 4.

use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(&[9, 16, 7])?;
    let request = Workload::new(4.0).tables("pairs").into();
    let design = design(&schema, &request, &DesignOptions::default())?;
    assert!(design.epsilon.certified <= Some(4.0));
    println!("{}", design.plan.to_json());
    Ok(())
}
