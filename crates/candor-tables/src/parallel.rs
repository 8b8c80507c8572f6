//! Work on all cores whose results are taken in order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Maps items on all cores and hands the results on in order. Stops at the first error of `take`.
pub(crate) fn in_order<I, T, E>(
    items: impl Iterator<Item = I> + Send,
    map: impl Fn(u64, I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send,
    T: Send,
{
    type Work<I, T> = (u64, I, SyncSender<T>);
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| {
        let (work, queue) = sync_channel::<Work<I, T>>(workers);
        let queue: Arc<Mutex<Receiver<Work<I, T>>>> = Arc::new(Mutex::new(queue));
        let (promise, promised) = sync_channel::<Receiver<T>>(2 * workers);
        let map = &map;
        for _ in 0..workers {
            let queue = Arc::clone(&queue);
            scope.spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
                    let Ok((number, item, done)) = next else { break };
                    // Nobody waits for the result any more after an error.
                    let _ = done.send(map(number, item));
                }
            });
        }
        drop(queue);
        scope.spawn(move || {
            for (number, item) in (0..).zip(items) {
                let (done, result) = sync_channel(1);
                if promise.send(result).is_err() || work.send((number, item, done)).is_err() {
                    break;
                }
            }
        });
        for result in promised {
            // A worker that panicked leaves its promise unkept; the scope passes the panic on.
            let Ok(result) = result.recv() else { break };
            take(result)?;
        }
        Ok(())
    })
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
}
