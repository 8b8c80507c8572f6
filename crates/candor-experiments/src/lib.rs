#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod adult;
pub mod exhibit;
mod unfit;
pub mod l_diversity;
pub mod multidimensional;
mod optimized_rr;
pub mod optrr;
pub mod own;

use exhibit::Paper;

/// All papers with reproducible exhibits.
pub const PAPERS: &[Paper] = &[optimized_rr::PAPER, optrr::OPTRR, l_diversity::PAPER, multidimensional::PAPER];
