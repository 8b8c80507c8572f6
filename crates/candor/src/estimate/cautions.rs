//! Warnings and notes about estimates.

use candor_base::plan::Plan;

use super::Estimates;
use crate::compliance::{ComplianceOptions, asked_by_device};
use crate::format::count;
use crate::invented::people_in_words;

/// Condition number above which a note is printed.
pub(crate) const ILL_CONDITIONED: f64 = 1e3;

impl Estimates {
    /// Describes whether people complied with the device; empty for plans without a device.
    pub fn compliance_sentences(&self, plan: &Plan) -> Vec<String> {
        if !asked_by_device(plan) {
            return Vec::new();
        }
        let alpha = ComplianceOptions::default().alpha;
        self.compliance.iter().map(|one| one.test.sentence(&one.attribute, alpha)).collect()
    }

    /// Returns warnings and notes about the tables, which begin with `warning:` or `note:`.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        if self.tables.iter().any(|table| table.implausible) {
            cautions.push(
                "warning: these responses can hardly have come from this plan (chance below one in a million): wrong \
                 plan, wrong file, or answers edited"
                    .to_owned(),
            );
        }
        if self.unlikely_channels.is_some() {
            cautions.push(
                "warning: the channels of these responses are not as frequent as the plan draws them (chance below \
                 one in a million): some responses may be invented"
                    .to_owned(),
            );
        }
        cautions.extend(self.repeated_response.map(|times| {
            format!(
                "warning: {} responses are identical, more than any population would give (chance below one in a \
                 million): some responses may be invented",
                count(times)
            )
        }));
        cautions.extend(self.people_per_response.map(|people| format!("note: {}", people_in_words(people))));
        let condition = self.tables.iter().filter_map(|table| table.condition).fold(0.0, f64::max);
        if condition > ILL_CONDITIONED {
            cautions.push(format!(
                "note: a matrix of the plan has condition number {condition:.1e}: errors of the answers' shares may \
                 grow by as much, and standard errors will be large"
            ));
        }
        cautions
    }
}
