//! Admission: the decision about each submission before it is stored.

use std::collections::{BTreeMap, HashMap, HashSet};

use candor_tables::responses::ResponseBatch;

use crate::survey::Wording;

/// A submission: a validated response, or a request for a token with an invitation.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Hash of the ID. In surveys with tokens, the ID of a response is its token.
    pub id: String,
    /// Whether the survey issued that ID.
    pub handed_out: bool,
    /// Hash of the invitation's code, if one was given.
    pub invitation: Option<String>,
    /// The response; `None` in a request for a token.
    pub response: Option<Response>,
    /// Categories of the public attributes with quotas, by attribute name.
    pub groups: BTreeMap<String, String>,
}

/// A validated response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The stored form.
    pub line: String,
    /// The counted form.
    pub codes: ResponseBatch,
}

/// Outcome of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The submission is stored.
    Stored,
    /// Its ID was stored before; nothing was added.
    Again,
    /// This survey did not issue its ID.
    UnknownId,
    /// The survey is closed.
    Closed,
    /// The maximum number of responses is reached.
    Full,
    /// The maximum number of responses of one of its groups is reached.
    GroupFull,
    /// The survey requires an invitation.
    NoInvitation,
    /// The invitation does not exist.
    UnknownInvitation,
    /// The invitation was used before.
    UsedInvitation,
    /// Tokens are still being issued, so answers are not accepted yet.
    TooEarly,
    /// Tokens are no longer issued.
    TooLate,
}

/// The state at the beginning of a commit, updated by each decision.
pub struct Admission<'a> {
    /// The survey's settings.
    pub wording: &'a Wording,
    /// Whether the survey is closed.
    pub closed: bool,
    /// Current day.
    pub day: &'a str,
    /// Hashes of IDs that were stored before.
    pub spent: HashSet<String>,
    /// Hashes of the existing invitations among those submitted.
    pub known: HashSet<String>,
    /// Hashes of the used invitations among them.
    pub used: HashSet<String>,
    /// Number of further responses that are accepted.
    pub room: u64,
    /// Number of further responses of each group, by attribute and category.
    pub group_room: HashMap<(String, String), u64>,
}

impl Admission<'_> {
    /// Decides on the next submission.
    pub fn decide(&mut self, submission: &Submission) -> Outcome {
        let outcome = self.outcome(submission);
        if outcome == Outcome::Stored {
            self.spent.insert(submission.id.clone());
            self.used.extend(self.needed(submission).cloned());
            if submission.response.is_some() {
                self.room -= 1;
                for group in groups(submission) {
                    self.group_room.entry(group).and_modify(|room| *room -= 1);
                }
            }
        }
        outcome
    }

    /// Returns the invitation that a submission uses up.
    fn needed<'s>(&self, submission: &'s Submission) -> Option<&'s String> {
        let by_code =
            self.wording.invitations && (self.wording.tokens_until.is_none() || submission.response.is_none());
        submission.invitation.as_ref().filter(|_| by_code)
    }

    fn outcome(&self, submission: &Submission) -> Outcome {
        let tokens = self.wording.tokens_until.as_deref().map(|last| self.day <= last);
        match (tokens, &submission.response) {
            _ if self.spent.contains(&submission.id) => Outcome::Again,
            _ if self.closed => Outcome::Closed,
            _ if !submission.handed_out => Outcome::UnknownId,
            (Some(true), Some(_)) => Outcome::TooEarly,
            (Some(false), None) => Outcome::TooLate,
            (Some(false), Some(_)) => self.by_room(submission),
            _ if self.wording.invitations => match self.needed(submission) {
                None => Outcome::NoInvitation,
                Some(code) if !self.known.contains(code) => Outcome::UnknownInvitation,
                Some(code) if self.used.contains(code) => Outcome::UsedInvitation,
                Some(_) => self.by_room(submission),
            },
            _ => self.by_room(submission),
        }
    }

    fn by_room(&self, submission: &Submission) -> Outcome {
        let full = |group| self.group_room.get(&group) == Some(&0);
        match submission.response {
            Some(_) if self.room == 0 => Outcome::Full,
            Some(_) if groups(submission).any(full) => Outcome::GroupFull,
            _ => Outcome::Stored,
        }
    }
}

fn groups(submission: &Submission) -> impl Iterator<Item = (String, String)> + '_ {
    submission.groups.iter().map(|(attribute, category)| (attribute.clone(), category.clone()))
}
