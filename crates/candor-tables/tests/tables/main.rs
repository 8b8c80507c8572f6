//! Tables in and out. One program, because each takes longer to link than to run.

mod damaged;
mod dither;
mod in_memory;
mod kept;
mod missing;
mod published;
mod strips;
