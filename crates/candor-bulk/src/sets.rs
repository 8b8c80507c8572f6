//! Sets of categories, one per record, in one buffer: a million sets cost two allocations.

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
    /// Sets that follow one another in `codes`, set `i` up to `ends[i]`.
    ///
    /// # Panics
    /// If the ends do not rise to the number of codes.
    pub fn new(codes: Vec<u16>, ends: Vec<usize>) -> Sets {
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == codes.len(), "ends of the sets");
        Sets { codes, ends }
    }

    /// The number of sets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The set of one record.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, record: usize) -> &[u16] {
        let start = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.codes[start..self.ends[record]]
    }

    /// The sets, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.codes[start..end])
    }

    /// The categories of all sets, one set after the other.
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// Room for so many sets with so many categories together.
    pub fn with_capacity(sets: usize, codes: usize) -> Sets {
        Sets { codes: Vec::with_capacity(codes), ends: Vec::with_capacity(sets) }
    }

    /// Adds a set.
    pub fn push(&mut self, set: &[u16]) {
        self.codes.extend_from_slice(set);
        self.ends.push(self.codes.len());
    }

    /// Adds a set for each size, with room for its categories; gives that room, and says where each set
    /// ends among all codes.
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
