//! The patterns of records, drawn.

use crate::subsets::Aim;

/// How many records are worked on at a time: the scratch stays in the first-level cache.
pub(crate) const RUN: usize = 1024;

/// What is to be done with some attributes of one record, one bit each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Draw {
    /// Answered uniformly among all answers, whatever the truth.
    pub(crate) free: u16,
    /// Answered uniformly among those that miss the truth. Neither: among those that hit it.
    pub(crate) miss: u16,
}

impl Draw {
    /// What a set about the attribute is to do.
    #[inline]
    pub(crate) fn aim(&self, attribute: usize) -> Aim {
        let (free, miss) = self.of(attribute);
        Aim::ALL[usize::from(!free) * (1 + usize::from(miss))]
    }

    /// Whether the attribute is free, and whether it is to miss.
    #[inline]
    pub(crate) fn of(&self, attribute: usize) -> (bool, bool) {
        (self.free >> attribute & 1 == 1, self.miss >> attribute & 1 == 1)
    }
}

/// The draws of a run of records about some attributes. Narrow and apart, so that columns of categories are filled
/// eight records at a time.
pub(crate) struct Draws {
    pub(crate) free: [u16; RUN],
    pub(crate) miss: [u16; RUN],
}

impl Draws {
    pub(crate) const NONE: Draws = Draws { free: [0; RUN], miss: [0; RUN] };

    #[inline]
    pub(crate) fn of(&self, record: usize) -> Draw {
        Draw { free: self.free[record], miss: self.miss[record] }
    }

    #[inline]
    pub(crate) fn set(&mut self, record: usize, draw: Draw) {
        self.free[record] = draw.free;
        self.miss[record] = draw.miss;
    }
}
