//! The pattern of one record, drawn.

use super::subsets::Aim;

/// What is to be done with each attribute of one record, one bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct Draw {
    /// Answered uniformly among all answers, whatever the truth.
    pub(super) free: u64,
    /// Answered uniformly among those that miss the truth. Neither: among those that hit it.
    pub(super) miss: u64,
}

impl Draw {
    /// What a set about the attribute is to do.
    #[inline]
    pub(super) fn aim(&self, attribute: usize) -> Aim {
        let (free, miss) = self.of(attribute);
        Aim::ALL[usize::from(!free) * (1 + usize::from(miss))]
    }

    /// Whether the attribute is free, and whether it is to miss.
    #[inline]
    pub(super) fn of(&self, attribute: usize) -> (bool, bool) {
        (self.free >> attribute & 1 == 1, self.miss >> attribute & 1 == 1)
    }
}
