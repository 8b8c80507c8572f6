//! Shares that a study anticipates: from a pilot, a register or a guess.
//!
//! Attributes that the file does not name are taken for uniform, numbers for standard normal, and both for independent of everything else
//! (docs/formats.md, "Anticipated shares").

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, StringArray};
use candor::schema::{Schema, nearest};
use candor_analysis::regress::normal_points;
use candor_tables::codes::codes;
use candor_tables::input::{Batch, Input};
use candor_tables::model::{numbers, texts};
use candor_tables::{BadValue, TableError};

use crate::error::StudyError;
