//! The trade-off of a study, computed in the background: first the requested position, then the other stops of the
//! slider, then the cost of each question.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use candor::trade_off::{MARGIN_LIMITS, Position, QuestionCost, STOPS, TradeOffOptions, cost, position};
use candor_base::schema::Schema;
use candor_runtime::progress::{Progress, ProgressSink};
use serde_json::{Value, json};

/// Maximum time that a request waits for its position.
const PATIENCE: Duration = Duration::from_millis(150);

/// The trade-off of one schema, table list and number of respondents. Dropping it stops the work.
pub struct Curve {
    shared: Arc<Shared>,
}

struct Shared {
    schema: Schema,
    options: TradeOffOptions,
    known: Mutex<Known>,
    changed: Condvar,
    ended: AtomicBool,
}

#[derive(Default)]
struct Known {
    wanted: f64,
    positions: Vec<(f64, Result<Position, String>)>,
    costs: BTreeMap<String, QuestionCost>,
    costs_at: f64,
    done: bool,
}

impl Known {
    fn has(&self, epsilon: f64) -> bool {
        self.positions.iter().any(|(known, _)| *known == epsilon)
    }

    fn at(&self, epsilon: f64) -> Option<&Position> {
        let found = self.positions.iter().find(|(known, _)| *known == epsilon);
        found.and_then(|(_, position)| position.as_ref().ok())
    }
}

/// The next thing to compute.
enum Next {
    Position(f64),
    Cost(Box<Position>, String),
    Wait,
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the requested position, then the nearest missing stop, then the missing costs of questions.
    fn next(&self) -> Next {
        let mut known = self.known();
        if !known.has(known.wanted) {
            return Next::Position(known.wanted);
        }
        let far = |stop: &f64| (stop / known.wanted).ln().abs();
        let open = STOPS.into_iter().filter(|stop| !known.has(*stop)).min_by(|a, b| far(a).total_cmp(&far(b)));
        if let Some(stop) = open {
            return Next::Position(stop);
        }
        if known.costs_at != known.wanted {
            (known.costs, known.costs_at) = (BTreeMap::new(), known.wanted);
        }
        let position = known.at(known.wanted).cloned();
        let name = position.as_ref().and_then(|position| {
            position.guessing.iter().map(|one| &one.name).find(|name| !known.costs.contains_key(*name)).cloned()
        });
        // The last protected question cannot be made public, because nothing would be left to protect.
        let only = position.as_ref().is_some_and(|position| position.guessing.len() < 2);
        known.done = only || name.is_none();
        match (position, name) {
            (Some(position), Some(name)) if !only => Next::Cost(Box::new(position), name),
            _ => Next::Wait,
        }
    }

    /// Returns whether a request waits for another position than the one being computed.
    fn is_overtaken(&self, epsilon: f64) -> bool {
        let known = self.known();
        known.wanted != epsilon && !known.has(known.wanted)
    }

    fn work(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            match self.next() {
                Next::Position(epsilon) => self.compute(epsilon),
                Next::Cost(position, name) => self.compute_cost(&position, name),
                Next::Wait => {
                    let waits = |known: &mut Known| known.done && !self.ended.load(Ordering::Relaxed);
                    drop(self.changed.wait_while(self.known(), waits));
                }
            }
        }
    }

    fn compute(&self, epsilon: f64) {
        let ended = || self.ended.load(Ordering::Relaxed);
        let goes_on = |_: &Progress| !ended() && !self.is_overtaken(epsilon);
        let found = position(&self.schema, epsilon, &self.options, ProgressSink::new(&goes_on));
        let overtaken = ended() || self.is_overtaken(epsilon);
        // Work that was interrupted for another position is repeated later.
        if overtaken && found.as_ref().map_or(true, |(_, design)| design.interrupted) {
            return;
        }
        let mut known = self.known();
        known.positions.push((epsilon, found.map(|(position, _)| position).map_err(|error| error.to_string())));
        self.changed.notify_all();
    }

    fn compute_cost(&self, position: &Position, name: String) {
        let goes_on = |_: &Progress| !self.ended.load(Ordering::Relaxed) && self.known().wanted == position.epsilon;
        let found = cost(&self.schema, &name, position, &self.options, ProgressSink::new(&goes_on));
        let mut known = self.known();
        if let Ok(found) = found
            && known.costs_at == position.epsilon
            && known.wanted == position.epsilon
        {
            known.costs.insert(name, found);
        } else if known.wanted == position.epsilon {
            // The cost cannot be computed: record it as unknown, so that it is not tried again.
            known.costs.insert(name.clone(), unknown_cost(&name, position));
        }
        self.changed.notify_all();
    }
}

/// Returns the entry of a question whose cost cannot be computed.
fn unknown_cost(name: &str, position: &Position) -> QuestionCost {
    let mut cost = QuestionCost::default();
    (cost.name, cost.typical) = (name.to_owned(), position.typical);
    cost
}

impl Curve {
    /// Starts computing, at this epsilon first.
    pub fn start(schema: Schema, options: TradeOffOptions, epsilon: f64) -> Curve {
        let known = Mutex::new(Known { wanted: epsilon, ..Known::default() });
        let (changed, ended) = (Condvar::new(), AtomicBool::new(false));
        let shared = Arc::new(Shared { schema, options, known, changed, ended });
        let worker = Arc::clone(&shared);
        thread::spawn(move || worker.work());
        Curve { shared }
    }

    /// Returns whether this is the trade-off of the given schema and options.
    pub fn is_of(&self, schema: &Schema, options: &TradeOffOptions) -> bool {
        self.shared.schema == *schema && self.shared.options == *options
    }

    /// Returns what is known, after a short wait for the position at this epsilon.
    pub fn look(&self, epsilon: f64) -> Value {
        let mut known = self.shared.known();
        if known.wanted != epsilon {
            (known.wanted, known.done) = (epsilon, false);
            self.shared.changed.notify_all();
        }
        if !known.has(epsilon) {
            let waited = self.shared.changed.wait_timeout_while(known, PATIENCE, |known| !known.has(epsilon));
            known = waited.map_or_else(|error| error.into_inner().0, |(known, _)| known);
        }
        let positions: Vec<&Position> = known.positions.iter().filter_map(|(_, one)| one.as_ref().ok()).collect();
        let problem = known.positions.iter().find_map(|(at, one)| one.as_ref().err().filter(|_| *at == epsilon));
        let costs: Vec<&QuestionCost> = known.costs.values().filter(|_| known.costs_at == epsilon).collect();
        json!({
            "stops": STOPS,
            "limits": MARGIN_LIMITS,
            "epsilon": epsilon,
            "positions": positions,
            "costs": costs,
            "problem": problem.map(|problem| problem.replace('`', "")),
            "busy": !known.done,
        })
    }
}

impl Drop for Curve {
    fn drop(&mut self) {
        // Under the lock, so that the worker does not miss it.
        let _known = self.shared.known();
        self.shared.ended.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn curve_fills_behind_the_page_and_follows_the_slider() {
        let schema = Schema::with_sizes(&[2, 3, 2]).unwrap();
        let options = TradeOffOptions::new(5000.0, "a1,a2;a3");
        let curve = Curve::start(schema.clone(), options.clone(), 2.0);
        assert!(curve.is_of(&schema, &options));
        let began = Instant::now();
        let look = |epsilon: f64| loop {
            let found = curve.look(epsilon);
            if found["busy"] == false {
                break found;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{found}");
        };
        let found = look(2.0);
        assert_eq!(found["positions"].as_array().unwrap().len(), STOPS.len());
        assert_eq!(found["costs"].as_array().unwrap().len(), 3);
        // An epsilon between the stops is computed as well.
        let found = look(2.2);
        assert_eq!(found["positions"].as_array().unwrap().len(), STOPS.len() + 1);
        assert_eq!(found["problem"], Value::Null);
        let wrong = Curve::start(schema, TradeOffOptions::new(options.respondents, "none"), 2.0);
        let found = loop {
            let found = wrong.look(2.0);
            if found["problem"].is_string() {
                break found;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{found}");
        };
        assert!(found["problem"].as_str().unwrap().contains("none"), "{found}");
    }
}
