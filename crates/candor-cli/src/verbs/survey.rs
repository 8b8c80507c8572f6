//! Whose responses are analysed, and how they were drawn: flags that several verbs share.

use candor::counts::Counts;
use candor::report::file_name;
use candor::survey::{Survey, SurveyOptions};
use candor_analysis::names;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::Replicates;
use candor_base::plan::Plan;
use candor_tables::input::Inputs;
use candor_tables::margins::read_margins;
use clap::{Args, ValueEnum};

use super::{response_files, tell_provenance};
use crate::failure::Failure;
use crate::progress::watched;
use crate::shell;

#[derive(Args)]
pub struct SurveyArgs {
    /// Public attributes by which to estimate separately
    #[arg(long, value_name = "NAME,..")]
    by: Option<String>,
    #[command(flatten)]
    design: DesignArgs,
}

/// How respondents were drawn.
#[derive(Args)]
pub struct DesignArgs {
    /// A column of survey weights, passed on by randomize --keep, as those of the next flags are
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// A column of strata: sampling units were drawn from each by itself
    #[arg(long, value_name = "COLUMN")]
    strata: Option<String>,
    /// A column of sampling clusters, within strata: households or schools that were drawn as a whole
    #[arg(long, value_name = "COLUMN")]
    sampling_clusters: Option<String>,
    /// A column that says how many sampling units the population of the stratum has; up to 1, which share of them was drawn
    #[arg(long, value_name = "COLUMN")]
    fpc: Option<String>,
    /// What columns of replicate weights are called, such as "rep_*"
    #[arg(long, value_name = "NAMES")]
    replicates: Option<String>,
    /// How the replicate weights were made
    #[arg(long, value_enum, value_name = "METHOD")]
    replicate_method: Option<ReplicatesArg>,
    /// Known margins of public attributes that the weights shall agree with: a table with columns attribute, category and share
    #[arg(long, value_name = "FILE")]
    calibrate: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReplicatesArg {
    /// One sampling unit left out of each
    Jackknife,
    /// Balanced half samples
    Brr,
    /// Units drawn again
    Bootstrap,
}

impl SurveyArgs {
    /// What is asked for, of those for whom a condition holds.
    pub fn survey(&self, plan: &Plan, condition: Option<&str>) -> Result<Survey, Failure> {
        let by =
            self.by.as_deref().map_or(Ok(Vec::new()), names::list).map_err(|error| Failure::about("--by", error))?;
        let condition = condition.map(str::to_owned);
        Ok(Survey::new(plan.schema(), &SurveyOptions { by, condition, ..self.design.options()? })?)
    }

    /// The flags as somebody would type them, files without their folders.
    pub fn flags(&self) -> Vec<String> {
        let by = self.by.as_ref().map(|by| shell::flag("--by", by));
        by.into_iter().chain(self.design.flags()).collect()
    }

    /// Whether nothing is said.
    pub fn is_plain(&self) -> bool {
        self.flags().is_empty()
    }
}

impl DesignArgs {
    /// What is asked for, of those for whom a condition holds.
    pub fn survey_of(&self, plan: &Plan, condition: Option<&str>) -> Result<Survey, Failure> {
        let condition = condition.map(str::to_owned);
        Ok(Survey::new(plan.schema(), &SurveyOptions { condition, ..self.options()? })?)
    }

    fn options(&self) -> Result<SurveyOptions, Failure> {
        let method = |method: ReplicatesArg| match method {
            ReplicatesArg::Jackknife => Replicates::Jackknife,
            ReplicatesArg::Brr => Replicates::Balanced,
            ReplicatesArg::Bootstrap => Replicates::Bootstrap,
        };
        let calibrate = self.calibrate.as_ref().map(|path| read_margins(Inputs::new([path], None)?));
        Ok(SurveyOptions {
            weights: self.weights.clone(),
            strata: self.strata.clone(),
            sampling_clusters: self.sampling_clusters.clone(),
            fpc: self.fpc.clone(),
            replicates: self.replicates.clone(),
            replicate_method: self.replicate_method.map(method),
            calibrate: calibrate.transpose()?.unwrap_or_default(),
            ..SurveyOptions::default()
        })
    }

    fn flags(&self) -> Vec<String> {
        let method = self.replicate_method.and_then(|method| method.to_possible_value());
        let method = method.map(|method| method.get_name().to_owned());
        let calibrate = self.calibrate.as_deref().map(file_name);
        let flags = [
            ("--weights", &self.weights),
            ("--strata", &self.strata),
            ("--sampling-clusters", &self.sampling_clusters),
            ("--fpc", &self.fpc),
            ("--replicates", &self.replicates),
            ("--replicate-method", &method),
            ("--calibrate", &calibrate),
        ];
        flags.into_iter().filter_map(|(name, value)| Some(shell::flag(name, value.as_ref()?))).collect()
    }
}

/// Where responses are: in files of their own, or in files of counts made elsewhere.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub responses: &'a [String],
    pub counts: &'a [String],
    pub delimiter: Option<u8>,
}

/// Counts responses for some tables, and tells what should be known of them.
pub fn count(
    plan: &Plan,
    survey: &Survey,
    sources: Sources<'_>,
    tables: &TableList,
    keep_sets: bool,
) -> Result<Counts, Failure> {
    let Sources { responses, counts, delimiter } = sources;
    let counts = match counts {
        [] => {
            let inputs = response_files(responses, delimiter)?;
            let counts = watched(|watch| survey.read(plan, inputs, tables, keep_sets, watch))?;
            tell_provenance(counts.provenance());
            counts
        }
        files => {
            let tables = survey.tables_elsewhere(plan.schema(), tables)?;
            Counts::made_elsewhere(plan, response_files(files, delimiter)?, &tables)?
        }
    };
    Ok(survey.weighed(plan, counts)?)
}
