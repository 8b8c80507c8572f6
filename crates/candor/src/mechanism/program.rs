//! Runs a program that reads one true value per line and prints one answer per line.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use candor_analysis::mechanism::{Draws, DrawsError, MAX_ANSWER};
use candor_base::randomness::{Source, below_u64};
use candor_runtime::progress::{Progress, ProgressSink};

use crate::error::StudyError;

/// Interval at which cancellation is checked.
const LOOK: Duration = Duration::from_millis(100);
/// Time allowed for a program to exit after the end of its input.
const GRACE: Duration = Duration::from_secs(5);
/// Maximum number of bytes of its error output that are kept.
const MESSAGES: usize = 2_000;
/// Number of answers between progress reports.
const TELL: usize = 4_096;

/// Collects answers of a program to true values, presented in random order.
///
/// # Errors
/// Returns an error if the program cannot be run, fails, or does not print one line per line within the time limit.
pub fn draws_of(
    program: &str,
    truths: &[String],
    draws: u64,
    seconds: f64,
    progress: ProgressSink<'_>,
) -> Result<Draws, StudyError> {
    let mut collected = Draws::new(truths, draws)?;
    let order = order(truths.len() as u8, collected.wanted())?;
    let mut running = Running::start(program, truths, &order, seconds)?;
    for (done, &truth) in order.iter().enumerate() {
        if done % TELL == 0 {
            progress.report(Progress::new("answers", done as u64, Some(order.len() as u64)))?;
        }
        let answer = running.next(done, order.len(), progress)?;
        collected.add(usize::from(truth), &answer)?;
    }
    running.end(order.len())?;
    Ok(collected)
}

/// Returns the true values in shuffled rounds.
fn order(truths: u8, each: u64) -> Result<Vec<u8>, StudyError> {
    let source = Source::from_os().map_err(|error| StudyError::Refused(error.to_string()))?;
    let rng = &mut source.stream(0);
    let mut order = Vec::with_capacity(usize::from(truths) * each as usize);
    let mut round: Vec<u8> = (0..truths).collect();
    for _ in 0..each {
        for last in (1..round.len()).rev() {
            let Ok(place) = below_u64(last as u128 + 1, rng);
            round.swap(last, place as usize);
        }
        order.extend(&round);
    }
    Ok(order)
}

/// Splits a command line at spaces, with quotes. No shell is involved.
fn words(program: &str) -> Result<Vec<String>, StudyError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in program.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match (quote, words.is_empty()) {
        (Some(_), _) => Err(StudyError::Refused(format!("`program` has an open quote: {program}"))),
        (None, true) => Err(StudyError::Refused("`program` is empty; specify the program to audit".to_owned())),
        (None, false) => Ok(words),
    }
}

/// A running program.
struct Running {
    child: Child,
    answers: Receiver<Result<String, DrawsError>>,
    messages: Receiver<Vec<u8>>,
    ends: Instant,
    seconds: f64,
}

impl Running {
    fn start(program: &str, truths: &[String], order: &[u8], seconds: f64) -> Result<Running, StudyError> {
        let words = words(program)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let cannot = |error| {
            StudyError::Refused(format!(
                "cannot run {}: {error}. No shell is used: for one, write sh -c '...'",
                words[0]
            ))
        };
        let mut child = command.spawn().map_err(cannot)?;
        let ends = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400 * 365));
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, answers) = sync_channel(TELL);
        let (truths, order) = (truths.to_vec(), order.to_vec());
        thread::spawn(move || input.map(|input| ask(input, &truths, &order)));
        thread::spawn(move || {
            let Some(output) = output else { return };
            read(output, |answer| sender.send(answer).is_ok());
        });
        let (teller, messages) = sync_channel(1);
        thread::spawn(move || errors.map(|errors| teller.send(last_bytes(errors))));
        Ok(Running { child, answers, messages, ends, seconds })
    }

    /// Returns the next answer.
    fn next(&mut self, done: usize, wanted: usize, progress: ProgressSink<'_>) -> Result<String, StudyError> {
        loop {
            let answer = self.answers.recv_timeout(LOOK);
            match answer {
                // The program may have answered after the time limit.
                Ok(answer) if Instant::now() <= self.ends => return Ok(answer?),
                Err(RecvTimeoutError::Disconnected) => return Err(self.short(done, wanted)),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
            progress.report(Progress::new("answers", done as u64, Some(wanted as u64)))?;
            if Instant::now() > self.ends {
                let seconds = self.seconds;
                return Err(StudyError::Refused(format!(
                    "the program gave {done} of {wanted} answers in {seconds} seconds; it must print one line for each \
                     line it reads. Check that it reads until its input ends, or set a longer `time_limit`, or fewer \
                     `draws`"
                )));
            }
        }
    }

    /// Returns the error about missing answers.
    fn short(&mut self, done: usize, wanted: usize) -> StudyError {
        let ended = self.ended().map_or("its output is closed".to_owned(), |status| status.to_string());
        let messages = self.messages.recv_timeout(LOOK * 10).unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        let said = messages.lines().rev().find(|line| !line.trim().is_empty());
        let said = said.map_or(String::new(), |line| format!("; its last message: {}", line.trim()));
        StudyError::Refused(format!(
            "the program ended ({ended}) after {done} of {wanted} answers; it must print one line for each line it \
             reads{said}"
        ))
    }

    /// Returns the exit status, if the program exits soon.
    fn ended(&mut self) -> Option<ExitStatus> {
        let latest = Instant::now() + GRACE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < latest => thread::sleep(LOOK / 10),
                _ => return None,
            }
        }
    }

    /// Waits for the program to exit after all answers.
    fn end(&mut self, wanted: usize) -> Result<(), StudyError> {
        match self.answers.recv_timeout(GRACE) {
            Ok(_) => Err(StudyError::Refused(format!(
                "the program printed more than {wanted} lines for {wanted} lines; it must print one answer per line \
                 and nothing else"
            ))),
            // The program waits although all its answers have arrived, which is fine.
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => match self.ended() {
                Some(status) if !status.success() => Err(self.short(wanted, wanted)),
                _ => Ok(()),
            },
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes the true values; a program that does not read them is detected by its answers.
fn ask(input: ChildStdin, truths: &[String], order: &[u8]) {
    let mut input = BufWriter::new(input);
    for &truth in order {
        if writeln!(input, "{}", truths[usize::from(truth)]).is_err() {
            return;
        }
    }
    let _ = input.flush();
}

/// Passes on each line, without its line break.
fn read(output: ChildStdout, mut hand_on: impl FnMut(Result<String, DrawsError>) -> bool) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    let mut given = 1;
    loop {
        line.clear();
        let most = MAX_ANSWER as u64 + 2;
        match output.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let end = line.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
        let answer = match end > MAX_ANSWER {
            true => Err(DrawsError::Long(end)),
            // Replacement characters would make different answers equal.
            false => str::from_utf8(&line[..end]).map(str::to_owned).map_err(|_| DrawsError::Text(given)),
        };
        given += 1;
        if !hand_on(answer) {
            return;
        }
    }
}

/// Reads the error output and keeps its end.
fn last_bytes(mut errors: ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4_096];
    while let Ok(read) = errors.read(&mut buffer) {
        if read == 0 {
            break;
        }
        kept.extend(&buffer[..read]);
        kept.drain(..kept.len().saturating_sub(MESSAGES));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_by_spaces_but_in_quotes() {
        let words = |text| words(text).unwrap();
        assert_eq!(words("./client --epsilon 1"), ["./client", "--epsilon", "1"]);
        assert_eq!(words(" sh -c 'a b | c' \"it's\" '' x'y z'"), ["sh", "-c", "a b | c", "it's", "", "xy z"]);
        for wrong in ["", "  ", "sh -c 'a"] {
            assert!(super::words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_truth_is_asked_as_often() {
        let order = order(3, 50).unwrap();
        assert!(order.chunks(3).all(|round| round.iter().map(|truth| 1 << truth).sum::<u32>() == 7));
        assert!(order.chunks(3).any(|round| round != &order[..3]));
    }
}
