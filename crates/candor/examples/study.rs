//! Runs a complete study in memory: compare methods, design, inform respondents, randomize, estimate, test, report.

use std::sync::Arc;

use candor::arrow_array::{ArrayRef, RecordBatch, StringArray};
use candor::prelude::*;
use candor::report::tables;

const SCHEMA: &str = r#"
[[attribute]]
name = "smokes"
categories = ["no", "yes"]

[[attribute]]
name = "school"
kind = "ordinal"
categories = ["none", "some", "much"]
"#;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before data collection: which method, at which cost?
    let schema = Schema::from_toml(SCHEMA)?;
    let compared = compare(&schema, 3.0, &CompareOptions::default(), ProgressSink::none())?;
    let request = compared.best().and_then(|best| best.request.clone()).ok_or("no method can answer")?;
    let plan = design(&schema, &request, &DesignOptions::default())?.plan;
    println!("{}\n{}", compared.recommended.unwrap_or("none"), explain(&plan, &Language::default()).page.text());

    // The respondents, who randomize on their own; nobody with much school smokes.
    let column = |value: fn(usize) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..6000).map(value)))
    };
    let smokes = column(|i| if i % 3 < 2 && i % 2 == 0 { "yes" } else { "no" });
    let school = column(|i| ["none", "some", "much"][i % 3]);
    let people = RecordBatch::try_from_iter([("smokes", smokes), ("school", school)])?;
    let people = Input::from_batches("people", people.schema(), [Ok(people)])?;
    let responses = randomize_reader(&plan, people.into(), &[], Source::from_os()?)?;

    // The analyst, who has the plan and the responses.
    let (asked, numbers) =
        (TableQuery::parse("smokes;school;smokes,school", &schema, false, None)?, MomentQuery::default());
    let responses = Input::from_record_batches("responses", responses)?;
    let counted = tables(&plan, &asked, &numbers)?;
    let counts = Counts::read(&plan, responses.into(), &counted, CountOptions::default(), ProgressSink::none())?;
    let found = test(&plan, &counts, [0, 1], 0.95)?;
    println!("Cramér's V {:.2}, p-value {:.1e}", found.cramers_v, found.p_value);
    let report = report(&plan, &counts, &asked, &numbers, &ReportOptions::default(), ProgressSink::none())?;
    assert!(report.page.html().starts_with("<!DOCTYPE html>"));
    Ok(())
}
