#![no_main]

#[path = "../targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(init: targets::report_panics(), |data: &[u8]| targets::response(data));
