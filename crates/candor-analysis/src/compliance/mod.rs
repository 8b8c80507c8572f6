//! Whether people followed their device: a test that every lottery of channels comes with, a class of people who ignore
//! it, and what an anchor question tells about random answers (docs/mathematics/compliance.md).
//!
//! Under compliance the answers with tag `g` have the shares `q_g = P_g pi`, with one `pi` for all tags. Somebody who
//! ignores the device answers the same whatever the tag.

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
