//! Parallel maps with results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which an idle worker checks whether it is still needed.
const LOOK: Duration = Duration::from_millis(50);

/// Maps items on all cores and passes on the results in order, until `take` returns an error.
///
/// It then does not wait for a blocked source, such as a pipe: the thread that reads it ends with its next item.
pub(crate) fn in_order<I, T, E>(
    mut items: impl Iterator<Item = I> + Send + 'static,
    map: impl Fn(u64, I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let read = Arc::new(Mutex::new(BTreeMap::new()));
    let mapped = Mutex::new(BTreeMap::new());
    let mut taken = Ok(());
    let fetch = {
        let read = read.clone();
        move |number| items.next().map(|item| locked(&read).insert(number, item)).is_some()
    };
    let work = |number| {
        let item = locked(&read).remove(&number);
        if let Some(result) = item.map(|item| map(number, item)) {
            locked(&mapped).insert(number, result);
        }
    };
    let mut finish = |number| {
        let result = locked(&mapped).remove(&number);
        taken = result.map_or(Ok(()), &mut take);
        taken.is_ok()
    };
    numbers_in_order(Box::new(fetch), &work, &mut finish);
    taken
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Implements [`in_order`] with the numbers of items only, so that it is compiled once for all types.
///
/// It fetches items until there are none, works on them on all cores, and finishes each in order until that fails.
fn numbers_in_order(
    mut fetch: Box<dyn FnMut(u64) -> bool + Send>,
    work: &(dyn Fn(u64) + Sync),
    finish: &mut dyn FnMut(u64) -> bool,
) {
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get());
    let (todo, queue) = sync_channel::<(u64, SyncSender<u64>)>(workers);
    let (promise, promised) = sync_channel::<Receiver<u64>>(2 * workers);
    let reader = thread::spawn(move || {
        for number in (0..).take_while(|number| fetch(*number)) {
            let (done, result) = sync_channel(1);
            if promise.send(result).is_err() || todo.send((number, done)).is_err() {
                break;
            }
        }
    });
    let (queue, over) = (Mutex::new(queue), AtomicBool::new(false));
    let finished = thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let next = locked(&queue).recv_timeout(LOOK);
                    match next {
                        Ok((number, done)) => {
                            work(number);
                            // After an error, nobody waits for the result.
                            let _ = done.send(number);
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            });
        }
        // A worker that panicked does not send its result; the scope propagates the panic.
        let finished = promised.into_iter().all(|result| result.recv().is_ok_and(&mut *finish));
        over.store(true, Ordering::Relaxed);
        finished
    });
    if finished {
        // All results arrived, so the reader is done; its own panic must be propagated.
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_workers_do() {
        let slow_first = |number: u64, item: u64| {
            thread::sleep(std::time::Duration::from_micros(500 * (7 - number % 7)));
            item * 2
        };
        let mut taken = Vec::new();
        in_order(0..100u64, slow_first, |result| {
            taken.push(result);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(taken, (0..100).map(|i| i * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn the_first_error_stops_everything() {
        let mut taken = 0;
        let failed = in_order(
            0..,
            |_, item: u64| item,
            |item| {
                taken += 1;
                if item == 20 { Err(item) } else { Ok(()) }
            },
        );
        assert_eq!((failed, taken), (Err(20), 21));
    }

    #[test]
    fn an_error_does_not_wait_for_a_source_that_hangs() {
        let (keep_open, hanging) = std::sync::mpsc::channel::<u64>();
        keep_open.send(1).unwrap();
        let failed = in_order(hanging.into_iter(), |_, item| item, Err::<(), u64>);
        assert_eq!(failed, Err(1));
        drop(keep_open);
    }

    #[test]
    fn a_source_that_panics_is_not_a_source_that_ended() {
        let source = (0..10u64).inspect(|item| assert!(*item < 5, "lost the source"));
        let read = || in_order(source, |_, item| item, |_| Ok::<(), ()>(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).is_err());
    }
}
