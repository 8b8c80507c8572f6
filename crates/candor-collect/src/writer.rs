//! The only writer: requests that wait at the same time share one commit.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor_tables::responses::ResponseBatch;
use sqlx::{Any, AnyConnection, Connection, Row, Transaction};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::batches::Published;
use crate::date::today;
use crate::log::{Level, log};
use crate::random::place;
use crate::store::{
    CountScope, Store, StoreError, find, keep, meta, put_waiting, set_meta, settle, settle_waiting, stay, waiting,
};
use crate::survey::Survey;
use crate::tallies::Tallies;
use crate::validation::{Admission, Outcome, Submission};
use crate::waiting::Waiting;

/// Maximum number of requests per commit.
const MAX_TOGETHER: usize = 1_000;

/// Maximum number of waiting requests; further ones are asked to retry.
const MAX_WAITING: usize = 4_000;

/// Maximum time by which counts in memory are ahead of the database, and minimum time between truncations of SQLite's
/// log.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// Metadata name of the day on which public batches were last checked, and its value once the survey has ended.
const LOOKED: &str = "public day";
const ENDED: &str = "ended";

/// The state of a survey.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The counts.
    pub tallies: Tallies,
    /// The number of responses by day.
    pub days: Vec<(String, u64)>,
    /// Whether the survey is closed.
    pub closed: bool,
    /// Number of responses that wait for their batch.
    pub waiting: u64,
}

enum Message {
    Submit(Submission, oneshot::Sender<Result<Outcome, String>>),
    Snapshot(oneshot::Sender<Result<Snapshot, String>>),
}

/// Handle by which the rest of the server talks to the writer.
#[derive(Clone)]
pub struct WriterHandle {
    messages: mpsc::Sender<Message>,
    published: watch::Receiver<Arc<Published>>,
}

/// Reasons why a submission has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// Too many requests wait, or the server is stopping.
    #[error("too many answers at once, or the server is stopping; nothing was stored")]
    Busy,
    /// The database failed.
    #[error("the response may not have been stored ({0}); sending it again is safe")]
    Failed(String),
}

impl WriterHandle {
    /// Stores a response; on return it is on disk.
    ///
    /// # Errors
    /// Returns an error if the response may not be stored.
    pub async fn submit(&self, submission: Submission) -> Result<Outcome, DeskError> {
        let (answer, outcome) = oneshot::channel();
        self.messages.try_send(Message::Submit(submission, answer)).map_err(|_| DeskError::Busy)?;
        outcome.await.map_err(|_| DeskError::Busy)?.map_err(DeskError::Failed)
    }

    /// Returns whether the writer is running.
    pub fn is_writing(&self) -> bool {
        !self.messages.is_closed()
    }

    /// Returns the public results.
    pub fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.borrow())
    }

    /// Returns the state of the survey, including all acknowledged responses.
    ///
    /// # Errors
    /// Returns an error if the state is not available.
    pub async fn snapshot(&self) -> Result<Snapshot, DeskError> {
        let (answer, state) = oneshot::channel();
        self.messages.send(Message::Snapshot(answer)).await.map_err(|_| DeskError::Busy)?;
        state.await.map_err(|_| DeskError::Busy)?.map_err(DeskError::Failed)
    }
}

/// The only task that writes to the database.
pub struct Writer {
    survey: Arc<Survey>,
    store: Store,
    server: String,
    inbox: mpsc::Receiver<Message>,
    tallies: Tallies,
    published: watch::Sender<Arc<Published>>,
    /// Stored responses that are not counted yet.
    uncounted: ResponseBatch,
    /// Pending maintenance: how many submissions wait, whether SQLite's log must be truncated, and whether a closed
    /// survey is finished.
    chores: Chores,
    /// Day on which public batches were last checked, as far as this server knows.
    looked: Option<String>,
    /// When counts were last stored, and of how many responses.
    kept: (Instant, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Chores {
    waiting: usize,
    log: bool,
    done: bool,
    /// Whether another server has taken over, so that this one must stop.
    deposed: bool,
}

impl Writer {
    /// Takes over a survey's database and counts the responses that are not counted yet.
    ///
    /// # Errors
    /// Returns an error if the database is not available, or damaged.
    pub async fn start(survey: Arc<Survey>, store: Store) -> Result<(WriterHandle, Writer), StoreError> {
        let server = store.take_over().await?;
        let (tallies, waiting) = counted(&survey, &store).await?;
        let (numbers, rows) = store.kept(CountScope::Public).await?;
        let published = match numbers {
            None => Published::nothing(&survey.plan),
            Some(numbers) => Published::from_rows(&survey.plan, &numbers, &rows)
                .ok_or_else(|| StoreError::Damaged("public counts of another plan".to_owned()))?,
        };
        let (messages, inbox) = mpsc::channel(MAX_WAITING);
        let (published, shown) = watch::channel(Arc::new(published));
        let kept = (Instant::now(), 0);
        let (uncounted, chores) = (ResponseBatch::none(&survey.plan), Chores { waiting, ..Chores::default() });
        let writer = Writer { survey, store, server, inbox, tallies, published, uncounted, chores, kept, looked: None };
        Ok((WriterHandle { messages, published: shown }, writer))
    }

    /// Writes until all handles are dropped, then stores the counts.
    ///
    /// # Errors
    /// Returns an error if the counts cannot be stored; every acknowledged response is stored in any case.
    pub async fn run(mut self) -> Result<(), StoreError> {
        self.tidy().await;
        loop {
            let first = match timeout(KEEP_EVERY, self.inbox.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(_) => {
                    self.tidy().await;
                    if self.chores.deposed {
                        return Err(StoreError::TakenOver);
                    }
                    continue;
                }
            };
            self.serve(first).await;
            if self.chores.deposed {
                return Err(StoreError::TakenOver);
            }
            if self.chores.waiting >= self.survey.wording.batch
                && let Err(error) = self.settle().await
            {
                log(Level::Warn, &format!("a batch is not settled yet: {error}"));
            }
            if self.kept.0.elapsed() > KEEP_EVERY {
                self.tidy().await;
            }
        }
        self.keep().await?;
        self.store.end().await;
        Ok(())
    }

    /// Handles a message together with the submissions that wait behind it.
    async fn serve(&mut self, first: Message) {
        let (mut submissions, mut answers, mut askers) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Submit(submission, answer) => {
                    submissions.push(submission);
                    answers.push(answer);
                }
                Message::Snapshot(asker) => askers.push(asker),
            }
            next = if submissions.len() < MAX_TOGETHER { self.inbox.try_recv().ok() } else { None };
        }
        if !submissions.is_empty() {
            match self.store_all(&submissions).await {
                Ok(outcomes) => {
                    answers.into_iter().zip(outcomes).for_each(|(answer, outcome)| drop(answer.send(Ok(outcome))))
                }
                Err(error) => {
                    log(Level::Error, &format!("nothing stored of {} requests: {error}", answers.len()));
                    answers.into_iter().for_each(|answer| drop(answer.send(Err(error.to_string()))));
                }
            }
        }
        for asker in askers {
            let snapshot = self.snapshot().await.map_err(|error| error.to_string());
            drop(asker.send(snapshot));
        }
    }

    /// Stores the admitted new submissions; on return they are on disk.
    async fn store_all(&mut self, submissions: &[Submission]) -> Result<Vec<Outcome>, StoreError> {
        let mut connection = self.store.connection().await?;
        let stored = self.store_with(&mut connection, submissions).await;
        if let Err(error) = &stored {
            self.chores.deposed |= matches!(error, StoreError::TakenOver);
            drop(connection.detach());
        }
        stored
    }

    async fn store_with(
        &mut self,
        connection: &mut AnyConnection,
        submissions: &[Submission],
    ) -> Result<Vec<Outcome>, StoreError> {
        let mut hold = self.store.hold()?;
        let mut transaction = connection.begin().await?;
        stay(&mut transaction, &self.server).await?;
        let before = waiting(&mut transaction, &hold).await?;
        let day = today();
        let survey = Arc::clone(&self.survey);
        let mut admission = self.admission(&survey, &mut transaction, &day, submissions, &before).await?;
        let outcomes: Vec<Outcome> = submissions.iter().map(|submission| admission.decide(submission)).collect();
        let new = submissions.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == Outcome::Stored);
        let new: Vec<&Submission> = new.map(|(submission, _)| submission).collect();
        if !new.is_empty() {
            let waits = self.with(before.clone(), &new, &day);
            // A batch of new responses is settled at once, but not together with waiting ones: the last version of the
            // waiting set would then separate the two.
            if before.is_empty() && waits.len() >= self.survey.wording.batch {
                settle(&mut transaction, &waits).await?;
                self.chores.log = true;
                transaction.commit().await?;
            } else {
                put_waiting(&mut transaction, &mut hold, &waits).await?;
                transaction.commit().await?;
                hold.commit()?;
                self.chores.waiting = waits.len();
            }
            let responses = new.iter().filter_map(|new| new.response.as_ref());
            responses.for_each(|response| self.uncounted.append(&response.codes));
        }
        Ok(outcomes)
    }

    /// Returns the waiting set with these submissions added.
    fn with(&self, mut waits: Waiting, new: &[&Submission], day: &str) -> Waiting {
        for Submission { id, invitation, response, .. } in new {
            waits.ids.insert(id.clone());
            waits.invitations.extend(invitation.clone().filter(|_| self.survey.wording.invitations));
            if let Some(response) = response {
                waits.responses.insert(place(), response.line.clone());
                *waits.days.entry(day.to_owned()).or_default() += 1;
            }
        }
        waits
    }

    /// Settles everything that waits, and stores the counts with it.
    async fn settle(&mut self) -> Result<(), StoreError> {
        self.count();
        let mut connection = self.store.connection().await?;
        let settled = self.keep_with(&mut connection, true).await;
        if let Err(error) = &settled {
            self.chores.deposed |= matches!(error, StoreError::TakenOver);
            drop(connection.detach());
        }
        settled
    }

    /// Does the periodic maintenance: stores counts, truncates SQLite's log, and settles the rest of a closed survey.
    async fn tidy(&mut self) {
        match self.store.is_served_by(&self.server).await {
            Ok(false) => self.chores.deposed = true,
            _ => self.keep_if_due().await,
        }
        if self.chores.deposed {
            return;
        }
        if let Err(error) = self.publish(false).await {
            log(Level::Warn, &format!("public results are not brought up to date yet: {error}"));
        }
        if let Err(error) = self.finish_if_closed().await {
            log(Level::Warn, &format!("not everything of the closed survey is settled yet: {error}"));
        }
        if self.chores.log {
            match self.store.truncate_log().await {
                Ok(()) => self.chores.log = false,
                Err(error) => log(Level::Warn, &format!("the log of the database is not emptied yet: {error}")),
            }
        }
    }

    async fn finish_if_closed(&mut self) -> Result<(), StoreError> {
        let over = self.survey.wording.closes.as_ref().is_some_and(|last| today() > *last);
        if self.chores.done || !(over || self.store.is_closed().await?) {
            return Ok(());
        }
        self.settle().await?;
        self.publish(true).await?;
        self.store.forget().await?;
        self.chores = Chores { done: true, ..Chores::default() };
        Ok(())
    }

    /// Loads the state that deciding about these submissions requires.
    async fn admission<'a>(
        &mut self,
        survey: &'a Survey,
        transaction: &mut Transaction<'_, Any>,
        day: &'a str,
        submissions: &[Submission],
        waits: &Waiting,
    ) -> Result<Admission<'a>, StoreError> {
        let wording = &survey.wording;
        let over = wording.closes.as_ref().is_some_and(|last| day > last.as_str());
        let closed = over || meta(transaction, "closed").await?.is_some();
        let ids: Vec<&str> = submissions.iter().map(|submission| submission.id.as_str()).collect();
        let spent = find(transaction, "SELECT hash FROM spent", &ids).await?;
        let codes: Vec<&str> = submissions.iter().filter_map(|submission| submission.invitation.as_deref()).collect();
        let invited = find(transaction, "SELECT hash, used FROM invitations", &codes).await?;
        let used = invited.iter().filter(|row| row.get::<i64, _>(1) != 0);
        Ok(Admission {
            wording,
            closed,
            day,
            spent: spent.iter().map(|row| row.get(0)).chain(waits.ids.iter().cloned()).collect(),
            known: invited.iter().map(|row| row.get(0)).collect(),
            used: used.map(|row| row.get(0)).chain(waits.invitations.iter().cloned()).collect(),
            room: wording.quota.map_or(u64::MAX, |quota| quota.saturating_sub(self.stored())),
            group_room: self.group_room(),
        })
    }

    /// Returns the number of further responses of each group with a quota.
    fn group_room(&mut self) -> HashMap<(String, String), u64> {
        let survey = Arc::clone(&self.survey);
        let mut room = HashMap::new();
        if !survey.wording.quotas.is_empty() {
            self.count();
        }
        for (name, quotas) in &survey.wording.quotas {
            let Ok(position) = survey.plan.schema().position(name) else { continue };
            let stored = self.tallies.categories(position);
            let labels = survey.plan.schema().attributes()[position].categories();
            for (label, quota) in quotas {
                let code = labels.iter().position(|known| known == label);
                let stored = code.and_then(|code| stored.get(code)).copied().unwrap_or(0);
                room.insert((name.clone(), label.clone()), quota.saturating_sub(stored));
            }
        }
        room
    }

    /// Returns the number of stored responses.
    fn stored(&self) -> u64 {
        self.tallies.responses() + self.uncounted.rows as u64
    }

    fn count(&mut self) {
        let plan = &self.survey.plan;
        self.tallies.add(plan, &std::mem::replace(&mut self.uncounted, ResponseBatch::none(plan)));
    }

    async fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        self.count();
        let over = self.survey.wording.closes.as_ref().is_some_and(|last| today() > *last);
        let closed = over || self.store.is_closed().await?;
        let mut days: BTreeMap<String, u64> = self.store.days().await?.into_iter().collect();
        let waits = self.store.waiting().await?;
        let waiting = waits.responses.len() as u64;
        for (day, responses) in waits.days {
            *days.entry(day).or_default() += responses;
        }
        Ok(Snapshot { tallies: self.tallies.clone(), days: days.into_iter().collect(), closed, waiting })
    }

    async fn keep_if_due(&mut self) {
        if self.stored() != self.kept.1
            && let Err(error) = self.keep().await
        {
            log(Level::Warn, &format!("counts are not kept yet: {error}"));
        }
        self.kept.0 = Instant::now();
    }

    /// Stores the counts if nothing waits, so that they are counts of settled responses.
    async fn keep(&mut self) -> Result<(), StoreError> {
        self.count();
        let mut connection = self.store.connection().await?;
        let kept = self.keep_with(&mut connection, false).await;
        if let Err(error) = &kept {
            self.chores.deposed |= matches!(error, StoreError::TakenOver);
            drop(connection.detach());
        }
        kept
    }

    async fn keep_with(&mut self, connection: &mut AnyConnection, settling: bool) -> Result<(), StoreError> {
        let hold = self.store.hold()?;
        let mut transaction = connection.begin().await?;
        stay(&mut transaction, &self.server).await?;
        if settling {
            settle_waiting(&mut transaction, &hold).await?;
        } else if !waiting(&mut transaction, &hold).await?.is_empty() {
            return Ok(transaction.rollback().await?);
        }
        keep(&mut transaction, CountScope::All, &self.tallies.responses().to_string(), self.tallies.rows()).await?;
        transaction.commit().await?;
        self.kept = (Instant::now(), self.tallies.responses());
        self.chores = Chores { waiting: 0, log: true, ..self.chores };
        Ok(())
    }

    /// Closes a public batch if there are enough responses, and the day has changed since the last check or the survey
    /// has ended.
    async fn publish(&mut self, ended: bool) -> Result<(), StoreError> {
        let Some(least) = self.survey.wording.public_results else { return Ok(()) };
        let day = if ended { ENDED.to_owned() } else { today() };
        if self.looked.as_ref() == Some(&day) || self.looked.as_deref() == Some(ENDED) {
            return Ok(());
        }
        self.count();
        let next = self.published.borrow().next(&self.survey.plan, &self.tallies, least);
        let mut transaction = self.store.begin().await?;
        stay(&mut transaction, &self.server).await?;
        // The first day is not over yet.
        let before = meta(&mut transaction, LOOKED).await?;
        let due = ended || before.as_ref().is_some_and(|before| *before != day);
        let next = next.filter(|_| due && before.as_deref() != Some(ENDED));
        set_meta(&mut transaction, LOOKED, &day).await?;
        if let Some(next) = &next {
            keep(&mut transaction, CountScope::Public, &next.numbers(), next.tallies.rows()).await?;
        }
        transaction.commit().await?;
        self.looked = Some(day);
        // A batch is shown only after it is stored, because it must never be drawn again.
        if let Some(next) = next {
            self.published.send_replace(Arc::new(next));
        }
        Ok(())
    }
}

/// Returns the counts of all responses, and the number of waiting submissions. Counts of settled responses are the
/// stored ones, or are made again if a server was killed before it stored them.
async fn counted(survey: &Survey, store: &Store) -> Result<(Tallies, usize), StoreError> {
    let mut tallies = settled(survey, store).await?;
    let waits = store.waiting().await?;
    let lines: Vec<String> = waits.responses.values().cloned().collect();
    tallies.read(&survey.plan, &lines).map_err(|error| StoreError::Damaged(error.to_string()))?;
    Ok((tallies, waits.len()))
}

async fn settled(survey: &Survey, store: &Store) -> Result<Tallies, StoreError> {
    let stored = store.responses().await?;
    let (numbers, rows) = store.kept(CountScope::All).await?;
    let kept = numbers.and_then(|numbers| numbers.parse().ok()).unwrap_or(0);
    if kept == stored
        && let Some(tallies) = Tallies::from_rows(&survey.plan, kept, &rows)
    {
        return Ok(tallies);
    }
    let mut tallies = Tallies::new(&survey.plan);
    let mut after = 0;
    loop {
        let page = store.page(after, 20_000).await?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        let lines: Vec<String> = page.into_iter().map(|(_, line)| line).collect();
        tallies.read(&survey.plan, &lines).map_err(|error| StoreError::Damaged(error.to_string()))?;
    }
    match tallies.responses() == stored {
        true => Ok(tallies),
        false => Err(StoreError::Damaged(format!("{} responses, but {stored} by day", tallies.responses()))),
    }
}
