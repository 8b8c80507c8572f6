#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod nearest;

pub mod shape;

pub mod schema;

pub mod randomness;

pub mod channel;

pub mod plan;

pub mod randomize;
