//! Devices as channels and plans, in exact integers.

use candor_base::channel::{Axis, Channel, ChannelError, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;

use super::{Action, Device};
use crate::{DesignError, randomized_attributes};

/// Answers of the crosswise model: the answers to the two questions differ, or are the same.
const CROSSWISE: [&str; 2] = ["different", "the same"];

/// Answers of the triangular model: neither answer is yes, or at least one is.
const TRIANGULAR: [&str; 2] = ["neither", "at least one"];

impl Device {
    /// Returns the two answers of the device, if they are not the categories.
    pub fn answers(&self) -> Option<[&'static str; 2]> {
        match (self.is_crosswise(), self.is_triangular()) {
            (true, _) => Some(CROSSWISE),
            (_, true) => Some(TRIANGULAR),
            _ => None,
        }
    }
}

/// Returns the channel of a device, with numbers as labels.
///
/// # Errors
/// Returns a [`ChannelError`] if the device has too many outcomes for 64 bits.
pub fn channel(device: &Device) -> Result<Channel, ChannelError> {
    let labels: Vec<String> = (0..device.categories()).map(|category| category.to_string()).collect();
    match pattern(device) {
        Some(made) => made.map(Channel::Pattern),
        None => matrix(device, &labels).map(Channel::Matrix),
    }
}

/// Makes a plan in which each randomized attribute is answered with its own device, used independently.
///
/// With `shifted`, each questionnaire has one of several instruction cards, at random, as many as the question has
/// categories. Card `s` shifts true answers by `s` places, so that the answers reveal noncompliance. With two
/// categories, these are the compliance-check cards, half of which favor the opposite of the true answer.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] unless there is one device for each attribute. Returns
/// [`DesignError::Device`] if one is for another number of categories, or if the triangular model is to be shifted.
pub fn plan(schema: &Schema, devices: &[Device], shifted: bool) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    if devices.len() != private.len() {
        return Err(DesignError::CountMismatch { what: "device", found: devices.len(), expected: private.len() });
    }
    let block = |(&(attribute, size), device): (&(usize, usize), &Device)| {
        if device.categories() != size {
            return Err(DesignError::Device(format!(
                "a device for {} categories does not fit \"{}\", which has {size}",
                device.categories(),
                schema.name(attribute)
            )));
        }
        if shifted && device.is_triangular() {
            return Err(DesignError::Device(format!(
                "the triangular model has no compliance-check cards: shifted, \"neither\" would reveal the second \
                 category of \"{}\"; leave them out, or use the crosswise model",
                schema.name(attribute)
            )));
        }
        let cards: Vec<Device> = (0..if shifted { size } else { 1 }).map(|places| device.shifted(places)).collect();
        let lottery = lottery(&cards, schema.attributes()[attribute].categories())?;
        Ok(Block::lottery(vec![attribute], lottery.into_iter().map(|channel| (1, channel)).collect()))
    };
    let blocks = private.iter().zip(devices).map(block).collect::<Result<_, DesignError>>()?;
    let origin = Origin { method: "device".to_owned(), requested: vec![None; devices.len()] };
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(origin))
}

/// Returns the channels of the cards of one question, as patterns if possible, so that the plan needs no newer format.
fn lottery(cards: &[Device], labels: &[String]) -> Result<Vec<Channel>, ChannelError> {
    let patterns: Option<Vec<_>> = cards.iter().map(pattern).collect();
    match patterns {
        Some(made) => made.into_iter().map(|pattern| pattern.map(Channel::Pattern)).collect(),
        None => cards.iter().map(|card| matrix(card, labels).map(Channel::Matrix)).collect(),
    }
}

fn matrix(device: &Device, labels: &[String]) -> Result<Matrix, ChannelError> {
    let (columns, total) = device.columns();
    let labels = device.answers().map_or(labels.to_vec(), |answers| answers.map(String::from).to_vec());
    Matrix::with_total(vec![device.categories()], labels, total, columns)
}

/// Returns the device as a hidden mixture of true, opposite and random answers, or `None` if it is not one.
fn pattern(device: &Device) -> Option<Result<Pattern, ChannelError>> {
    let (mut told, mut opposite, mut said) = (0, 0, vec![0; device.categories()]);
    for (action, ways) in device.actions().iter().zip(device.gadget().ways()) {
        match *action {
            Action::Truth { shift: 0 } => told += ways,
            Action::Truth { .. } if device.categories() == 2 => opposite += ways,
            Action::Say(category) => said[category] += ways,
            Action::Truth { .. } | Action::Other { .. } => return None,
        }
    }
    if device.answers().is_some() || said.iter().any(|&ways| ways != said[0]) {
        return None;
    }
    let parts =
        [(PatternSet::no_miss(), told), (PatternSet::Only(vec![0]), opposite), (PatternSet::All, said.iter().sum())];
    let parts = parts.into_iter().filter(|&(_, weight)| weight > 0).map(|(set, weight)| Part { set, weight });
    Some(Pattern::new(vec![Axis::single(device.categories())], parts.collect()))
}
