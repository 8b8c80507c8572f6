//! Counts how many sets contain each category.

use candor_bulk::Sets;

/// Number of codes that are counted at a time, so that 32-bit counts cannot overflow.
const RUN: usize = 1 << 24;

/// Returns the number of sets that contain each category. Every code must be below `categories`.
///
/// It is the `V` of Nayak and Zhai 2019, eq. 4.2, from which the shares follow (eq. 4.3).
pub fn count_inclusions(categories: usize, sets: &Sets) -> Vec<u64> {
    let mut totals = vec![0u64; categories];
    for run in sets.codes().chunks(RUN) {
        // Two arrays, so that consecutive sets with a common category do not wait for each other.
        let mut halves = [vec![0u32; categories], vec![0u32; categories]];
        let [even, odd] = &mut halves;
        let (pairs, rest) = run.as_chunks::<2>();
        for [a, b] in pairs {
            even[usize::from(*a)] += 1;
            odd[usize::from(*b)] += 1;
        }
        rest.iter().for_each(|code| even[usize::from(*code)] += 1);
        for (total, count) in totals.iter_mut().zip(even.iter().zip(odd.iter()).map(|(a, b)| a + b)) {
            *total += u64::from(count);
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_inclusion_counts_once() {
        let sets: Sets = [vec![0u16, 2, 3], vec![2], vec![], vec![1, 2]].into_iter().collect();
        assert_eq!(count_inclusions(5, &sets), [1, 1, 3, 1, 0]);
        assert_eq!(count_inclusions(2, &Sets::default()), [0, 0]);
    }
}
