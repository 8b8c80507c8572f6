#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
// Some functions are used by pages and tables only.
#![cfg_attr(not(feature = "pages"), allow(dead_code))]

pub mod format;

pub mod shell;

mod html_escape;

mod hex;

mod old_keys;

mod error;

pub mod locale;

mod margins;

mod benchmarks;

#[cfg(feature = "plot")]
pub mod plot;

#[cfg(feature = "pages")]
pub mod page;

pub mod choice;

mod sampling_note;

pub mod counts;

#[cfg(feature = "tables")]
pub mod sampling;

pub mod guarantee;

pub mod verdict;

#[cfg(feature = "tables")]
pub mod rejection;

pub mod made_by;

#[cfg(feature = "tables")]
pub mod schema;

#[cfg(feature = "tables")]
pub mod columns;

#[cfg(feature = "tables")]
pub mod prior;

pub mod shares;

pub mod invented;
pub mod information;

pub mod design;

pub mod combine;

pub mod compare;

mod deployments;
pub mod choose;

pub mod trade_off;

pub mod mean;

pub mod shuffled;

pub mod composition;

pub mod audit;

#[cfg(feature = "pages")]
pub mod example;

#[cfg(feature = "pages")]
pub mod explain;

#[cfg(feature = "tables")]
pub mod randomize;

pub mod compliance;

pub mod query_spec;

pub mod group_comparison;

pub mod moments;

pub mod estimate;

#[cfg(feature = "tables")]
pub mod rows;

pub mod test;

pub mod differences;

pub mod scan;

#[cfg(feature = "tables")]
pub mod regress;

pub mod rake;

pub mod query;

pub mod associations;

#[cfg(feature = "tables")]
pub mod party;

pub mod synthesize;

pub mod sample_size;

pub mod power;

#[cfg(feature = "tables")]
pub mod effects;

#[cfg(feature = "tables")]
pub mod sql;

pub mod platform;

pub mod signature;

pub mod device;

#[cfg(feature = "pages")]
pub mod card;

#[cfg(feature = "tables")]
pub mod import;

pub mod matrix;

pub mod pareto;

pub mod refine;

#[cfg(feature = "pages")]
pub mod report;

#[cfg(feature = "pages")]
pub mod evidence;

pub mod mechanism;

pub use error::StudyError;

/// The crates whose types appear in this interface.
#[cfg(feature = "tables")]
pub use {arrow_array, candor_tables};
pub use {candor_analysis, candor_base, candor_bulk, candor_design, candor_privacy, candor_runtime, serde_json};

pub use candor_design::methods;

/// Types and functions that a study needs, in one import.
///
/// These are schemas, plans, randomization and counts, and every command as a function with its options and
/// its result.
pub mod prelude {
    pub use candor_analysis::table_list::TableList;
    pub use candor_analysis::tally::answer_codes;
    pub use candor_base::channel::Epsilon;
    pub use candor_base::plan::Plan;
    pub use candor_base::randomize::{BlockAnswer, Client};
    pub use candor_base::randomness::Source;
    pub use candor_base::schema::{Attribute, Schema};
    pub use candor_bulk::{Randomizer, Responses};
    pub use candor_design::methods::{Independent, Joint, Optimal, Warner, Workload};
    pub use candor_design::pareto::prior::Prior;
    pub use candor_design::{Method, Request};
    pub use candor_runtime::progress::{Progress, ProgressSink};
    #[cfg(feature = "tables")]
    pub use candor_tables::TableError;
    #[cfg(feature = "tables")]
    pub use candor_tables::infer::{Bins, InferOptions};
    #[cfg(feature = "tables")]
    pub use candor_tables::input::{Input, Inputs};

    pub use crate::StudyError;
    pub use crate::associations::{Associations, associations};
    pub use crate::audit::{Audit, AuditOptions, audit, audit_composition, audit_with_progress, compare_plans};
    pub use crate::choose::{ChooseOptions, EpsilonChoice, choose};
    pub use crate::combine::{Combination, CombineOptions, combine};
    pub use crate::compare::{CompareOptions, MethodComparison, compare, compare_at_variance};
    pub use crate::compliance::{Compliance, ComplianceOptions, compliance};
    pub use crate::counts::{CountOptions, Counts};
    pub use crate::design::{Design, DesignOptions, design, design_with_progress};
    pub use crate::device::{DeviceOptions, Devices, devices};
    pub use crate::differences::{
        Difference, DifferenceQuery, DifferenceQueryText, Differences, WaveInput, differences, wave_differences,
    };
    #[cfg(feature = "tables")]
    pub use crate::effects::{EffectOptions, EffectPowers, effects};
    pub use crate::estimate::{
        EstimateOptions, Estimates, estimate, estimate_query, estimate_query_with_progress, estimate_with_progress,
    };
    #[cfg(feature = "pages")]
    pub use crate::evidence::{Evidence, evidence};
    #[cfg(feature = "pages")]
    pub use crate::explain::{Sheet, explain};
    #[cfg(feature = "tables")]
    pub use crate::import::{Imported, import};
    pub use crate::locale::{Language, OwnTexts};
    pub use crate::matrix::{MatrixOptions, TransitionMatrix, matrix};
    pub use crate::mechanism::{MechanismAudit, MechanismOptions, audit_draws, audit_program};
    pub use crate::moments::MomentQuery;
    #[cfg(feature = "pages")]
    pub use crate::page::Page;
    pub use crate::pareto::{FrontMethod, FrontOptions, Fronts, pareto};
    #[cfg(feature = "tables")]
    pub use crate::party::{PartyMessage, PartySession, PartyTotals};
    #[cfg(feature = "plot")]
    pub use crate::plot::Plot;
    pub use crate::power::{PowerOptions, Powers, powers};
    pub use crate::query::{
        Answers, QueryOptions, ShareQuery, query, query_groups, query_groups_with_progress, query_with_progress,
    };
    pub use crate::query_spec::TableQuery;
    pub use crate::rake::{Adjustment, DistinctRecords, RakeOptions, margins, rake};
    #[cfg(feature = "tables")]
    pub use crate::randomize::{
        InvalidRecord, RandomizeOptions, Randomized, RecordRandomizer, randomize, randomize_reader,
    };
    pub use crate::refine::{RefineOptions, Refinement, refine};
    #[cfg(feature = "tables")]
    pub use crate::regress::{RegressOptions, Regression, regress, regress_with_progress};
    #[cfg(feature = "pages")]
    pub use crate::report::{Report, ReportOptions, report};
    pub use crate::sample_size::{SampleSizeOptions, SampleSizes, sample_size};
    #[cfg(feature = "tables")]
    pub use crate::sampling::{SamplingDesign, SamplingOptions};
    pub use crate::scan::{Adjust, Scan, ScanTarget, scan, scan_with_progress};
    #[cfg(feature = "tables")]
    pub use crate::schema::{Checked, InferredSchema, check, infer};
    pub use crate::shares::Shares;
    #[cfg(feature = "tables")]
    pub use crate::sql::{Dialect, sql};
    pub use crate::synthesize::{Synthesis, synthesize};
    pub use crate::test::{Independence, test, test_groups, test_groups_with_progress, test_with_progress};
}
