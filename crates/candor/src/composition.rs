//! Composition: the joint guarantee of several plans that the same people answer.

use std::ops::Add;

use candor_base::channel::Epsilon;
use candor_base::plan::Plan;

/// Joint epsilons of several plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Epsilon of all responses together.
    pub epsilon: Epsilon,
    /// One entry for each attribute that at least one plan randomizes.
    ///
    /// It has the name, the sum of its conditional epsilons, and the number of plans that contain it.
    pub attributes: Vec<(String, Epsilon, usize)>,
}

/// Computes the joint epsilons of several plans.
///
/// The responses of one person are drawn independently given the record, so likelihood ratios multiply and epsilons
/// add up (sequential composition). The sum is exact for the record, and an upper bound for an attribute. One
/// unbounded plan makes the composition unbounded.
///
/// Attributes of two plans are connected if they share a source column, as `a` and `a*b` do. Attributes tied in one
/// plan are tied in all. So the conditional epsilons of all components connected to that of an attribute add up.
/// Each plan contributes at most its record-level epsilon.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2])?;
/// # let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;
/// use candor::composition::compose;
///
/// let found = compose(&[&plan, &plan]);
/// assert!((found.epsilon.as_f64() - 2.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compose(plans: &[&Plan]) -> Composition {
    let ratios = plans.iter().map(|plan| plan.guarantee().parity().cloned());
    let product = ratios.reduce(|product, ratio| Some(product? * ratio?));
    let epsilon = product.map_or(Epsilon::ZERO, |product| Epsilon::of_parity(product.as_ref()));
    let parts: Vec<Part> = plans.iter().enumerate().flat_map(|(number, plan)| parts(number, plan)).collect();
    let groups = connected(&parts);
    let mut attributes: Vec<(String, Epsilon, usize)> = Vec::new();
    for (part, group) in parts.iter().zip(&groups) {
        let of_plan = |number: usize| {
            let own = parts.iter().zip(&groups).filter(|(part, other)| part.plan == number && *other == group);
            let sum = own.fold(Epsilon::ZERO, |sum, (part, _)| sum + part.conditional);
            sum.min(plans[number].guarantee().epsilon())
        };
        let together = (0..plans.len()).map(of_plan).fold(Epsilon::ZERO, Add::add);
        for name in &part.names {
            if attributes.iter().any(|(known, ..)| known == name) {
                continue;
            }
            let asks = |number: &usize| parts.iter().any(|part| part.plan == *number && part.is_about(name));
            let plans = (0..plans.len()).filter(asks).count();
            attributes.push((name.clone(), together, plans));
        }
    }
    Composition { epsilon, attributes }
}

/// A component of one of the plans.
struct Part {
    plan: usize,
    /// Names of its randomized attributes.
    names: Vec<String>,
    /// Source columns of all its attributes.
    columns: Vec<String>,
    conditional: Epsilon,
}

impl Part {
    fn is_about(&self, name: &str) -> bool {
        columns(name).any(|column| self.columns.iter().any(|own| own == column))
    }
}

fn columns(name: &str) -> impl Iterator<Item = &str> {
    candor_base::schema::parts(name).into_iter().chain([name])
}

fn parts(plan: usize, of: &Plan) -> Vec<Part> {
    let part = |component: candor_base::schema::Component| {
        let inside = |a: usize| component.attributes().contains(&a);
        let certified: Vec<_> = of.guarantee().attributes().iter().filter(|a| inside(a.attribute)).collect();
        let named = component.attributes().iter().map(|&a| of.schema().name(a));
        Part {
            plan,
            names: certified.iter().map(|a| of.schema().name(a.attribute).to_owned()).collect(),
            columns: named.flat_map(columns).map(str::to_owned).collect(),
            conditional: certified.iter().map(|a| a.conditional).fold(Epsilon::ZERO, Epsilon::max),
        }
    };
    of.schema().components().into_iter().map(part).collect()
}

/// Returns a number for each part; parts connected by source columns have the same number.
fn connected(parts: &[Part]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..parts.len()).collect();
    for a in 0..parts.len() {
        for b in 0..a {
            if groups[a] != groups[b] && parts[a].columns.iter().any(|column| parts[b].columns.contains(column)) {
                let (from, to) = (groups[a], groups[b]);
                groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Part, Pattern, PatternSet};
    use candor_base::plan::Block;
    use candor_base::schema::Schema;

    fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
        Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
    }

    #[test]
    fn several_plans_add_up() {
        let k_ary = |n: usize, epsilon: f64| Pattern::k_ary(vec![Axis::single(n)], epsilon).unwrap();
        let first = plan(&[3, 4], vec![Block::new(vec![0], k_ary(3, 1.0)), Block::new(vec![1], k_ary(4, 0.5))]);
        let second = plan(&[3], vec![Block::new(vec![0], k_ary(3, 0.25))]);
        let together = compose(&[&first, &second]);
        assert!((together.epsilon.as_f64() - 1.75).abs() < 1e-9);
        assert_eq!(together.attributes.len(), 2);
        assert!((together.attributes[0].1.as_f64() - 1.25).abs() < 1e-9 && together.attributes[0].2 == 2);
        // Computed from the joint distribution of both responses.
        let kept = k_ary(3, 0.25).keep_probability(0);
        let ratio = (kept * kept) / ((1.0 - kept) / 2.0 * (1.0 - kept) / 2.0);
        assert!((compose(&[&second, &second]).epsilon.as_f64() - ratio.ln()).abs() < 1e-9);
        let no_miss = vec![Part { set: PatternSet::no_miss(), weight: 1 }];
        let diverse = plan(&[3], vec![Block::new(vec![0], Pattern::new(vec![Axis::set(3, 2)], no_miss).unwrap())]);
        assert_eq!(compose(&[&first, &diverse]).epsilon.finite(), None);
        assert_eq!(compose(&[]).epsilon, Epsilon::ZERO);
    }

    /// `a` in one plan and `a*b` in the other share a source column.
    #[test]
    fn crossings_add_up_with_their_parts() {
        let attribute =
            |name: &str, labels: &[&str]| candor_base::schema::Attribute::new(name, labels.iter().copied()).unwrap();
        let k_ary = |n: usize, epsilon: f64| Pattern::k_ary(vec![Axis::single(n)], epsilon).unwrap();
        let own = Schema::new(vec![attribute("a", &["0", "1"])]).unwrap();
        let crossed = Schema::new(vec![attribute("a*b", &["0*0", "0*1", "1*0", "1*1"])]).unwrap();
        let first = Plan::new(own, vec![Block::new(vec![0], k_ary(2, 1.0))]).unwrap();
        let second = Plan::new(crossed, vec![Block::new(vec![0], k_ary(4, 2.0))]).unwrap();
        let together = compose(&[&first, &second]);
        for (name, epsilon, plans) in &together.attributes {
            assert!((epsilon.as_f64() - 3.0).abs() < 1e-9 && *plans == 2, "{name}: {epsilon} in {plans}");
        }
        assert_eq!(together.attributes.len(), 2);
    }
}
