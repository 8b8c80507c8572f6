//! Protects existing files from being replaced, by one rule for all commands, which depends on what they write.
//!
//! | a command writes | what it replaces without `force` |
//! |---|---|
//! | responses (`check_release`) | nothing, except a simulation by a simulation |
//! | imported responses ([`check_new`]) | nothing |
//! | weighted and synthetic records ([`check_records`]) | nothing; responses and plans not even with `force` |
//! | a schema ([`write_schema`]) | the same text |
//! | a plan ([`write_plan`]) | the same plan |
//! | reproducible output ([`write_document`]) | anything but responses and plans, which it never replaces |
//!
//! Empty files, pipes and devices do not count. If responses were moved away, their sidecar file still counts.

use std::fs::File;
use std::path::Path;

use candor_base::plan::Plan;
use serde::Deserialize;

use crate::TableError;
use crate::error::Occupied;
use crate::input::{Inputs, Location};
use crate::limits;
use crate::output::{Existing, Pending, Target, is_taken};
use crate::publish::place;
use crate::responses::{self, Provenance};
use crate::sidecar::{Found, Sidecar};

/// Rejects a second release of responses, if the output exists and must not be replaced.
///
/// It returns how to treat a file that appears in the meantime. Empty files, pipes and devices are not responses. A
/// sidecar file without its responses counts, because they were moved away. A simulation may replace a simulation,
/// which has no privacy to lose.
///
/// # Errors
/// Returns [`Occupied::Released`] if the file contains responses.
/// Returns [`Occupied::Exists`] if it contains anything else.
pub(crate) fn check_release(
    plan: &Plan,
    output: &Target,
    existing: Existing,
    simulated: bool,
) -> Result<Existing, TableError> {
    let (Target::File(path), Existing::Keep) = (output, existing) else { return Ok(existing) };
    let marked = match is_taken(path) {
        true => marks(path),
        false => match orphan(path) {
            Some(marks) => Some(marks),
            None => return Ok(Existing::Keep),
        },
    };
    let (file, epsilon) = (output.name(), plan.guarantee().epsilon());
    let occupied = match marked {
        Some(Provenance { simulation: None, fingerprint, .. }) => {
            Occupied::Released { file, fingerprint, epsilon: epsilon.finite().map(|_| epsilon.to_string()) }
        }
        Some(Provenance { simulation: Some(_), .. }) if simulated => return Ok(Existing::Replace),
        Some(Provenance { simulation: Some(seed), .. }) => {
            Occupied::Exists { file, what: format!("it holds a simulation (seed {seed})") }
        }
        None => {
            let what = "if it holds responses of these people, a second release adds to what the first one reveals";
            Occupied::Exists { file, what: what.to_owned() }
        }
    };
    Err(occupied.into())
}

/// Rejects an output that exists and must not be replaced.
///
/// # Errors
/// Returns [`Occupied::Exists`] if it exists, with [`Existing::Keep`].
pub fn check_new(output: &Target, existing: Existing) -> Result<(), TableError> {
    let (Target::File(path), Existing::Keep) = (output, existing) else { return Ok(()) };
    let held = held(path);
    match is_taken(path) || held.is_some() {
        true => {
            let what = held.map_or("it would be lost".to_owned(), |held| format!("it holds {held}"));
            Err(Occupied::Exists { file: output.name(), what }.into())
        }
        false => Ok(()),
    }
}

/// Writes a schema atomically. Because people edit schemas, only an identical one is replaced.
///
/// # Errors
/// Returns the errors of [`check_new`], except for an identical file, or [`TableError::Write`] if it cannot be
/// written.
pub fn write_schema(output: &Target, text: &str, existing: Existing) -> Result<(), TableError> {
    let same = |path: &Path| File::open(path).and_then(limits::read_text).is_ok_and(|found| found == text);
    if !matches!(output, Target::File(path) if same(path)) {
        check_new(output, existing)?;
    }
    crate::output::write(output, text.as_bytes())
}

/// Rejects an output that would replace responses or a plan with a document.
///
/// # Errors
/// Returns [`Occupied::InUse`] if the file contains responses or a plan.
pub fn check_document(output: &Target) -> Result<(), TableError> {
    let Target::File(path) = output else { return Ok(()) };
    match held(path) {
        Some(what) => Err(Occupied::InUse { file: output.name(), what }.into()),
        None => Ok(()),
    }
}

/// Rejects an output for weighted or synthetic records that exists and must not be replaced.
///
/// Responses and plans are never replaced.
///
/// # Errors
/// Returns the errors of [`check_document`] and [`check_new`].
pub fn check_records(output: &Target, existing: Existing) -> Result<(), TableError> {
    check_document(output)?;
    check_new(output, existing)
}

/// Writes a small document atomically.
///
/// # Errors
/// Returns the errors of [`check_document`], or [`TableError::Write`] if it cannot be written.
pub fn write_document(output: &Target, content: &[u8]) -> Result<(), TableError> {
    check_document(output)?;
    crate::output::write(output, content)
}

/// Describes irreproducible content of a file: responses or a plan.
fn held(path: &Path) -> Option<String> {
    let taken = is_taken(path);
    let marked = if taken { marks(path) } else { orphan(path) };
    if let Some(Provenance { fingerprint, .. }) = marked {
        return Some(format!("responses made under the plan {fingerprint}"));
    }
    let identity = taken.then(|| File::open(path).and_then(limits::read_text).ok()).flatten();
    let identity = identity.and_then(|text| serde_json::from_str::<Identity>(&text).ok());
    identity.filter(|found| found.format == PLAN_FORMAT).map(|found| format!("the plan {}", found.fingerprint))
}

/// Returns the metadata of the responses in a file, if there are any.
fn marks(path: &Path) -> Option<Provenance> {
    let table = Inputs::new([Location::File(path.to_owned())], None).ok()?.into_iter().next()?;
    responses::open(table).ok()?.1
}

/// Returns the content of a sidecar file whose responses are gone.
fn orphan(path: &Path) -> Option<Provenance> {
    match Sidecar::find(&Sidecar::path(&place(path).ok()?)) {
        Ok(Found::Whole(Sidecar { fingerprint, simulation, .. })) => {
            Some(Provenance { fingerprint, simulation, records: None })
        }
        _ => None,
    }
}

/// Value of the field `format` of a plan file.
const PLAN_FORMAT: &str = "candor plan";

/// Fields of a plan file that identify the plan.
#[derive(Deserialize)]
struct Identity {
    format: String,
    fingerprint: String,
}

/// Writes a plan file atomically. A plan with the same fingerprint is the same plan, and is replaced.
///
/// # Errors
/// With [`Existing::Keep`], returns [`Occupied::PlanInUse`] if the file contains another plan, and
/// [`Occupied::Exists`] if it contains anything else.
/// Returns [`TableError::Write`] if it cannot be written.
pub fn write_plan(output: &Target, plan: &Plan, existing: Existing) -> Result<(), TableError> {
    check_plan_place(output, plan, existing)?;
    let mut pending = Pending::new(output)?;
    std::io::Write::write_all(&mut pending, plan.to_json().as_bytes()).map_err(|error| output.failed(error))?;
    pending.finish()
}

/// Rejects an output that contains another plan.
fn check_plan_place(output: &Target, plan: &Plan, existing: Existing) -> Result<(), TableError> {
    let (Target::File(path), Existing::Keep) = (output, existing) else { return Ok(()) };
    if !is_taken(path) {
        return Ok(());
    }
    let file = output.name();
    let text = match File::open(path).and_then(limits::read_text) {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => String::new(),
        text => text.map_err(|error| TableError::Read { file: file.clone(), error })?,
    };
    match serde_json::from_str::<Identity>(&text) {
        Ok(found) if found.fingerprint == plan.fingerprint().as_str() => Ok(()),
        Ok(Identity { fingerprint, format }) if format == PLAN_FORMAT => {
            Err(Occupied::PlanInUse { file, fingerprint }.into())
        }
        _ => Err(Occupied::Exists { file, what: "it is not a plan".to_owned() }.into()),
    }
}
