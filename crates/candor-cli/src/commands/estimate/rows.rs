//! Estimates as rows for programs: CSV and Parquet.

use candor::estimate::Estimates;
use candor::rows::{asked, rows};
use candor_tables::estimates::EstimateRow;

use super::text::silent_tables;
use crate::show::remark;

/// Returns one row per number; tables without numbers are reported.
pub fn long_rows(estimates: &Estimates) -> Vec<EstimateRow> {
    match silent_tables(estimates) {
        Some(summary) => remark(&format!("note: {summary}")),
        None => {
            for one in &estimates.tables {
                let reason = one.reason.as_ref();
                let note = reason
                    .map(|reason| format!("note: {}: {reason}", asked(&one.attributes, &one.conditioning_attributes)));
                note.iter().for_each(|note| remark(note));
            }
        }
    }
    if estimates.numbers.iter().any(|one| !one.quantiles.is_empty()) {
        remark("note: quantiles are categories, which these columns do not hold; see the text, or --json");
    }
    rows(estimates)
}
