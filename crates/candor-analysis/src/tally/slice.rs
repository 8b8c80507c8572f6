//! Restricts counts to one category of a public attribute.

use candor_base::plan::Plan;

use super::sampling_design::{UnitCounts, UnitGroup};
use super::{ChannelCounts, CountAxis, CountLayout, TableCounts, VarianceMethod};

impl TableCounts {
    /// Returns the counts of the other attributes among the responses with one category of a public attribute.
    ///
    /// The attribute is known, so nothing is estimated: the counts equal those of these responses alone.
    ///
    /// # Panics
    /// Panics if the attribute is not in the table, or is randomized.
    #[must_use]
    pub fn among(&self, plan: &Plan, attribute: usize, code: u16) -> TableCounts {
        let of_attribute =
            |axis: &CountAxis| matches!(axis, CountAxis::Attribute { attribute: a, .. } if *a == attribute);
        let axis = self.layout.axes.iter().position(of_attribute).expect("a public attribute of the table");
        assert!(plan.schema().attributes()[attribute].is_public(), "a public attribute");
        let others: Vec<usize> = self.layout.attributes.iter().copied().filter(|&a| a != attribute).collect();
        let layout = CountLayout::new(plan, &others);
        let mut groups = std::collections::BTreeMap::new();
        for (key, group) in &self.groups {
            let dims = self.layout.frame(plan, key).dims;
            let inner: usize = dims[axis + 1..].iter().product();
            let begin = usize::from(code) * inner;
            let slice = |cells: &[f64]| -> Vec<f64> {
                cells.chunks(dims[axis] * inner).flat_map(|line| line[begin..begin + inner].to_vec()).collect()
            };
            let (counts, square_counts) = (slice(&group.counts), slice(&group.square_counts));
            // Every response counts in the same number of cells.
            let (cells, _) = layout.cells_of_one(plan, key);
            let total = counts.iter().sum::<f64>() / cells;
            let squares = if square_counts.is_empty() { total } else { square_counts.iter().sum::<f64>() / cells };
            if total > 0.0 {
                groups.insert(key.clone(), ChannelCounts { total, squares, counts, square_counts });
            }
        }
        let drawn = self.drawn.as_deref().map(|drawn| match drawn {
            VarianceMethod::Linearization(units) => {
                VarianceMethod::Linearization(units.map(|counts| self.among_unit(plan, &layout, (axis, code), counts)))
            }
            VarianceMethod::Replicates(method, tallies) => VarianceMethod::Replicates(
                method.clone(),
                tallies.iter().map(|tally| tally.among(plan, attribute, code)).collect(),
            ),
        });
        TableCounts { layout, groups, sets: None, drawn: drawn.map(Box::new) }
    }

    /// Restricts the counts of a unit to this code along this axis.
    fn among_unit(
        &self,
        plan: &Plan,
        layout: &CountLayout,
        (axis, code): (usize, u16),
        counts: &UnitCounts,
    ) -> UnitCounts {
        let one = |group: &UnitGroup| {
            let dims = self.layout.frame(plan, &group.key).dims;
            let inner: usize = dims[axis + 1..].iter().product();
            let place = |(cell, count): &(u32, f64)| {
                let (line, rest) = (*cell as usize / inner, *cell as usize % inner);
                (line % dims[axis] == usize::from(code)).then(|| ((line / dims[axis] * inner + rest) as u32, *count))
            };
            let counts: Vec<(u32, f64)> = group.counts.iter().filter_map(place).collect();
            let total = counts.iter().map(|(_, count)| count).sum::<f64>() / layout.cells_of_one(plan, &group.key).0;
            (total > 0.0).then(|| UnitGroup { key: group.key.clone(), total, counts })
        };
        UnitCounts { groups: counts.groups.iter().filter_map(one).collect(), singly: counts.singly }
    }
}
