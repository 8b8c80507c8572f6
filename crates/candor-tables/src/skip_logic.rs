//! Checks records against the skip logic of a schema.

use candor_analysis::structural_zeros::{SkipViolation, rules};
use candor_base::schema::Schema;

use crate::error::InvalidValue;
use crate::input::Batch;

/// Sets the code "(not asked)" where a question was not asked, and reports rows that violate a condition to `bad`.
pub(crate) fn unsettled(batch: &Batch, schema: &Schema, codes: &mut [Vec<u16>], mut bad: impl FnMut(InvalidValue)) {
    for rule in rules(schema) {
        let attribute = &schema.attributes()[rule.attribute];
        let mut own = std::mem::take(&mut codes[rule.attribute]);
        for (index, (own, other)) in own.iter_mut().zip(&codes[rule.other]).enumerate() {
            match rule.settled(*other, *own) {
                Ok(code) => *own = code,
                Err(breach) => {
                    let value = match breach {
                        SkipViolation::Answered => attribute.categories()[usize::from(*own)].clone(),
                        SkipViolation::Unanswered => String::new(),
                    };
                    let (file, row) = (batch.file.clone(), batch.before + index as u64 + 1);
                    let hint = rule.hint(schema, breach);
                    bad(InvalidValue { file, row, column: attribute.name().to_owned(), value, hint });
                }
            }
        }
        codes[rule.attribute] = own;
    }
}
