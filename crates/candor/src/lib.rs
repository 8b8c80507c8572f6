#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod format;

mod html_escape;

mod error;

mod own_texts;

pub mod texts;

mod margins;

pub mod plot;

pub mod page;

pub mod choice;

mod sampling_note;

pub mod counts;

pub mod sampling;

mod partial;

pub mod guarantee;

pub mod verdict;

pub mod made_by;

pub mod schema;

pub mod prior;

pub mod shares;

pub mod invented;
pub mod information;

pub mod design;

pub mod combine;

pub mod compare;

mod deployments;
pub mod choose;

pub mod mean;

pub mod shuffled;

pub mod composition;

pub mod audit;

pub mod example;

pub mod explain;

pub mod randomize;

pub mod compliance;

pub mod query_spec;

pub mod group_comparison;

pub mod moments;

pub mod estimate;

pub mod rows;

pub mod test;

pub mod differences;

pub mod scan;

mod regress_notes;
mod regression;
pub mod regress;

pub mod rake;

pub mod query;

pub mod learn;

pub mod associations;

pub mod synthesize;

pub mod sample_size;

pub mod power;

pub mod effects;

pub mod sql;

pub mod signature;

pub mod device;

pub mod card;

pub mod import;

pub mod matrix;

pub mod pareto;

pub mod refine;

mod title;

mod caution;

mod cross_table;

mod found;

mod relation;

mod assurance;

mod wave;

pub mod report;

pub mod evidence;

mod program;

pub mod mechanism;

pub use error::StudyError;

pub use arrow_array;

/// What a study takes: schemas, plans, randomizing, counting, and every verb as a function with its options and its
/// result.
pub mod prelude {
    pub use candor_analysis::table_list::TableList;
    pub use candor_analysis::tally::answer_codes;
    pub use candor_base::plan::Plan;
    pub use candor_base::randomness::Source;
    pub use candor_base::schema::{Attribute, Schema};
    pub use candor_bulk::Randomizer;
    pub use candor_design::pareto::prior::Prior;
    pub use candor_design::{Method, Request};
    pub use candor_runtime::progress::{Progress, ProgressSink};
    pub use candor_tables::TableError;
    pub use candor_tables::infer::{Bins, InferOptions};
    pub use candor_tables::input::{Input, Inputs};

    pub use crate::StudyError;
    pub use crate::associations::{Clusters, cluster};
    pub use crate::audit::{Audit, AuditOptions, audit, audit_composition, compare_plans};
    pub use crate::choose::{ChooseOptions, EpsilonChoice, choose};
    pub use crate::combine::{Combination, CombineOptions, combine};
    pub use crate::compare::{CompareOptions, MethodComparison, compare, compare_at_variance};
    pub use crate::compliance::{Compliance, ComplianceOptions, comply};
    pub use crate::counts::{CountOptions, Counts};
    pub use crate::design::{Design, DesignOptions, design};
    pub use crate::device::{DeviceOptions, Devices, devices};
    pub use crate::differences::{
        Difference, DifferenceQuery, DifferenceQueryText, Differences, WaveInput, differences, wave_differences,
    };
    pub use crate::effects::{EffectOptions, EffectPowers, effects};
    pub use crate::estimate::{EstimateOptions, Estimates, estimate, estimate_query};
    pub use crate::evidence::{Evidence, evidence};
    pub use crate::explain::{Sheet, explain};
    pub use crate::import::{Entered, enter};
    pub use crate::matrix::{MatrixOptions, TransitionMatrix, matrix};
    pub use crate::mechanism::{MechanismAudit, MechanismOptions, audit_draws, audit_program};
    pub use crate::moments::MomentQuery;
    pub use crate::page::Page;
    pub use crate::pareto::{FrontMethod, FrontOptions, Fronts, front};
    pub use crate::plot::Plot;
    pub use crate::power::{PowerOptions, Powers, powers};
    pub use crate::query::{Answers, QueryOptions, ShareQuery, query, query_groups};
    pub use crate::query_spec::TableQuery;
    pub use crate::rake::{Adjustment, adjust};
    pub use crate::randomize::{OneByOne, RandomizeOptions, Randomized, randomize};
    pub use crate::refine::{RefineOptions, Refinement, refine};
    pub use crate::regress::{RegressOptions, Regression, regress};
    pub use crate::report::{Report, ReportOptions, report};
    pub use crate::sample_size::{Sizes, size};
    pub use crate::sampling::{SamplingDesign, SamplingOptions};
    pub use crate::scan::{Adjust, Scan, scan};
    pub use crate::schema::{Checked, InferredSchema, check, infer};
    pub use crate::shares::Shares;
    pub use crate::sql::{Dialect, sql};
    pub use crate::synthesize::{Synthesis, synthesize};
    pub use crate::test::{Independence, test, test_groups};
    pub use crate::texts::{Language, OwnTexts};
}
