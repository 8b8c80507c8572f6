//! Minimum numbers of respondents: each component needs enough respondents whose answers are informative about it.

use super::balance::Information;

/// Required number of informative respondents for each component.
const ENOUGH: f64 = 30.0;

/// Returns, for each component, the effective fraction of respondents who are informative about it.
///
/// It is `(sum w I)^2 / sum w I^2`: the fraction of equally informative respondents that would give the same variation.
/// That is, one over the number of respondents times the relative variance of the information due to the assignment of
/// channels.
fn shares(gives: &[Information], weights: &[f64], components: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); components];
    for (gives, weight) in gives.iter().zip(weights) {
        for &(u, give) in gives {
            sums[u].0 += weight * give;
            sums[u].1 += weight * give * give;
        }
    }
    sums.into_iter().map(|(once, twice)| if twice > 0.0 { once * once / twice } else { 0.0 }).collect()
}

/// Raises weights until each component has enough informative respondents.
///
/// Weights that suffice are returned unchanged. Otherwise the most informative channel of each deficient component is
/// raised. Returns `None` if there are too few respondents.
pub fn raised(gives: &[Information], weights: &[f64], components: usize, respondents: f64) -> Option<Vec<f64>> {
    let share = ENOUGH / respondents;
    let mut floors = vec![0.0; weights.len()];
    let mut raised = weights.to_vec();
    loop {
        let shares = shares(gives, &raised, components);
        if shares.iter().all(|own| *own >= share) {
            return Some(raised);
        }
        // The most informative channel of each deficient component.
        let mut main: Vec<Option<(f64, usize)>> = vec![None; components];
        for (candidate, gives) in gives.iter().enumerate() {
            for &(u, give) in gives.iter().filter(|(u, _)| shares[*u] < share) {
                let tells = raised[candidate] * give;
                if main[u].is_none_or(|(most, _)| tells > most) {
                    main[u] = Some((tells, candidate));
                }
            }
        }
        if (0..components).any(|u| shares[u] < share && main[u].is_none()) {
            return None;
        }
        for (_, candidate) in main.into_iter().flatten() {
            floors[candidate] = (1.1 * raised[candidate]).max(share);
        }
        let held: f64 = floors.iter().sum();
        let free: f64 = weights.iter().zip(&floors).filter(|(_, floor)| **floor == 0.0).map(|(weight, _)| weight).sum();
        if held >= 1.0 || free <= 0.0 {
            return None;
        }
        let weight = |(weight, floor): (&f64, &f64)| if *floor > 0.0 { *floor } else { weight * (1.0 - held) / free };
        raised = weights.iter().zip(&floors).map(weight).collect();
    }
}

/// Returns about how many respondents are needed, to two digits.
pub fn needed(gives: &[Information], weights: &[f64], components: usize) -> f64 {
    let would_do = |respondents: &f64| raised(gives, weights, components, *respondents).is_some();
    let candidates = (2..16).flat_map(|power| (10..100).map(move |digits| f64::from(digits) * 10f64.powi(power - 1)));
    let candidates: Vec<f64> = candidates.collect();
    candidates[candidates.partition_point(|respondents| !would_do(respondents)).min(candidates.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_tickets_are_raised() {
        let gives = [vec![(0, 0.5)], vec![(1, 0.2)], vec![(2, 0.1)]];
        let weights = [0.9, 0.099, 0.001];
        assert_eq!(raised(&gives, &weights, 3, 1e6).unwrap(), weights, "30 of a million are enough");
        let found = raised(&gives, &weights, 3, 1e3).unwrap();
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found[2] - 0.03).abs() < 1e-12 && (found[0] / found[1] - 0.9 / 0.099).abs() < 1e-9, "{found:?}");
        assert_eq!(raised(&gives, &weights, 3, 89.0), None, "three groups of 30");
        let least = needed(&gives, &weights, 3);
        assert!((90.0..=130.0).contains(&least), "{least}");
    }

    #[test]
    fn little_information_counts_little() {
        // All respondents are slightly informative about it, and one in a thousand nearly completely.
        let gives = [vec![(0, 1.0), (1, 1e-9)], vec![(1, 1.0)]];
        let found = shares(&gives, &[0.999, 0.001], 2);
        assert!((found[0] - 0.999).abs() < 1e-12 && (found[1] - 0.001).abs() < 1e-6, "{found:?}");
    }
}
