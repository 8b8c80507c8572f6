//! Tests of input and output, in one program, because linking takes longer than running.

mod damaged;
mod dither;
mod in_memory;
mod kept;
mod missing;
mod published;
mod strips;
