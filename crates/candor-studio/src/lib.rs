#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod problem;
mod secret;
mod task;
mod curve;
mod project;
mod commands;
mod archive;
mod running;
mod open;
mod survey;
mod steps;
mod state;
pub mod shelf;
mod pages;
mod guard;
mod actions;
mod http;
pub mod server;
