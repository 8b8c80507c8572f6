//! Earlier waves of a study: options of `candor report`.

use candor::report::file_name;
use candor::shell;
use clap::Args;

use crate::failure::Failure;

#[derive(Args)]
pub struct WaveArgs {
    /// Earlier waves in order of time, one response file each; NAME is shown instead of the file name
    #[arg(long = "baseline", alias = "against", num_args = 1.., value_name = "NAME=FILE", conflicts_with = "counts")]
    against: Vec<String>,
    /// Plan of the earlier waves: one for all, or one per wave [default: the same plan]
    #[arg(long = "baseline-plan", alias = "against-plan", num_args = 1.., value_name = "PLAN", requires = "against")]
    against_plan: Vec<String>,
    /// Name of the current wave
    #[arg(long, value_name = "NAME", requires = "against")]
    pub wave: Option<String>,
}

/// An earlier wave as given.
pub struct Earlier<'a> {
    pub name: &'a str,
    pub file: &'a str,
    pub plan: Option<&'a str>,
}

impl WaveArgs {
    /// Returns the files that are read.
    pub fn files(&self) -> Vec<&str> {
        self.against.iter().map(|wave| parts(wave).1).chain(self.against_plan.iter().map(String::as_str)).collect()
    }

    /// Returns the waves, each with its plan.
    pub fn earlier(&self) -> Result<Vec<Earlier<'_>>, Failure> {
        let plans = self.against_plan.len();
        if plans > 1 && plans != self.against.len() {
            return Err(Failure::Usage(format!(
                "--baseline-plan has {plans} plans for {} waves of --baseline; expected one for all waves, or one for \
                 each",
                self.against.len()
            )));
        }
        let plan = |at: usize| self.against_plan.get(if plans == 1 { 0 } else { at }).map(String::as_str);
        let earlier = |(at, wave)| {
            let (name, file) = parts(wave);
            Earlier { name, file, plan: plan(at) }
        };
        Ok(self.against.iter().map(String::as_str).enumerate().map(earlier).collect())
    }

    /// Formats the options as typed, with files without their folders.
    pub fn flags(&self) -> Vec<String> {
        let named = |wave: &String| {
            let (name, file) = parts(wave);
            shell::flag("--baseline", &format!("{name}={}", file_name(file)))
        };
        let plans = self.against_plan.iter().map(|plan| shell::flag("--baseline-plan", &file_name(plan)));
        let wave = self.wave.iter().map(|name| shell::flag("--wave", name));
        self.against.iter().map(named).chain(plans).chain(wave).collect()
    }
}

/// Returns the name and the file of a wave. The default name is the file name up to its first dot.
fn parts(wave: &str) -> (&str, &str) {
    let stem = |file| {
        let name = std::path::Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
        name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
    };
    match wave.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() && !name.contains(['/', '\\']) => (name, file),
        _ => (stem(wave), wave),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn waves_are_named_before_the_sign_or_by_their_files() {
        assert_eq!(parts("2024=old/a.csv"), ("2024", "old/a.csv"));
        assert_eq!(parts("old/spring.csv.gz"), ("spring", "old/spring.csv.gz"));
        assert_eq!(parts("data/x=1/part.parquet"), ("part", "data/x=1/part.parquet"));
        assert_eq!(parts("=a.csv"), ("=a", "=a.csv"));
    }
}
