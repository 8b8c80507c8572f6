//! How two records may differ: in each attribute not at all, within a class of categories, or between two classes.

/// How one attribute may differ between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// The same category in both, whichever it is.
    None,
    /// Two categories of this class, equal or not.
    Within(&'a [u16]),
    /// A category of the first class and one of the second, which have none in common.
    Between(&'a [u16], &'a [u16]),
}

impl Change<'_> {
    /// Whether both records have the same category.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Change::None | Change::Within([_]))
    }

    /// Whether the records must have different categories.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Change::Between(..))
    }
}
