//! Whose responses are analysed, how they were drawn, and what is asked of them: parameters that several verbs share.

use candor::StudyError;
use candor::counts::Counts;
use candor::moments::MomentQuery;
use candor::query_spec::TableQuery;
use candor::sampling::{SamplingDesign, SamplingOptions};
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::input::Inputs;
use candor_tables::margins::{KnownShare, read_margins};
use serde_json::Value;

use crate::counts::Responses;
use crate::errors::{Failure, parameter};
use crate::options::Options;

/// The parameters of a survey that were given.
pub struct SurveyWords {
    options: SamplingOptions,
}

impl SurveyWords {
    /// Takes them; `condition` is what the verb calls a condition on public attributes, if it has one.
    pub fn take(options: &mut Options, condition: Option<&str>) -> Result<SurveyWords, Failure> {
        let benchmarks = options.take::<Value>("benchmarks")?;
        let options = SamplingOptions::default()
            .by(options.or("by", Vec::new())?)
            .condition(condition.map_or(Ok(None), |name| options.take(name))?)
            .weights(options.take("weights")?)
            .strata(options.take("strata")?)
            .psu(options.take("psu")?)
            .fpc(options.take("fpc")?)
            .replicate_weights(options.take("replicate_weights")?)
            .replicate_method(options.chosen()?)
            .fay(options.take("fay")?)
            .replicate_scale(options.take("replicate_scale")?)
            .replicate_rscales(options.or("replicate_rscales", Vec::new())?)
            .replicate_about(options.chosen()?)
            .lonely_psu(options.chosen()?)
            .benchmarks(benchmarks.map_or(Ok(Vec::new()), margins)?);
        Ok(SurveyWords { options })
    }

    /// The condition of the subpopulation, as it was written.
    pub fn condition(&self) -> Option<String> {
        self.options.condition.clone()
    }

    /// Whether nothing was said.
    pub fn is_plain(&self) -> bool {
        self.options == SamplingOptions::default()
    }

    /// The survey of a schema.
    pub fn survey(&self, schema: &Schema) -> Result<SamplingDesign, Failure> {
        Ok(SamplingDesign::new(schema, &self.options)?)
    }

    /// The counts of these tables.
    pub fn counts(
        &self,
        plan: &candor_base::plan::Plan,
        responses: Responses,
        tables: &TableList,
        keep_sets: bool,
        progress: ProgressSink<'_>,
    ) -> Result<Counts, Failure> {
        let survey = self.survey(plan.schema())?;
        match responses {
            Responses::Read(inputs) => {
                let counts = survey.read(plan, inputs, tables, keep_sets, progress)?;
                Ok(survey.calibrated(plan, counts)?)
            }
            Responses::Elsewhere(inputs) => {
                let tables = survey.required_tables(plan.schema(), tables)?;
                Ok(survey.calibrated(plan, Counts::from_precomputed(plan, inputs, &tables)?)?)
            }
            Responses::Counted(counts) if self.is_plain() => Ok(counts.select(tables)?),
            Responses::Counted(counts) => {
                let tables = survey.required_tables(plan.schema(), tables)?;
                Ok(survey.calibrated(plan, counts.select(&tables)?)?)
            }
        }
    }
}

/// Known margins: a file, or shares by attribute and category.
pub fn margins(given: Value) -> Result<Vec<KnownShare>, Failure> {
    let form = || {
        parameter("`benchmarks` is a file, or shares by attribute and category: {\"Sex\": {\"f\": 0.51, \"m\": 0.49}}")
    };
    match given {
        Value::String(path) => Ok(read_margins(Inputs::new([&path], None)?)?),
        Value::Object(attributes) => {
            let mut rows = Vec::new();
            for (attribute, shares) in attributes {
                for (category, share) in shares.as_object().ok_or_else(form)? {
                    let share = share.as_f64().filter(|share| *share >= 0.0).ok_or_else(form)?;
                    rows.push(KnownShare { attribute: attribute.clone(), category: category.clone(), share });
                }
            }
            Ok(rows)
        }
        _ => Err(form()),
    }
}

/// Tables, comparisons and numbers, as they are written.
pub struct AskedWords {
    pub tables: Option<String>,
    without_missing: bool,
    compare: Option<String>,
    mean: String,
    quantile: String,
    values: String,
}

impl AskedWords {
    pub fn take(options: &mut Options) -> Result<AskedWords, Failure> {
        Ok(AskedWords {
            tables: options.take("tables")?,
            without_missing: options.or("complete_cases", false)?,
            compare: options.take("compare_groups")?,
            mean: options.or("mean", String::new())?,
            quantile: options.or("quantile", String::new())?,
            values: options.or("scores", String::new())?,
        })
    }

    /// Whether groups are compared.
    pub fn compares(&self) -> bool {
        self.compare.is_some()
    }

    /// Whether nothing but whole tables are asked for.
    pub fn is_plain(&self) -> bool {
        !self.without_missing && self.compare.is_none() && self.mean.is_empty() && self.quantile.is_empty()
    }

    /// What is asked of a schema.
    pub fn read(&self, schema: &Schema) -> Result<(TableQuery, MomentQuery), Failure> {
        let wanted = MomentQuery::parse(schema, &self.mean, &self.quantile, &self.values)?;
        let nothing =
            || TableList::new(Vec::new(), schema).map_err(|error| StudyError::Tables { parameter: "tables", error });
        let asked = match &self.tables {
            None if !wanted.is_empty() => TableQuery::tables(nothing()?),
            tables => {
                let named = tables.as_deref().unwrap_or("marginals");
                TableQuery::parse(named, schema, self.without_missing, self.compare.as_deref())?
            }
        };
        Ok((asked, wanted))
    }
}
