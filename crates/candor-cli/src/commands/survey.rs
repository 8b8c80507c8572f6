//! Whose responses are analyzed, and how they were drawn: options that several commands share.

use candor::choice::Choice;
use candor::counts::Counts;
use candor::report::file_name;
use candor::sampling::{SamplingDesign, SamplingOptions};
use candor::shell;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{About, LonelyPsu, ReplicateMethod};
use candor_base::plan::Plan;
use candor_runtime::names;
use candor_tables::input::Inputs;
use candor_tables::margins::read_margins;
use clap::Args;

use super::{response_files, tell_provenance};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;

#[derive(Args)]
pub struct SurveyArgs {
    /// Public attributes whose groups are estimated separately
    #[arg(long, value_name = "NAME,..")]
    by: Option<String>,
    #[command(flatten)]
    design: DesignArgs,
}

/// The sampling design.
#[derive(Args)]
pub struct DesignArgs {
    /// Column of sampling weights. This and the following columns are kept by randomize --keep
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Column of strata
    #[arg(long, value_name = "COLUMN")]
    strata: Option<String>,
    /// Column of primary sampling units (PSU) within strata, such as households or schools
    #[arg(long = "psu", alias = "sampling-clusters", value_name = "COLUMN")]
    psu: Option<String>,
    /// Column for the finite population correction: the number of PSUs in the stratum, or the sampled fraction if at
    /// most 1
    #[arg(long, value_name = "COLUMN")]
    fpc: Option<String>,
    /// Name pattern of replicate weight columns, such as "rep_*"
    #[arg(long = "replicate-weights", alias = "replicates", value_name = "NAMES")]
    replicate_weights: Option<String>,
    /// Replication method
    #[arg(long, value_parser = choice::<ReplicateMethod>(), value_name = "METHOD")]
    replicate_method: Option<ReplicateMethod>,
    /// Share of the weight that the other half sample keeps, from 0 to below 1; goes with the method fay
    #[arg(long, value_name = "SHARE")]
    fay: Option<f64>,
    /// Factor of all squared distances between replicates [default: that of the method]
    #[arg(long, value_name = "FACTOR")]
    replicate_scale: Option<f64>,
    /// Factor of each squared distance: one for all replicates, or one for each [default: that of the method]
    #[arg(long, value_name = "FACTOR,..", value_delimiter = ',')]
    replicate_rscales: Vec<f64>,
    /// What replicates are compared with [default: estimate]
    #[arg(long, value_parser = choice::<About>(), value_name = "CENTER")]
    replicate_about: Option<About>,
    /// What strata with one sampling unit add to the variance [default: fail]
    #[arg(long, value_parser = choice::<LonelyPsu>(), value_name = "HOW")]
    lonely_psu: Option<LonelyPsu>,
    /// Population benchmarks of public attributes to rake the weights to: a file with columns attribute, category and
    /// share
    #[arg(long = "benchmarks", alias = "calibrate", value_name = "FILE")]
    benchmarks: Option<String>,
}

impl SurveyArgs {
    /// Returns the sampling design of those who meet the condition.
    pub fn survey(&self, plan: &Plan, condition: Option<&str>) -> Result<SamplingDesign, Failure> {
        let by =
            self.by.as_deref().map_or(Ok(Vec::new()), names::list).map_err(|error| Failure::about("--by", error))?;
        let condition = condition.map(str::to_owned);
        Ok(SamplingDesign::new(plan.schema(), &self.design.options()?.by(by).condition(condition))?)
    }

    /// Formats the options as typed, with files without their folders.
    pub fn flags(&self) -> Vec<String> {
        let by = self.by.as_ref().map(|by| shell::flag("--by", by));
        by.into_iter().chain(self.design.flags()).collect()
    }

    /// Returns whether no option was given.
    pub fn is_plain(&self) -> bool {
        self.flags().is_empty()
    }
}

impl DesignArgs {
    /// Returns the sampling design of everybody.
    pub fn survey_of(&self, plan: &Plan) -> Result<SamplingDesign, Failure> {
        Ok(SamplingDesign::new(plan.schema(), &self.options()?)?)
    }

    fn options(&self) -> Result<SamplingOptions, Failure> {
        let benchmarks = self.benchmarks.as_ref().map(|path| read_margins(Inputs::new([path], None)?));
        Ok(SamplingOptions::default()
            .weights(self.weights.clone())
            .strata(self.strata.clone())
            .psu(self.psu.clone())
            .fpc(self.fpc.clone())
            .replicate_weights(self.replicate_weights.clone())
            .replicate_method(self.replicate_method)
            .fay(self.fay)
            .replicate_scale(self.replicate_scale)
            .replicate_rscales(self.replicate_rscales.clone())
            .replicate_about(self.replicate_about)
            .lonely_psu(self.lonely_psu)
            .benchmarks(benchmarks.transpose()?.unwrap_or_default()))
    }

    fn flags(&self) -> Vec<String> {
        let method = self.replicate_method.map(|method| method.name().to_owned());
        let about = self.replicate_about.map(|about| about.name().to_owned());
        let lonely = self.lonely_psu.map(|lonely| lonely.name().to_owned());
        let number = |number: Option<f64>| number.map(|number| number.to_string());
        let (fay, scale) = (number(self.fay), number(self.replicate_scale));
        let rscales: Vec<String> = self.replicate_rscales.iter().map(f64::to_string).collect();
        let rscales = (!rscales.is_empty()).then(|| rscales.join(","));
        let benchmarks = self.benchmarks.as_deref().map(file_name);
        let flags = [
            ("--weights", &self.weights),
            ("--strata", &self.strata),
            ("--psu", &self.psu),
            ("--fpc", &self.fpc),
            ("--replicate-weights", &self.replicate_weights),
            ("--replicate-method", &method),
            ("--fay", &fay),
            ("--replicate-scale", &scale),
            ("--replicate-rscales", &rscales),
            ("--replicate-about", &about),
            ("--lonely-psu", &lonely),
            ("--benchmarks", &benchmarks),
        ];
        flags.into_iter().filter_map(|(name, value)| Some(shell::flag(name, value.as_ref()?))).collect()
    }
}

/// Source of the responses: files of responses, or precomputed counts.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub responses: &'a [String],
    pub counts: &'a [String],
    pub delimiter: Option<u8>,
}

/// Counts responses for some tables, and prints notes about them.
pub fn count(
    plan: &Plan,
    survey: &SamplingDesign,
    sources: Sources<'_>,
    tables: &TableList,
    keep_sets: bool,
) -> Result<Counts, Failure> {
    let Sources { responses, counts, delimiter } = sources;
    let counts = match counts {
        [] => {
            let inputs = response_files(responses, delimiter)?;
            let counts = watched(|progress| survey.read(plan, inputs, tables, keep_sets, progress))?;
            tell_provenance(counts.provenance());
            counts
        }
        files => {
            let tables = survey.required_tables(plan.schema(), tables)?;
            Counts::from_precomputed(plan, response_files(files, delimiter)?, &tables)?
        }
    };
    Ok(survey.calibrated(plan, counts)?)
}
