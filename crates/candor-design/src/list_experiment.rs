//! List experiments (the item count technique): a sensitive question hidden in a count.
//!
//! Respondents report only how many items of a list apply to them. The control group counts `k` control items; the
//! treatment group counts the sensitive item as well, so it reports `k + z`. This is a lottery of two deterministic
//! matrices over `(z, k)`, which identify the joint distribution of both. The share of `z` is the difference of the
//! means.
//!
//! No randomization hides the answers, so epsilon is unbounded. In the treatment group, a count of nothing reveals
//! "no", and a count of everything reveals "yes" (docs/mathematics/list-experiments.md).

use candor_base::channel::Matrix;
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::outcome::DesignOutcome;
use crate::traits::{Design, parameters};
use crate::{DesignError, randomized_attributes};

/// Maximum number of control items.
pub const MAX_CONTROL_ITEMS: usize = 20;

/// Parameters of a list experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Number of control items on the list, 1 to 20.
    pub control_items: usize,
    /// Sizes of the control and the treatment group, or their ratio; equal by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_sizes: Option<Vec<u64>>,
}

impl ListRequest {
    /// Creates a request with this number of control items and two groups of equal size.
    pub fn new(control_items: usize) -> Self {
        ListRequest { control_items, group_sizes: None }
    }

    parameters! {
        /// Sets the sizes of the control and the treatment group, or their ratio.
        group_sizes(sizes: [u64; 2]): group_sizes = Some(sizes.to_vec());
    }
}

impl Design for ListRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let plan = self.plan(schema)?;
        let item = &plan.schema().attributes()[plan.blocks()[0].attributes()[0]];
        let [no, yes] = [0, 1].map(|code| item.categories()[code].as_str());
        let (name, all) = (item.name(), self.control_items + 1);
        let notes = vec![
            format!(
                "a list experiment has no epsilon: in the treatment group, a count of 0 reveals \"{no}\" of \"{name}\" \
                 and a count of {all} reveals \"{yes}\"; whoever knows how many control items apply to somebody \
                 reads the answer from any count; choose control items that nearly nobody has all or none of"
            ),
            format!("card A is the control group with {} items, card B the treatment group with {all}", all - 1),
        ];
        Ok(DesignOutcome { notes, ..plan.into() })
    }
}

impl ListRequest {
    fn plan(&self, schema: &Schema) -> Result<Plan, DesignError> {
        let private = randomized_attributes(schema)?;
        let [(item, categories)] = private[..] else {
            return Err(DesignError::ListExperiment(format!(
                "a list has one sensitive item, but the schema has {} attributes to randomize; make a plan for it by \
                 `only`, and join it with that of the others by candor combine",
                private.len()
            )));
        };
        let sensitive = &schema.attributes()[item];
        if categories != 2 {
            let message = format!("\"{}\" has {categories} categories; a sensitive item has two", sensitive.name());
            return Err(DesignError::ListExperiment(message));
        }
        if !(1..=MAX_CONTROL_ITEMS).contains(&self.control_items) {
            let message = format!("`control_items` must be 1 to {MAX_CONTROL_ITEMS}, not {}", self.control_items);
            return Err(DesignError::ListExperiment(message));
        }
        let weights = match self.group_sizes.as_deref() {
            None => [1, 1],
            Some(&[control, treatment]) if control > 0 && treatment > 0 => [control, treatment],
            Some(_) => {
                let message = "`group_sizes` must be two numbers above 0: those of the control and the treatment group";
                return Err(DesignError::ListExperiment(message.to_owned()));
            }
        };
        let mut attributes = schema.attributes().to_vec();
        let counts = (0..=self.control_items).map(|count| count.to_string());
        attributes.insert(item + 1, Attribute::new(format!("{}_controls", sensitive.name()), counts)?.ordinal());
        let lottery = [0, 1].map(|treated| self.matrix(treated)).into_iter().zip(weights);
        let lottery = lottery.map(|(matrix, weight)| Ok((weight, matrix?.into())));
        let block = Block::lottery(vec![item, item + 1], lottery.collect::<Result<_, DesignError>>()?);
        let origin = Origin { method: "list".to_owned(), requested: vec![None; 2] };
        Ok(Plan::new(Schema::new(attributes)?, vec![block])?.with_origin(origin))
    }

    /// Returns the channel of a group: it counts the control items, and the sensitive one as well if treated.
    fn matrix(&self, treated: usize) -> Result<Matrix, DesignError> {
        let (counts, answers) = (self.control_items + 1, self.control_items + 2);
        let column = |input: usize| {
            let counted = input % counts + treated * (input / counts);
            (0..answers).map(|answer| if answer == counted { CERTAIN } else { 0 }).collect()
        };
        let labels = (0..answers).map(|answer| answer.to_string()).collect();
        let columns = (0..2 * counts).map(column).collect();
        Ok(Matrix::with_total(vec![2, counts], labels, CERTAIN.into(), columns)?)
    }
}

/// The only non-zero entry of a column of a deterministic matrix: the smallest total that plans allow.
const CERTAIN: u64 = 2;
