//! Messages of a protocol between parties, as files.

use candor_secure_sum::{Announcement, Fault, Kind, Partial, Share};
use serde::{Deserialize, Serialize};

use super::PartySession;
use crate::error::StudyError;
use crate::hex::{hex, unhex};

const FORMAT: &str = "candor party message";
const VERSION: u64 = 1;

/// A message: a confidential share for one collector, or a public announcement or sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyMessage {
    kind: Kind,
    session: String,
    from: String,
    to: Option<String>,
    bytes: Vec<u8>,
}

/// Serialized form of a message.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageJson {
    format: String,
    version: u64,
    kind: String,
    session: String,
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    message: String,
}

/// Content of a message.
pub(super) enum Content {
    Share(Share),
    Announcement(Announcement),
    Sums(Partial),
}

impl PartyMessage {
    pub(super) fn new(session: &PartySession, content: &Content) -> PartyMessage {
        let rounds = session.rounds();
        let (kind, from, to, bytes) = match content {
            Content::Share(share) => (Kind::Share, share.party(), Some(share.collector()), share.encode(rounds)),
            Content::Announcement(message) => (Kind::Announcement, message.party(), None, message.encode(rounds)),
            Content::Sums(partial) => (Kind::Partial, partial.collector(), None, partial.encode(rounds)),
        };
        let name = |number| session.name(number).to_owned();
        PartyMessage { kind, session: session.id(), from: name(from), to: to.map(name), bytes }
    }

    /// Parses a message. Whether it matches a session is checked when it is used.
    ///
    /// # Errors
    /// Returns [`StudyError::Refused`] if the text is not a message.
    pub fn from_json(text: &str) -> Result<PartyMessage, StudyError> {
        let refused = |why: &str| StudyError::Refused(format!("this is not a message between parties: {why}"));
        // Errors of the JSON parser quote the input, which may be true records passed by mistake.
        let json: MessageJson =
            serde_json::from_str(text).map_err(|_| refused("missing, unknown or mistyped fields"))?;
        if json.format != FORMAT || json.version != VERSION {
            return Err(refused(&format!("expected the format \"{FORMAT}\", version {VERSION}")));
        }
        let kinds = [Kind::Share, Kind::Announcement, Kind::Partial];
        let kind = kinds.into_iter().find(|&kind| word(kind) == json.kind);
        let kind = kind.ok_or_else(|| refused("expected `kind` share, announcement or sums"))?;
        let bytes = unhex(&json.message).ok_or_else(|| refused("`message` is truncated or changed"))?;
        Ok(PartyMessage { kind, session: json.session, from: json.from, to: json.to, bytes })
    }

    /// Serializes the message.
    pub fn to_json(&self) -> String {
        let json = MessageJson {
            format: FORMAT.to_owned(),
            version: VERSION,
            kind: word(self.kind).to_owned(),
            session: self.session.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            message: hex(&self.bytes),
        };
        serde_json::to_string_pretty(&json).expect("plain data") + "\n"
    }

    /// Returns the name of the message file.
    pub fn file_name(&self) -> String {
        match &self.to {
            Some(to) => format!("share-{}-to-{to}.json", self.from),
            None => format!("{}-{}.json", word(self.kind), self.from),
        }
    }

    /// Returns whether only one party may read the message.
    pub fn is_confidential(&self) -> bool {
        self.kind == Kind::Share
    }

    /// Returns the name of the sender.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Returns the name of the only party that may read the message; `None` if it is public.
    pub fn to(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// Describes the message for errors.
    pub(super) fn title(&self) -> String {
        match &self.to {
            Some(to) => format!("the share from {} to {to}", self.from),
            None if self.kind == Kind::Partial => format!("the sums of {}", self.from),
            None => format!("the announcement of {}", self.from),
        }
    }

    /// Returns the content of the message.
    ///
    /// # Errors
    /// Returns [`StudyError::Refused`] if it is damaged, of another session, or of another kind than stated.
    pub(super) fn content(&self, session: &PartySession) -> Result<Content, StudyError> {
        let rounds = session.rounds();
        if self.session != session.id() {
            return Err(StudyError::Refused(format!(
                "{} belongs to session {}, and this is session {}: all parties must hold the same session file",
                self.title(),
                self.session,
                session.id()
            )));
        }
        let content = match self.kind {
            Kind::Share => Share::decode(rounds, &self.bytes).map(Content::Share),
            Kind::Announcement => Announcement::decode(rounds, &self.bytes).map(Content::Announcement),
            Kind::Partial => Partial::decode(rounds, &self.bytes).map(Content::Sums),
        };
        let content =
            content.map_err(|fault| StudyError::Refused(format!("{}: {}", self.title(), told(&fault, session))))?;
        match PartyMessage::new(session, &content) == *self {
            true => Ok(content),
            false => {
                let title = PartyMessage::new(session, &content).title();
                Err(StudyError::Refused(format!("{} is actually {title}: its file was changed", self.title())))
            }
        }
    }
}

/// Returns the name of a kind of message in files.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Share => "share",
        Kind::Announcement => "announcement",
        Kind::Partial => "sums",
    }
}

/// Describes a fault with the names of the parties.
pub(super) fn told(fault: &Fault, session: &PartySession) -> String {
    let name = |number: &u32| session.name(*number);
    match fault {
        Fault::Garbage { reason, .. } => format!("it is damaged ({reason}); ask for it again"),
        Fault::Misdirected { party, collector, receiver } => {
            format!("the share from {} is for {}, not for {}", name(party), name(collector), name(receiver))
        }
        Fault::SecondShare { party, collector } => {
            format!("{} got a second share from {}", name(collector), name(party))
        }
        Fault::NotACollector { party, .. } => {
            format!("{} is no collector; the collectors are {}", name(party), session.collectors().join(", "))
        }
        Fault::MissingShares { collector, parties } => {
            format!("{} has no share from {}", name(collector), names(session, parties))
        }
        Fault::Missing { kind: Kind::Partial, parties } => format!("there are no sums of {}", names(session, parties)),
        Fault::Missing { kind, parties } => format!("there is no {} of {}", word(*kind), names(session, parties)),
        Fault::Second { kind, party } => format!("there is a second message ({}) of {}", word(*kind), name(party)),
        Fault::Disagreement { party, collector } => format!(
            "{} announced a share for {} that differs from the one that {} received: one of the two did not follow the \
             protocol, shared twice, or was sent a changed file",
            name(party),
            name(collector),
            name(collector)
        ),
        Fault::NotTheMessage { party, collector } => {
            format!("this is not the share that {} announced for {}", name(party), name(collector))
        }
        Fault::WrongSum { collector, count, published, right } => format!(
            "the sums of {} are wrong: count {count} is {published}, and its shares add up to {right}",
            name(collector)
        ),
        Fault::Residue { party, .. } => format!("a number of {} is out of range: it was changed", name(party)),
        other => other.to_string(),
    }
}

fn names(session: &PartySession, parties: &[u32]) -> String {
    parties.iter().map(|&party| session.name(party)).collect::<Vec<_>>().join(", ")
}
