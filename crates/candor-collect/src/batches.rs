//! The public part of a survey's results: the responses of closed batches, and no others.
//!
//! Running totals would publish their differences: comparing a total of today with one after five more responses
//! reveals a batch of five. So a batch is published once, when it has enough new responses. With public attributes,
//! each of their groups in the batch must have enough, because a person is hidden only among people with the same
//! public values.
//!
//! If a response could close a batch, an adversary could fill the batch up to one other response. So batches are
//! checked once a day, after the day (UTC) has ended, and at the end of the survey. No response closes a batch.

use candor_base::plan::Plan;

use crate::tallies::{KeptRow, Tallies};

/// The joint counts of all closed batches.
#[derive(Clone, Debug)]
pub struct Published {
    /// The counts.
    pub tallies: Tallies,
    /// Number of batches.
    pub batches: u64,
    /// Number of responses in the smallest group of any batch.
    pub smallest: u64,
}

impl Published {
    /// Returns the state before the first batch.
    pub fn nothing(plan: &Plan) -> Published {
        Published { tallies: Tallies::new(plan), batches: 0, smallest: 0 }
    }

    /// Returns the next public state if the new responses suffice for another batch: at least `least` in each of their
    /// groups.
    pub fn next(&self, plan: &Plan, all: &Tallies, least: u64) -> Option<Published> {
        let (before, now) = (self.tallies.groups(plan), all.groups(plan));
        let new = now.iter().enumerate().map(|(group, now)| now - before.get(group).copied().unwrap_or(0));
        let smallest = new.filter(|&new| new > 0).min().filter(|&smallest| smallest >= least)?;
        let smallest = if self.batches == 0 { smallest } else { smallest.min(self.smallest) };
        Some(Published { tallies: all.clone(), batches: self.batches + 1, smallest })
    }

    /// Returns the numbers that are stored with the counts, as text.
    pub fn numbers(&self) -> String {
        format!("{} {} {}", self.tallies.responses(), self.batches, self.smallest)
    }

    /// Reads what was stored; `None` if it does not belong to this plan.
    pub fn from_rows(plan: &Plan, numbers: &str, rows: &[KeptRow]) -> Option<Published> {
        let numbers: Option<Vec<u64>> = numbers.split(' ').map(|number| number.parse().ok()).collect();
        let [responses, batches, smallest] = <[u64; 3]>::try_from(numbers?).ok()?;
        Some(Published { tallies: Tallies::from_rows(plan, responses, rows)?, batches, smallest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
        Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Adds the given number of responses from each region.
    fn add(plan: &Plan, tallies: &mut Tallies, north: usize, south: usize) {
        let labels = [plan.schema().attributes()[0].categories(), plan.schema().attributes()[1].categories()];
        let line = |region: usize| {
            let fingerprint = plan.fingerprint();
            let [regions, answers] = labels;
            format!(
                "{{\"candor_fingerprint\":\"{fingerprint}\",\"region\":\"{}\",\"answer\":\"{}\"}}",
                regions[region], answers[0]
            )
        };
        let lines: Vec<String> = [vec![line(0); north], vec![line(1); south]].concat();
        tallies.read(plan, &lines).unwrap();
    }

    #[test]
    fn a_batch_is_closed_when_every_group_in_it_is_large_enough() {
        let plan = plan();
        let (mut all, nothing) = (Tallies::new(&plan), Published::nothing(&plan));
        assert!(nothing.next(&plan, &all, 20).is_none());
        add(&plan, &mut all, 30, 19);
        assert!(nothing.next(&plan, &all, 20).is_none(), "the south is too small");
        add(&plan, &mut all, 0, 5);
        let first = nothing.next(&plan, &all, 20).unwrap();
        assert_eq!((first.batches, first.smallest, first.tallies.responses()), (1, 24, 54));
        assert!(first.next(&plan, &all, 20).is_none(), "nothing new");
        add(&plan, &mut all, 21, 0);
        let second = first.next(&plan, &all, 20).unwrap();
        assert_eq!(
            (second.batches, second.smallest, second.tallies.responses()),
            (2, 21, 75),
            "the north alone is one"
        );
        let back = Published::from_rows(&plan, &second.numbers(), &second.tallies.rows()).unwrap();
        assert_eq!((back.batches, back.smallest, back.tallies.responses()), (2, 21, 75));
        assert!(Published::from_rows(&plan, "75 2", &second.tallies.rows()).is_none());
    }
}
