//! The tables and figures of the papers, regenerated: one file per paper, ours beside theirs.
//!
//! An experiment computes; it neither prints nor draws. `candor reproduce` shows what it returns.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod adult;
pub mod exhibit;
pub mod l_diversity;
pub mod multidimensional;
mod optimized_rr;
pub mod optrr;

use exhibit::Paper;

/// Every paper with something to regenerate.
pub const PAPERS: &[Paper] = &[optimized_rr::PAPER, optrr::OPTRR, l_diversity::PAPER, multidimensional::PAPER];
