//! Companions: attributes that a matrix randomizes together with those of a model.

use candor_base::channel::Channel;
use candor_base::plan::Plan;

/// Returns the attributes that matrices randomize together with those of a model.
pub(super) fn companions(plan: &Plan, hidden: &[usize]) -> Vec<usize> {
    let is_hidden = |attribute: &&usize| hidden.contains(attribute);
    let blocks = plan.blocks().iter().filter(|block| matches!(block.channels()[0].1, Channel::Matrix(_)));
    let touched = blocks.filter(|block| block.attributes().iter().any(|attribute| is_hidden(&attribute)));
    touched.flat_map(|block| block.attributes()).copied().filter(|attribute| !is_hidden(&attribute)).collect()
}

/// Returns whether an attribute is randomized together with any of these.
pub(super) fn has_matrix_with(plan: &Plan, attribute: usize, companions: &[usize]) -> bool {
    let mut own = plan.blocks().iter().filter(|block| block.attributes().contains(&attribute));
    own.any(|block| block.attributes().iter().any(|other| companions.contains(other)))
}
