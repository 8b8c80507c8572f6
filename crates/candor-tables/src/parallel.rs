//! Work on all cores whose results are taken in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often an idle worker looks whether it is still needed.
const LOOK: Duration = Duration::from_millis(50);

/// Maps items on all cores and hands the results on in order. Stops at the first error of `take`, and
/// does not wait then for a source that may have nothing to give for long, such as a pipe: the thread
/// that reads it ends with its next item.
pub(crate) fn in_order<I, T, E>(
    items: impl Iterator<Item = I> + Send + 'static,
    map: impl Fn(u64, I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get());
    let (work, queue) = sync_channel::<(u64, I, SyncSender<T>)>(workers);
    let (promise, promised) = sync_channel::<Receiver<T>>(2 * workers);
    let reader = thread::spawn(move || {
        for (number, item) in (0..).zip(items) {
            let (done, result) = sync_channel(1);
            if promise.send(result).is_err() || work.send((number, item, done)).is_err() {
                break;
            }
        }
    });
    let (queue, over) = (Mutex::new(queue), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
                    match next {
                        // Nobody waits for the result any more after an error.
                        Ok((number, item, done)) => drop(done.send(map(number, item))),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            });
        }
        let mut taken = Ok(());
        for result in promised {
            // A worker that panicked leaves its promise unkept; the scope passes the panic on.
            let Ok(result) = result.recv() else { break };
            taken = take(result);
            if taken.is_err() {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
        taken
    })?;
    // All promises were kept, so the reader is at its end; a panic of its own must not pass for one.
    reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(())
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
