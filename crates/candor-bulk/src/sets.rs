//! Sets of categories, one per record, in one buffer: a million sets take two allocations.

/// Sets of categories, one per record, each in increasing order.
///
/// ```
/// use candor_bulk::Sets;
///
/// let sets: Sets = [[0u16, 3], [1, 2]].iter().collect();
/// assert_eq!(sets.get(1), [1, 2]);
/// assert_eq!(sets.iter().map(<[u16]>::len).sum::<usize>(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    codes: Vec<u16>,
    ends: Vec<usize>,
}

impl Sets {
    /// Creates sets that follow one another in `codes`; set `i` ends at `ends[i]`.
    ///
    /// # Panics
    /// Panics unless the ends rise to the number of codes.
    pub fn new(codes: Vec<u16>, ends: Vec<usize>) -> Sets {
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == codes.len(), "ends of the sets");
        Sets { codes, ends }
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the set of one record.
    ///
    /// # Panics
    /// Panics if there is no such record.
    pub fn get(&self, record: usize) -> &[u16] {
        let start = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.codes[start..self.ends[record]]
    }

    /// Iterates over the sets, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.codes[start..end])
    }

    /// Returns the categories of all sets, one set after the other.
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// Creates an empty collection with capacity for this many sets and this many categories in total.
    pub fn with_capacity(sets: usize, codes: usize) -> Sets {
        Sets { codes: Vec::with_capacity(codes), ends: Vec::with_capacity(sets) }
    }

    /// Adds a set.
    pub fn push(&mut self, set: &[u16]) {
        self.codes.extend_from_slice(set);
        self.ends.push(self.codes.len());
    }

    /// Adds a set for each size, and returns the space for their categories.
    ///
    /// Appends to `ends` the position among all codes at which each set ends.
    pub(crate) fn extend(&mut self, sizes: impl Iterator<Item = usize>, ends: &mut Vec<usize>) -> &mut [u16] {
        let start = self.codes.len();
        let mut end = start;
        ends.extend(sizes.map(|size| {
            end += size;
            end
        }));
        self.ends.extend_from_slice(ends);
        self.codes.resize(end, 0);
        &mut self.codes[start..]
    }
}

impl<S: AsRef<[u16]>> FromIterator<S> for Sets {
    fn from_iter<I: IntoIterator<Item = S>>(sets: I) -> Sets {
        let mut all = Sets::default();
        sets.into_iter().for_each(|set| all.push(set.as_ref()));
        all
    }
}
