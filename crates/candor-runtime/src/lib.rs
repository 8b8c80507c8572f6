//! Facilities that all crates of candor share, without mathematics.
//!
//! - [`progress`]: progress reports of long work, its cancellation, and time limits of searches;
//! - [`parallel`]: a parallel map whose result does not depend on the number of threads;
//! - [`names`]: lists of names, with one rule for quotation marks;
//! - [`escape_control`]: safe display of text from files;
//! - [`options!`]: setters of options that can grow.
#![forbid(unsafe_code)]

/// Writes a setter for each named field of an options type, so that options are given one by one.
///
/// ```
/// #[derive(Default)]
/// #[non_exhaustive]
/// pub struct Options {
///     pub confidence: f64,
///     pub seed: Option<u64>,
/// }
///
/// impl Options {
///     candor_runtime::options! {
///         confidence: f64,
///         seed: impl Into<Option<u64>>,
///     }
/// }
///
/// let options = Options::default().confidence(0.9).seed(7);
/// assert_eq!((options.confidence, options.seed), (0.9, Some(7)));
/// ```
#[macro_export]
macro_rules! options {
    ($($name:ident: $type:ty),+ $(,)?) => {$(
        #[doc = concat!("Sets `", stringify!($name), "`.")]
        #[must_use]
        #[allow(clippy::useless_conversion, reason = "some are optional")]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name.into();
            self
        }
    )+};
}

pub mod progress;

pub mod parallel;

pub mod names;

pub mod escape_control;
