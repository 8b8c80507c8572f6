//! Who is let in: what is decided about each submission before it is stored.

use std::collections::{BTreeMap, HashMap, HashSet};

use candor_tables::responses::ResponseBatch;

use crate::survey::Wording;

/// Something to be stored: a response that was checked, or that a token is given for an invitation.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The hash of the id that the client made. Where there are tokens, a response's id is its token.
    pub id: String,
    /// Whether the survey handed that id out.
    pub handed_out: bool,
    /// The hash of the invitation's code, if one was given.
    pub invitation: Option<String>,
    /// The response; none where a token is asked for.
    pub response: Option<Response>,
    /// The categories of the public attributes that have quotas, by the names of the attributes.
    pub groups: BTreeMap<String, String>,
}

/// A response that was checked.
#[derive(Clone, Debug)]
pub struct Response {
    /// As it is stored.
    pub line: String,
    /// As it is counted.
    pub codes: ResponseBatch,
}

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored.
    Stored,
    /// Its id had been stored before; nothing was added.
    Again,
    /// Its id was not handed out by this survey.
    UnknownId,
    /// The survey is closed.
    Closed,
    /// There are as many responses as were asked for.
    Full,
    /// There are as many responses of one of its groups as were asked for.
    GroupFull,
    /// Only the invited answer, and there was no invitation.
    NoInvitation,
    /// There is no such invitation.
    UnknownInvitation,
    /// The invitation was used before.
    UsedInvitation,
    /// Tokens are still given out, so answers are not accepted yet.
    TooEarly,
    /// Tokens are no longer given out.
    TooLate,
}

/// What is known when a commit begins. Each decision is known to the next.
pub struct Admission<'a> {
    /// The survey's settings.
    pub wording: &'a Wording,
    /// Whether the survey is closed.
    pub closed: bool,
    /// The day.
    pub day: &'a str,
    /// Hashes of ids that were stored before.
    pub spent: HashSet<String>,
    /// Hashes of the invitations that there are.
    pub known: HashSet<String>,
    /// Those of them that were used.
    pub used: HashSet<String>,
    /// How many more responses are accepted.
    pub room: u64,
    /// How many more of each group, by attribute and category.
    pub group_room: HashMap<(String, String), u64>,
}

impl Admission<'_> {
    /// Decides about the next submission.
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

    /// The invitation that a submission uses up.
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
