//! Detects a response that occurs more often than in any population: some of them may be invented.
//!
//! The database is asked for the most frequent responses in the background, and again only once their total has grown
//! by a twentieth, so the cost stays small.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_analysis::repeats::Repeats;
use candor_tables::responses::{ResponseBatch, ResponseReader};

use crate::log::{Level, log};
use crate::store::{Store, StoreError};
use crate::survey::Survey;
use crate::writer::Snapshot;

/// Number of the most frequent responses that are tested.
const MAX_JUDGED: i64 = 100;

/// Maximum time that a page waits for the database; then it shows the previous result.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known about identical responses.
#[derive(Debug, Default)]
pub struct Repeated(Mutex<Known>);

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Number of settled responses at that time.
    of: u64,
    /// Count of the most suspicious response, if no population explains it.
    times: Option<u64>,
    /// Whether a query is running.
    asking: bool,
}

impl Repeated {
    /// Returns the count of a response that occurs more often than in any population, if there is one.
    pub async fn times(self: &Arc<Self>, survey: &Arc<Survey>, store: &Store, snapshot: &Snapshot) -> Option<u64> {
        let settled = snapshot.tallies.responses().saturating_sub(snapshot.waiting);
        let due = {
            let mut known = self.known();
            let due = !known.asking && settled > known.of + known.of / 20;
            known.asking |= due;
            due
        };
        if due {
            let (repeated, survey, store) = (Arc::clone(self), Arc::clone(survey), store.clone());
            let asking = tokio::spawn(async move {
                let found = most_repeated(&survey, &store, settled).await;
                let mut known = repeated.known();
                known.asking = false;
                match found {
                    Ok(times) => (known.of, known.times) = (settled, times),
                    Err(error) => log(Level::Warn, &format!("identical responses are not counted yet: {error}")),
                }
            });
            drop(tokio::time::timeout(PATIENCE, asking).await);
        }
        self.known().times
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn most_repeated(survey: &Survey, store: &Store, settled: u64) -> Result<Option<u64>, StoreError> {
    let found = store.most_repeated(MAX_JUDGED).await?;
    let (reader, mut batch) = (ResponseReader::new(&survey.plan), ResponseBatch::none(&survey.plan));
    for (line, _) in &found {
        let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged(error.to_string());
        let fields = serde_json::from_str(line).map_err(|error| damaged(&error))?;
        batch.append(&reader.read(fields).map_err(|error| damaged(&error))?);
    }
    let times: Vec<u64> = found.into_iter().map(|(_, times)| times).collect();
    let others = settled.saturating_sub(times.iter().sum());
    Ok(Repeats::of_counts(&batch.columns, &times, others).unlikely(&survey.plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::place;
    use crate::store::settle;
    use crate::waiting::Waiting;
    use candor_base::randomize::Client;
    use candor_base::randomness::Source;

    /// The counts of the database reach the page.
    #[tokio::test]
    async fn identical_responses_in_the_database_are_found() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/sets.json");
        let folder = tempfile::tempdir().unwrap();
        let (survey, _) = Survey::create(&folder.path().join("survey"), std::path::Path::new(path)).unwrap();
        let survey = Arc::new(survey);
        let file = survey.folder.join("responses.sqlite").display().to_string();
        let store = Store::open(&file, survey.plan.fingerprint().as_str(), 1).await.unwrap();
        let plan = &survey.plan;
        let honest = crate::simulate::responses(plan, &Client::new(plan), &mut Source::from_seed(3).stream(0), 2_000);
        let repeated = Arc::new(Repeated::default());
        let mut tallies = crate::tallies::Tallies::new(plan);
        for (more, expected) in [(honest.clone(), None), (vec![honest[0].clone(); 1_500], Some(()))] {
            let mut waits = Waiting::default();
            waits.responses.extend(more.iter().map(|line| (place(), line.clone())));
            waits.ids.insert(format!("{expected:?}"));
            let mut transaction = store.begin().await.unwrap();
            settle(&mut transaction, &waits).await.unwrap();
            transaction.commit().await.unwrap();
            tallies.read(plan, &more).unwrap();
            let snapshot = Snapshot { tallies: tallies.clone(), days: Vec::new(), closed: false, waiting: 0 };
            let times = repeated.times(&survey, &store, &snapshot).await;
            assert_eq!(times.is_some(), expected.is_some(), "{times:?}");
            assert!(times.is_none_or(|times| times >= 1_500));
        }
        store.end().await;
    }
}
