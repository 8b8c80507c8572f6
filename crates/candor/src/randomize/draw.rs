//! The pattern of one record, drawn.

use super::subsets::Aim;

/// What is to be done with some attributes of one record, one bit each. Narrow, so that columns of categories are filled eight records at a time.
#[derive(Clone, Copy, Default)]
pub(super) struct Draw {
    /// Answered uniformly among all answers, whatever the truth.
    pub(super) free: u16,
    /// Answered uniformly among those that miss the truth. Neither: among those that hit it.
    pub(super) miss: u16,
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
