//! Parameters as options. Libraries name a parameter in backticks, alone or with a value, as in `` `time_limit` `` and
//! `` `method optimal` ``; the command shows it as `--time-limit` and `--method optimal`.

use candor::choice::Choice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use candor::shell;

/// Returns the parser of a choice, with the help of each value.
pub fn choice<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let mut values: Vec<(C, PossibleValue)> = Vec::new();
    for &(name, value, about) in C::ALL {
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known = known.clone().alias(name),
            None if about.is_empty() => values.push((value, PossibleValue::new(name))),
            None => values.push((value, PossibleValue::new(name).help(with_flags(about)))),
        }
    }
    PossibleValuesParser::new(values.into_iter().map(|(_, value)| value)).try_map(|name| C::of_name(&name))
}

/// Returns the option of a parameter.
pub fn flag(parameter: &str) -> String {
    format!("--{}", parameter.replace('_', "-"))
}

/// Replaces the parameters in a library's message by options.
pub fn with_flags(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((quoted, behind)) = after.split_once('`').filter(|(quoted, _)| is_parameter(quoted)) else {
            text += before;
            text.push('`');
            rest = after;
            continue;
        };
        text += before;
        text += &match quoted.split_once(' ') {
            // A value in quotes, or with a placeholder, is in shell syntax already.
            Some((name, value)) if value.contains(['"', '.']) => format!("{} {value}", flag(name)),
            Some((name, value)) => shell::flag(&flag(name), value),
            None => flag(quoted),
        };
        rest = behind;
    }
    text + rest
}

/// Returns whether the text begins like a parameter's name.
fn is_parameter(quoted: &str) -> bool {
    let name = quoted.split(' ').next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_flags() {
        let told = with_flags("`attribute_epsilon` has 1 value; use `method optimal`, or `allow_larger_epsilon`");
        assert_eq!(told, "--attribute-epsilon has 1 value; use --method optimal, or --allow-larger-epsilon");
        assert_eq!(with_flags("remove it with `drop my column`"), "remove it with --drop 'my column'");
        // Other text stays unchanged: names and labels may contain anything.
        for same in ["a ` alone", "`Not One` and `2`", "", "``"] {
            assert_eq!(with_flags(same), same);
        }
        assert_eq!(with_flags("` `epsilon`"), "` --epsilon");
    }
}
