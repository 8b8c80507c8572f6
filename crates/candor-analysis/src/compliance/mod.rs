//! Noncompliance with randomization devices: a test, a class of noncompliers, and random answering.
//!
//! The test is available for every plan with several channels per question. An anchor question measures random
//! answering (docs/mathematics/compliance.md). Under compliance, the answers with channel ID `g` have the shares
//! `q_g = P_g pi`, with the same `pi` for all channels. A noncomplier gives the same answer under every channel.

mod lottery;
mod fit;
mod power;
mod ignoring;
mod anchor;

pub use anchor::{Anchored, Attention, attention, corrected};
pub use fit::{Fit, fit};
pub use ignoring::{Ignoring, ignoring};
pub use lottery::{Inapplicable, Lottery, Tag};
pub use power::{noncentrality, per_record, power};
