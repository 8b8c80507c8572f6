//! The ways in which one attribute may differ between two records.

/// How one attribute may differ between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// The category is the same in both records.
    None,
    /// Both categories are in this class; they may be equal.
    Within(&'a [u16]),
    /// The first record's category is in the first class, the second record's in the second. The classes are disjoint.
    Between(&'a [u16], &'a [u16]),
}

impl Change<'_> {
    /// Returns whether both records must have the same category.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Change::None | Change::Within([_]))
    }

    /// Returns whether the records must have different categories.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Change::Between(..))
    }
}
