//! Randomization devices for surveys without a computer: recommended ones, the efficiency of a given one, and the
//! plan.

use candor_analysis::estimate::Interval;
use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Schema};
use candor_design::device::{self, Offer, offers, parse, recommended};
pub use candor_design::device::{Device, DeviceKind};
use serde::Serialize;

use crate::error::{StudyError, check_confidence};

/// Options of randomization devices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceOptions<'a> {
    /// Largest epsilon of one answer; required unless a device is given.
    pub epsilon: Option<f64>,
    /// A given device for every question, such as `die: 1-4 truth, 5 yes, 6 no`.
    pub device: Option<&'a str>,
    /// Margin of error for which sample sizes are computed.
    pub margin: f64,
    /// Confidence level of that margin.
    pub confidence: f64,
    /// Whether to use compliance-check cards, which shift the labels so that noncompliance can be detected.
    pub mirrored: bool,
}

impl<'a> DeviceOptions<'a> {
    candor_runtime::options! {
        epsilon: impl Into<Option<f64>>,
        device: impl Into<Option<&'a str>>,
        margin: f64,
        confidence: f64,
        mirrored: bool,
    }
}

impl Default for DeviceOptions<'_> {
    fn default() -> Self {
        DeviceOptions { epsilon: None, device: None, margin: 0.05, confidence: 0.95, mirrored: false }
    }
}

impl DeviceOptions<'_> {
    /// Returns options that divide a record-level epsilon equally among the questions of a schema.
    pub fn within(schema: &Schema, record_epsilon: f64) -> Self {
        let questions = schema.randomized().len().max(1);
        DeviceOptions { epsilon: Some(record_epsilon / questions as f64), ..DeviceOptions::default() }
    }
}

/// Devices for the questions of a schema, and the plan of the chosen ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Devices {
    /// Largest epsilon of one answer, if given.
    pub epsilon: Option<f64>,
    /// Margin of error for which sample sizes are computed.
    pub margin: f64,
    /// Confidence level of that margin.
    pub confidence: f64,
    /// Devices for each randomized attribute.
    pub questions: Vec<QuestionDevices>,
    /// Record-level epsilon of the plan; `None` if unbounded.
    pub record_epsilon: Option<f64>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Warnings, in sentences.
    pub warnings: Vec<String>,
    /// The plan of the chosen devices. Not in JSON; it is written to a file.
    #[serde(skip)]
    pub plan: Plan,
    /// Chosen device for each randomized attribute. Not in JSON.
    #[serde(skip)]
    pub devices: Vec<Device>,
}

/// Devices for one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionDevices {
    /// Name of the attribute.
    pub attribute: String,
    /// Number of its categories.
    pub categories: usize,
    /// Possible devices, best first.
    pub devices: Vec<ListedDevice>,
    /// Index of the device that the plan uses.
    pub chosen: usize,
}

/// Properties of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ListedDevice {
    /// The device, as `--device` accepts it.
    pub device: String,
    /// Likelihood ratio of one answer, as an exact fraction; `None` if unbounded.
    pub ratio: Option<String>,
    /// Certified epsilon of one answer; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Increase of the share of an answer per increase of the share of its category.
    pub slope: Option<f64>,
    /// Information relative to the best device at the requested epsilon or, without one, at the device's own.
    pub efficiency: Option<f64>,
    /// Sample size for the margin in a uniform population.
    pub respondents: Option<f64>,
}

/// Recommends devices for the questions of a schema, or evaluates a given one, and makes the plan.
///
/// Each question has its own throw or draw.
///
/// # Errors
/// Returns [`StudyError`] if neither an epsilon nor a device is given, the device does not fit a question, or no
/// device can realize the probabilities.
pub fn devices(schema: &Schema, options: &DeviceOptions<'_>) -> Result<Devices, StudyError> {
    check_confidence(options.confidence)?;
    if !(options.margin > 0.0 && options.margin < 1.0) {
        return Err(StudyError::InvalidParameter("`margin` must be above 0 and below 1, such as 0.02"));
    }
    let (mut questions, mut chosen) = (Vec::new(), Vec::new());
    for attribute in schema.randomized() {
        let (question, device) = question(schema, attribute, options)?;
        questions.push(question);
        chosen.push(device);
    }
    let plan = device::plan(schema, &chosen, options.mirrored)?;
    Ok(Devices {
        epsilon: options.epsilon,
        margin: options.margin,
        confidence: options.confidence,
        questions,
        record_epsilon: plan.guarantee().epsilon().finite(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        warnings: warnings(&plan, &chosen),
        plan,
        devices: chosen,
    })
}

fn question(
    schema: &Schema,
    attribute: usize,
    options: &DeviceOptions<'_>,
) -> Result<(QuestionDevices, Device), StudyError> {
    let described = &schema.attributes()[attribute];
    let labels = described.categories();
    let about = |devices, chosen| QuestionDevices {
        attribute: described.name().to_owned(),
        categories: labels.len(),
        devices,
        chosen,
    };
    if let Some(text) = options.device {
        let refused = |error| StudyError::Refused(format!("`device`: {error} (\"{}\")", described.name()));
        let device = parse(text, labels).map_err(refused)?;
        return Ok((about(vec![listed(&device, labels, options)?], 0), device));
    }
    let Some(epsilon) = options.epsilon else {
        return Err(StudyError::InvalidParameter(
            "`epsilon`, the largest privacy loss of one answer, or a `device` is required",
        ));
    };
    let found = offers(labels.len(), epsilon)?;
    let Some(best) = recommended(&found) else {
        return Err(StudyError::Refused(format!(
            "no device reaches epsilon {epsilon} with {} categories: it would require more than a hundred outcomes",
            labels.len()
        )));
    };
    let chosen = found.iter().position(|offer| offer == best).unwrap_or(0);
    let listed = found.iter().map(|offer: &Offer| listed(&offer.device, labels, options));
    Ok((about(listed.collect::<Result<_, StudyError>>()?, chosen), best.device.clone()))
}

fn listed(device: &Device, labels: &[String], options: &DeviceOptions<'_>) -> Result<ListedDevice, StudyError> {
    let channel: Channel = device::channel(device).map_err(candor_design::DesignError::from)?;
    let epsilon = channel.record_epsilon().finite();
    let reach = Interval::Wald.reach(options.confidence, 1);
    let share = 1.0 / labels.len() as f64;
    let variances: Option<Vec<f64>> = (0..labels.len()).map(|category| device.variance(category, share)).collect();
    let largest = variances.map(|all| all.into_iter().fold(0.0, f64::max));
    Ok(ListedDevice {
        device: device.written(labels),
        ratio: channel.parity().map(|ratio| ratio.to_string()),
        epsilon,
        slope: device.slope(),
        efficiency: options.epsilon.or(epsilon).and_then(|epsilon| device.efficiency(epsilon)),
        respondents: largest.map(|variance| (variance * (reach / options.margin).powi(2)).ceil()),
    })
}

/// Returns warnings about assumptions that the plan does not state.
fn warnings(plan: &Plan, devices: &[Device]) -> Vec<String> {
    let mut said = Vec::new();
    if devices.iter().any(|device| !device.is_secret()) {
        said.push(
            "An adversary who knows the answer to the other question, such as a birthday or a house number, can work \
             out the sensitive answer: against them there is no epsilon. The printed epsilon holds for everybody else."
                .to_owned(),
        );
        let moved = match devices.iter().all(Device::is_triangular) {
            true => "-0.01 (1 - p)/(1 - q)",
            false => "0.01 (1 - 2p)/(2q - 1)",
        };
        said.push(format!(
            "The prevalence of the other question must be known, not assumed: months are not one in twelve, and a \
             prevalence that is off by 0.01 moves an estimated share p by {moved}, q the prevalence."
        ));
    }
    let asked = devices.iter().filter(|device| !device.is_secret()).count();
    if asked > 1 {
        said.push(
            "Take a different other question for each: one birthday is one draw, and answers that share it are not \
             independent."
                .to_owned(),
        );
    }
    if devices.iter().any(|device| device.gadget() == DeviceKind::Sum) {
        said.push("The sum of two dice is not uniform: 7 comes up six times as often as 2 or 12.".to_owned());
    }
    let triangular = devices.iter().zip(plan.schema().randomized()).filter(|(device, _)| device.is_triangular());
    said.extend(triangular.map(|(device, attribute)| one_sided(device, &plan.schema().attributes()[attribute])));
    let others = plan.blocks().iter().zip(devices).filter(|(_, device)| !device.is_triangular());
    if others.flat_map(|(block, _)| block.channels()).any(|(_, channel)| channel.record_epsilon().finite().is_none()) {
        said.push("This device has no finite epsilon: some answers rule out some truths.".to_owned());
    }
    said
}

/// Describes what answers in the triangular model reveal, computed from the integers of its columns.
fn one_sided(device: &Device, attribute: &Attribute) -> String {
    let (columns, total) = device.columns();
    let labels = attribute.categories();
    let times = if columns[0][1] == 1 { total.to_string() } else { format!("{total}/{}", columns[0][1]) };
    format!(
        "There is no epsilon for \"{}\": the reply \"neither\" reveals \"{}\", which must not be sensitive. No reply \
         reveals \"{}\": \"at least one\" is {times} times as likely for it.",
        attribute.name(),
        labels[0],
        labels[1]
    )
}
