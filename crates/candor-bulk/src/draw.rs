//! The patterns drawn for records.

use crate::subsets::Aim;

/// Number of records processed at a time, so that the scratch memory stays in the first-level cache.
pub(crate) const RUN: usize = 1024;

/// The way to answer some attributes of one record, one bit for each attribute.
#[derive(Clone, Copy, Default)]
pub(crate) struct Draw {
    /// Set if the answer is uniform among all answers, independent of the true category.
    pub(crate) free: u16,
    /// Set if it is uniform among answers that miss. If neither is set, it is uniform among answers that hit.
    pub(crate) miss: u16,
}

impl Draw {
    /// Returns the aim of a set about the attribute.
    #[inline]
    pub(crate) fn aim(&self, attribute: usize) -> Aim {
        let (free, miss) = self.of(attribute);
        Aim::ALL[usize::from(!free) * (1 + usize::from(miss))]
    }

    /// Returns whether the attribute is free, and whether it has to miss.
    #[inline]
    pub(crate) fn of(&self, attribute: usize) -> (bool, bool) {
        (self.free >> attribute & 1 == 1, self.miss >> attribute & 1 == 1)
    }
}

/// The draws of a run of records for some attributes.
///
/// They are narrow and in separate arrays, so that columns of categories are filled eight records at a time.
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
