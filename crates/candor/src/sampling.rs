//! Subpopulations and sampling designs, the same for every function that analyzes responses.
//!
//! The options are groups, a condition, weights, strata, PSUs, replicate weights and benchmarks.

use std::collections::BTreeMap;

use candor_analysis::adjust::KnownMargin;
pub use candor_analysis::adjust::KnownShare;
use candor_analysis::calibrate::{CalibrateError, calibrate};
use candor_analysis::condition::Condition;
use candor_analysis::regress::DegreesOfFreedom;
use candor_analysis::table_list::TableList;
pub use candor_analysis::tally::{About, LonelyPsu, ReplicateMethod};
use candor_analysis::tally::{Replication, TableCounts, VarianceMethod};
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::Inputs;
use candor_tables::model::DesignColumns;
use candor_tables::tally::SampleColumns;

use crate::benchmarks::{distributions, refused};
use crate::choice::Choice;
use crate::counts::{CountOptions, Counts, public_attributes};
use crate::error::StudyError;
use crate::sampling_note::{Circumstance, Circumstances};

/// Options for the subpopulation and the sampling design. All columns are public.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SamplingOptions {
    /// Public attributes whose groups are estimated separately.
    pub by: Vec<String>,
    /// Subpopulation: a condition on public attributes.
    pub condition: Option<String>,
    /// Column of sampling weights.
    pub weights: Option<String>,
    /// Column of strata.
    pub strata: Option<String>,
    /// Column of primary sampling units (PSU) within strata.
    pub psu: Option<String>,
    /// Column for the finite population correction.
    ///
    /// It contains the number of PSUs in the stratum or, if at most 1, the sampled fraction.
    pub fpc: Option<String>,
    /// Name pattern of replicate weight columns, such as `rep_*`.
    pub replicate_weights: Option<String>,
    /// Method of the replicate weights.
    pub replicate_method: Option<ReplicateMethod>,
    /// For Fay's method, the fraction of its weight that the down-weighted half-sample keeps.
    pub fay: Option<f64>,
    /// Factor of all squared deviations of replicates; that of the method by default.
    pub replicate_scale: Option<f64>,
    /// Factor of each squared deviation, one or one per replicate; empty for those of the method.
    pub replicate_rscales: Vec<f64>,
    /// Value from which the deviations of replicates are measured; the full-sample estimate by default.
    pub replicate_about: Option<About>,
    /// Treatment of strata with one PSU; an error by default.
    pub lonely_psu: Option<LonelyPsu>,
    /// Population benchmarks of public attributes, to which the weights are raked.
    pub benchmarks: Vec<KnownShare>,
}

impl SamplingOptions {
    candor_runtime::options! {
        by: Vec<String>,
        condition: impl Into<Option<String>>,
        weights: impl Into<Option<String>>,
        strata: impl Into<Option<String>>,
        psu: impl Into<Option<String>>,
        fpc: impl Into<Option<String>>,
        replicate_weights: impl Into<Option<String>>,
        replicate_method: impl Into<Option<ReplicateMethod>>,
        fay: impl Into<Option<f64>>,
        replicate_scale: impl Into<Option<f64>>,
        replicate_rscales: Vec<f64>,
        replicate_about: impl Into<Option<About>>,
        lonely_psu: impl Into<Option<LonelyPsu>>,
        benchmarks: Vec<KnownShare>,
    }
}

impl Choice for ReplicateMethod {
    const PARAMETER: &'static str = "replicate_method";
    const ALL: &'static [(&'static str, ReplicateMethod, &'static str)] = &[
        ("jk1", ReplicateMethod::Jk1, "Jackknife without strata: each replicate leaves out one random group"),
        ("jkn", ReplicateMethod::Jkn, "Stratified jackknife: each replicate leaves out one sampling unit"),
        ("jk2", ReplicateMethod::Jk2, "Paired jackknife: one replicate for each pair of units"),
        ("brr", ReplicateMethod::Balanced, "Balanced repeated replication"),
        ("fay", ReplicateMethod::Fay, "Balanced half samples whose other half keeps a share of its weight"),
        ("bootstrap", ReplicateMethod::Bootstrap, "Rescaled bootstrap"),
        ("sdr", ReplicateMethod::Successive, "Successive differences"),
        ("jackknife", ReplicateMethod::Jackknife, "A jackknife whose scale is given"),
    ];
}

impl Choice for About {
    const PARAMETER: &'static str = "replicate_about";
    const ALL: &'static [(&'static str, About, &'static str)] = &[
        (
            "estimate",
            About::Estimate,
            "The estimate with the \
                                                                                                 full-sample weights",
        ),
        ("mean", About::Mean, "The mean of the replicate estimates"),
    ];
}

impl Choice for LonelyPsu {
    const PARAMETER: &'static str = "lonely_psu";
    const ALL: &'static [(&'static str, LonelyPsu, &'static str)] = &[
        ("fail", LonelyPsu::Fail, "An error"),
        ("certainty", LonelyPsu::Certainty, "Nothing, as if drawn for certain"),
        ("adjust", LonelyPsu::Adjust, "Their distance from the mean over all units"),
        ("average", LonelyPsu::Average, "As much as the other strata on average"),
    ];
}

impl Choice for DegreesOfFreedom {
    const PARAMETER: &'static str = "df";
    const ALL: &'static [(&'static str, DegreesOfFreedom, &'static str)] = &[
        ("satterthwaite", DegreesOfFreedom::Satterthwaite, "Bell and McCaffrey's, for each coefficient"),
        ("design", DegreesOfFreedom::Design, "PSUs less strata plus 1 less coefficients"),
    ];
}

/// A sampling design: options validated against a schema; by default, a simple random sample.
#[derive(Clone, Debug, Default)]
pub struct SamplingDesign {
    by: Vec<usize>,
    condition: Option<(String, Condition)>,
    weights: Option<String>,
    columns: SampleColumns,
    /// Public attributes with the benchmark shares of their categories.
    margins: Vec<KnownMargin>,
}

impl SamplingDesign {
    /// Validates options.
    ///
    /// # Errors
    /// Returns an error if an attribute is not public, the condition or a benchmark is invalid, or options cannot
    /// be combined.
    pub fn new(schema: &Schema, options: &SamplingOptions) -> Result<SamplingDesign, StudyError> {
        let by = public_attributes(schema, &options.by)?;
        let condition = options.condition.as_ref().map(|text| condition(schema, text)).transpose()?;
        let replicates = replicates(options)?;
        let (strata, clusters, population) = (options.strata.clone(), options.psu.clone(), options.fpc.clone());
        if replicates.is_some() && (strata.is_some() || clusters.is_some() || population.is_some()) {
            return Err(StudyError::InvalidParameter(
                "`replicate_weights` cannot be used with `strata`, `psu` or `fpc`",
            ));
        }
        if replicates.is_some() && options.weights.is_none() {
            return Err(StudyError::InvalidParameter(
                "`replicate_weights` require `weights`, the weights of the estimate itself",
            ));
        }
        if options.lonely_psu.is_some() && strata.is_none() {
            return Err(StudyError::InvalidParameter("`lonely_psu` requires `strata`"));
        }
        let lonely = options.lonely_psu.unwrap_or_default();
        let columns = SampleColumns { strata, clusters, population, replicates, lonely };
        let margins = margins(schema, &options.benchmarks)?;
        Ok(SamplingDesign { by, condition, weights: options.weights.clone(), columns, margins })
    }

    /// Returns whether standard errors depend on a sampling design.
    pub fn has_design(&self) -> bool {
        !self.columns.is_simple()
    }

    /// Returns the public attributes to count by: those of groups, condition and benchmarks.
    fn counted_by(&self) -> Vec<usize> {
        let of_condition = self.condition.iter().flat_map(|(_, condition)| condition.attributes());
        let mut all: Vec<usize> = Vec::new();
        for &attribute in self.by.iter().chain(of_condition).chain(self.margins.iter().map(|own| &own.attribute)) {
            if !all.contains(&attribute) {
                all.push(attribute);
            }
        }
        all
    }

    /// Counts responses for some tables.
    ///
    /// Call [`calibrated`](SamplingDesign::calibrated) next, which applies the subpopulation and the benchmarks.
    ///
    /// # Errors
    /// Returns [`TableError`] if
    /// - a file was made with another plan or cannot be read,
    /// - a value is not a valid response,
    /// - a column of the design is missing, not public or invalid,
    /// - `progress` cancels.
    pub fn read(
        &self,
        plan: &Plan,
        inputs: Inputs,
        tables: &TableList,
        keep_sets: bool,
        progress: ProgressSink<'_>,
    ) -> Result<Counts, TableError> {
        let by = self.counted_by();
        let options = CountOptions { by: &by, weights: self.weights.as_deref(), keep_sets };
        match self.has_design() {
            true => Counts::read_sample(plan, inputs, tables, options, &self.columns, progress),
            false => Counts::read(plan, inputs, tables, options, progress),
        }
    }

    /// Returns the tables that precomputed counts must contain.
    ///
    /// These are the requested tables, each crossed with the public attributes of groups, condition and benchmarks.
    ///
    /// # Errors
    /// Returns an error if the options require weights or sampling units, which counts do not contain.
    pub fn required_tables(&self, schema: &Schema, tables: &TableList) -> Result<TableList, StudyError> {
        if self.weights.is_some() || self.has_design() {
            return Err(StudyError::InvalidParameter(
                "counts contain neither weights nor sampling units: `weights`, `strata`, `psu`, `fpc` and \
                 `replicate_weights` require the responses; `by`, `where` and `benchmarks` also accept counts",
            ));
        }
        let by = self.counted_by();
        if let Some(&both) = by.iter().find(|a| tables.lists().iter().any(|list| list.contains(a))) {
            return Err(StudyError::InTable(schema.name(both).to_owned()));
        }
        let lists = tables.lists().iter().map(|list| [&by[..], list].concat()).collect();
        TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })
    }

    /// Applies groups, subpopulation and benchmarks to counts.
    ///
    /// The counts must come from [`SamplingDesign::read`], or be precomputed for
    /// [`SamplingDesign::required_tables`].
    ///
    /// # Errors
    /// Returns an error if no weights reproduce the benchmarks or the subpopulation is empty.
    pub fn calibrated(&self, plan: &Plan, counts: Counts) -> Result<Counts, StudyError> {
        let all = self.counted_by();
        let counts = if counts.by() == all { counts } else { counts.group_by(plan, &all)? };
        let place = |attribute: usize| all.iter().position(|&a| a == attribute).unwrap_or(0);
        let mut groups = counts.groups().clone();
        if !self.margins.is_empty() {
            let places: Vec<usize> = self.margins.iter().map(|own| place(own.attribute)).collect();
            let margins: Vec<Vec<f64>> = self.margins.iter().map(|own| own.shares.clone()).collect();
            calibrate(&mut groups, &places, &margins).map_err(|error| self.not_calibrated(plan.schema(), &error))?;
        }
        let mut kept: BTreeMap<Vec<u16>, Vec<TableCounts>> = BTreeMap::new();
        let mut rows: BTreeMap<Vec<u16>, u64> = BTreeMap::new();
        for (key, tallies) in groups {
            let code = |attribute: usize| key[place(attribute)];
            if self.condition.as_ref().is_some_and(|(_, condition)| !condition.holds(code)) {
                continue;
            }
            let own: Vec<u16> = self.by.iter().map(|&attribute| code(attribute)).collect();
            *rows.entry(own.clone()).or_insert(0) += counts.rows(&key);
            match kept.get_mut(&own) {
                Some(held) => held.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more)),
                None => drop(kept.insert(own, tallies)),
            }
        }
        if kept.is_empty() {
            let text = self.condition.as_ref().map_or("", |(text, _)| text);
            return Err(StudyError::Refused(format!("`where`: no response satisfies {text}")));
        }
        let design = self.circumstances(plan.schema(), kept.values().flatten().find_map(TableCounts::drawn));
        Ok(counts.of_survey(&self.by, kept, rows, design))
    }

    /// Returns the columns of the sampling design that a regression reads in addition to the answers.
    pub(crate) fn beside(&self) -> DesignColumns<'_> {
        let SampleColumns { strata, clusters, population, replicates, .. } = &self.columns;
        DesignColumns {
            weights: self.weights.as_deref(),
            clusters: clusters.as_deref(),
            strata: strata.as_deref(),
            fpc: population.as_deref(),
            replicates: replicates.as_ref().map(|(pattern, _)| pattern.as_str()),
        }
    }

    /// Returns the method of the replicate weights, if there are any.
    pub(crate) fn replicates(&self) -> Option<&Replication> {
        self.columns.replicates.as_ref().map(|(_, how)| how)
    }

    /// Returns the treatment of strata with one PSU.
    pub(crate) fn lonely(&self) -> LonelyPsu {
        self.columns.lonely
    }

    /// Returns the public attributes with the benchmark shares of their categories.
    pub(crate) fn margins(&self) -> &[KnownMargin] {
        &self.margins
    }

    pub(crate) fn not_calibrated(&self, schema: &Schema, error: &CalibrateError) -> StudyError {
        StudyError::Refused(match error {
            CalibrateError::Nobody { attribute, category, responses } => {
                let attribute = &schema.attributes()[self.margins[*attribute].attribute];
                let (name, label) = (attribute.name(), &attribute.categories()[*category]);
                let which = match responses {
                    true => "some responses have it, but its share in the population is stated as 0",
                    false => "some of the population have it, but no response with a weight does",
                };
                format!("`benchmarks`: \"{label}\" of \"{name}\": {which}; merge categories, or leave \"{name}\" out")
            }
            error => format!("`benchmarks`: {error}"),
        })
    }

    /// Describes the subpopulation and the sampling design; `None` for a simple random sample of everybody.
    fn circumstances(&self, schema: &Schema, drawn: Option<&VarianceMethod>) -> Option<Circumstances> {
        let errors = drawn.map(|drawn| match drawn {
            VarianceMethod::Linearization(units) => Circumstance::Units {
                units: units.sample().stratum_of().len() as u64,
                strata: units.sample().strata().len(),
            },
            VarianceMethod::Replicates(method, tallies) => {
                Circumstance::Replicates { replicates: tallies.len(), method: method.method().name() }
            }
        });
        let condition = self.condition.as_ref().map(|(text, _)| Circumstance::Where(text.trim().to_owned()));
        Circumstances::new(condition.into_iter().chain(self.weighing(schema)).chain(errors).collect())
    }

    /// Describes the weights.
    fn weighing(&self, schema: &Schema) -> Vec<Circumstance> {
        let weights = self.weights.clone().map(Circumstance::Weighted);
        let names: Vec<String> = self.margins.iter().map(|own| schema.name(own.attribute).to_owned()).collect();
        let margins = (!names.is_empty()).then_some(Circumstance::Calibrated(names));
        weights.into_iter().chain(margins).collect()
    }

    /// Describes the same for a regression, with the numbers of replicate weights, PSUs and strata.
    pub(crate) fn words_of_model(&self, schema: &Schema, replicates: usize, units: [usize; 2]) -> Option<String> {
        let SampleColumns { strata, clusters, population, .. } = &self.columns;
        let errors = match (self.replicates(), clusters, strata) {
            (Some(method), ..) => Some(format!("errors by {replicates} replicates ({})", method.method.name())),
            (_, Some(clusters), Some(strata)) => {
                Some(format!("errors by {} PSUs ({clusters}) in {} strata ({strata})", units[0], units[1]))
            }
            (_, Some(clusters), None) => Some(format!("errors by {} PSUs ({clusters})", units[0])),
            (_, None, Some(strata)) => Some(format!("errors by {} strata ({strata})", units[1])),
            _ => None,
        };
        let population = population.as_ref().map(|name| format!("of a finite population ({name})"));
        let weights = Circumstances::new(self.weighing(schema)).map(|weights| weights.english().to_owned());
        joined([weights, errors, population])
    }
}

/// Returns the name pattern and method of the replicate weights.
fn replicates(options: &SamplingOptions) -> Result<Option<(String, Replication)>, StudyError> {
    let SamplingOptions { fay, replicate_scale: scale, replicate_about: about, .. } = *options;
    let rscales = options.replicate_rscales.clone();
    match (&options.replicate_weights, options.replicate_method) {
        (Some(pattern), Some(method)) => {
            let how = Replication { method, fay, scale, rscales, about: about.unwrap_or_default() };
            how.check().map_err(|error| StudyError::Refused(error.to_string()))?;
            Ok(Some((pattern.clone(), how)))
        }
        (None, None) if fay.is_none() && scale.is_none() && rscales.is_empty() && about.is_none() => Ok(None),
        (None, None) => Err(StudyError::InvalidParameter(
            "`fay`, `replicate_scale`, `replicate_rscales` and `replicate_about` require `replicate_weights`",
        )),
        _ => Err(StudyError::InvalidParameter(
            "`replicate_weights` and `replicate_method` (jk1, jkn, jk2, brr, fay, bootstrap or sdr) require each other",
        )),
    }
}

fn joined<const N: usize>(words: [Option<String>; N]) -> Option<String> {
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Parses a condition on public attributes.
fn condition(schema: &Schema, text: &str) -> Result<(String, Condition), StudyError> {
    let condition = Condition::parse(text, schema).map_err(StudyError::Condition)?;
    match condition.attributes().iter().find(|&&attribute| !schema.attributes()[attribute].is_public()) {
        None => Ok((text.to_owned(), condition)),
        Some(&attribute) => {
            let name = schema.name(attribute);
            Err(StudyError::Refused(format!(
                "`where`: \"{name}\" is randomized, so it is unknown who satisfies the condition; estimate conditional \
                 shares instead: `tables` \"a | {name}\""
            )))
        }
    }
}

/// Returns the benchmarks: all categories of public attributes.
fn margins(schema: &Schema, rows: &[KnownShare]) -> Result<Vec<KnownMargin>, StudyError> {
    let randomized =
        |row: &&KnownShare| schema.position(&row.attribute).is_ok_and(|at| !schema.attributes()[at].is_public());
    if let Some(row) = rows.iter().find(randomized) {
        let name = &row.attribute;
        return Err(refused(format!("\"{name}\" is randomized; weights can agree with public attributes only")));
    }
    distributions(schema, rows, |attribute, label| {
        Err(refused(format!("the category \"{label}\" of \"{}\" has no row", attribute.name())))
    })
}
