//! Devices for surveys without a computer: what they can do, what somebody's own one wastes, and the plan.

use candor_analysis::estimate::Interval;
use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Schema};
use candor_design::device::{self, Offer, offers, parse, recommended};
pub use candor_design::device::{Device, DeviceKind};
use serde::Serialize;

use crate::error::{StudyError, check_confidence};

/// What is asked of devices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceOptions<'a> {
    /// What one answer may lose at most; needed unless a device is given.
    pub epsilon: Option<f64>,
    /// Somebody's own device, such as `die: 1-4 truth, 5 yes, 6 no`, for every question.
    pub device: Option<&'a str>,
    /// The margin that respondents are told for.
    pub margin: f64,
    /// The confidence of that margin.
    pub confidence: f64,
    /// Whether cards shift the labels, so that the answers show who does not follow them.
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
    /// Devices for the questions of a schema whose answers lose at most this record-level epsilon together: an equal
    /// part each.
    pub fn within(schema: &Schema, record_epsilon: f64) -> Self {
        let questions = schema.randomized().len().max(1);
        DeviceOptions { epsilon: Some(record_epsilon / questions as f64), ..DeviceOptions::default() }
    }
}

/// Devices for every question of a schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Devices {
    /// What one answer may lose at most, if that was asked.
    pub epsilon: Option<f64>,
    /// The margin that respondents are told for.
    pub margin: f64,
    /// The confidence of that margin.
    pub confidence: f64,
    /// One for each randomized attribute.
    pub questions: Vec<QuestionDevices>,
    /// What all answers of the plan lose together; `None` if unbounded.
    pub record_epsilon: Option<f64>,
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// What should be known, in sentences.
    pub warnings: Vec<String>,
    /// The plan of the chosen devices. Not in JSON: it is a file of its own.
    #[serde(skip)]
    pub plan: Plan,
    /// The chosen devices, one for each randomized attribute. Not in JSON.
    #[serde(skip)]
    pub devices: Vec<Device>,
}

/// The devices for one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionDevices {
    /// The attribute.
    pub attribute: String,
    /// How many categories it has.
    pub categories: usize,
    /// What can be used, the best first.
    pub devices: Vec<ListedDevice>,
    /// Which of them the plan uses.
    pub chosen: usize,
}

/// A device and what it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ListedDevice {
    /// The device, as `--device` reads it.
    pub device: String,
    /// How many times as likely an answer may be for one truth as for another, as an exact fraction; `None` if
    /// unbounded.
    pub ratio: Option<String>,
    /// Its certified epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// By how much the share of an answer rises with that of its category.
    pub slope: Option<f64>,
    /// What it tells, of what the best device tells at the epsilon asked for, or else at its own.
    pub efficiency: Option<f64>,
    /// How many respondents the margin takes, if the truth is uniform.
    pub respondents: Option<f64>,
}

/// What devices can do for the questions of a schema, and the plan of the recommended ones, or of the one given. Each
/// question is answered with its own throw.
///
/// # Errors
/// If neither an epsilon nor a device is given, the device does not fit a question, or no gadget can do it.
pub fn devices(schema: &Schema, options: &DeviceOptions<'_>) -> Result<Devices, StudyError> {
    check_confidence(options.confidence)?;
    if !(options.margin > 0.0 && options.margin < 1.0) {
        return Err(StudyError::Needs("`margin` must be above 0 and below 1, such as 0.02"));
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
        return Err(StudyError::Needs("`epsilon`, the largest privacy loss of one answer, or a `device` is required"));
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

/// What a plan of devices rests on that it does not say.
fn warnings(plan: &Plan, devices: &[Device]) -> Vec<String> {
    let mut said = Vec::new();
    if devices.iter().any(|device| !device.is_secret()) {
        said.push(
            "Whoever knows the answer to the other question, such as a birthday or a house number, can read the \
             secret: against them there is no epsilon. What is printed holds for everybody else."
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

/// What the answers of the triangular model reveal, and how much the other one tells: from the integers of its column.
fn one_sided(device: &Device, attribute: &Attribute) -> String {
    let (columns, total) = device.columns();
    let labels = attribute.categories();
    let times = if columns[0][1] == 1 { total.to_string() } else { format!("{total}/{}", columns[0][1]) };
    format!(
        "There is no epsilon for \"{}\": who says \"neither\" reveals \"{}\", and that is what nobody should mind. \
         Nobody reveals \"{}\": \"at least one\" is {times} times as likely for it.",
        attribute.name(),
        labels[0],
        labels[1]
    )
}
