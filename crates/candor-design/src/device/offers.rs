//! Lists common devices for an epsilon.

use candor_base::channel::Epsilon;

use super::{Device, DeviceKind, best_slope, channel};
use crate::DesignError;

/// The devices considered, in addition to wheels.
const GADGETS: [DeviceKind; 10] = [
    DeviceKind::Coins(2),
    DeviceKind::Coins(3),
    DeviceKind::Suit,
    DeviceKind::Die(6),
    DeviceKind::Die(10),
    DeviceKind::Rank,
    DeviceKind::Die(20),
    DeviceKind::TwoDice(6),
    DeviceKind::Card,
    DeviceKind::TwoDice(10),
];

/// Largest wheel considered; more sectors are hard to distinguish at a glance.
const LARGEST_WHEEL: u32 = 24;

/// Fraction of the best efficiency from which the simplest device is recommended.
const NEARLY: f64 = 0.95;

/// A common device with its best rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The device.
    pub device: Device,
    /// Number of outcomes that require the true answer.
    pub truth: u64,
    /// Number of outcomes that force each category.
    pub forced: u64,
    /// Certified epsilon.
    pub epsilon: Epsilon,
    /// Slope: number of truthful outcomes divided by all outcomes.
    pub slope: f64,
    /// Squared slope relative to the best device of the requested epsilon.
    pub efficiency: f64,
}

/// Lists common devices for an epsilon, best first.
///
/// Each device has the smallest number of forced outcomes that keeps its epsilon within the given one. Devices that
/// cannot reach it are omitted; wheels have at most 24 sectors. Only devices that force each category equally often are
/// considered. For two categories, no other device is better at the same epsilon (docs/mathematics/devices.md).
///
/// # Errors
/// Returns [`DesignError::Parameter`] unless there are 2 to 100 categories and epsilon is above 0.
pub fn offers(categories: usize, epsilon: f64) -> Result<Vec<Offer>, DesignError> {
    if !(2..=100).contains(&categories) {
        let range = "devices are for 2 to 100 categories".to_owned();
        return Err(DesignError::Parameter { name: "categories", value: categories as f64, range });
    }
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(DesignError::Parameter {
            name: "epsilon",
            value: epsilon,
            range: "it is a number above 0".to_owned(),
        });
    }
    let wheels = (3..=LARGEST_WHEEL).filter_map(|sectors| offer(categories, epsilon, DeviceKind::Wheel(sectors)));
    // Among equally good wheels, prefer the one with the fewest sectors.
    let wheel = wheels.reduce(|best, next| if next.efficiency > best.efficiency + 1e-12 { next } else { best });
    let mut found: Vec<Offer> = GADGETS.iter().filter_map(|&gadget| offer(categories, epsilon, gadget)).collect();
    found.extend(wheel);
    found.sort_by(|a, b| b.efficiency.total_cmp(&a.efficiency).then(outcomes(a).cmp(&outcomes(b))));
    Ok(found)
}

/// Returns the simplest device that is nearly as efficient as the best.
pub fn recommended(offers: &[Offer]) -> Option<&Offer> {
    let best = offers.first()?.efficiency;
    offers.iter().filter(|offer| offer.efficiency >= NEARLY * best).min_by_key(|offer| outcomes(offer))
}

fn outcomes(offer: &Offer) -> u64 {
    offer.device.gadget().total()
}

fn offer(categories: usize, epsilon: f64, gadget: DeviceKind) -> Option<Offer> {
    let total = gadget.total();
    let near = (total as f64 / (epsilon.exp() + categories as f64 - 1.0)).ceil() as u64;
    for forced in near.saturating_sub(1).max(1).. {
        let device = Device::symmetric(categories, gadget, forced as usize)?;
        let certified = channel(&device).ok()?.record_epsilon();
        if certified.as_f64() <= epsilon {
            let truth = total - categories as u64 * forced;
            let slope = truth as f64 / total as f64;
            let efficiency = (slope / best_slope(categories, epsilon)).powi(2);
            return Some(Offer { device, truth, forced, epsilon: certified, slope, efficiency });
        }
    }
    None
}
