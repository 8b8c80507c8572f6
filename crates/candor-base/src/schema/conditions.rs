//! Skip logic of a schema: all conditions together.

use std::collections::HashMap;

use super::asked_if::AskedIf;
use super::error::{SchemaError, suggestion};
use super::{Attribute, Schema, nearest};

/// The attribute on which a condition depends, and the categories for which the question is asked, increasing.
pub(super) type Condition = Option<(usize, Vec<u16>)>;

impl Schema {
    /// Returns the attribute on which this one depends, and for each category of it whether this one is asked.
    ///
    /// Returns `None` if everybody is asked.
    pub fn asked_if(&self, attribute: usize) -> Option<(usize, Vec<bool>)> {
        let condition = self.attributes[attribute].asked_if()?;
        let other = self.position(&condition.attribute).ok()?;
        let mut asks = vec![false; self.size(other)];
        codes(condition, &self.attributes[other]).into_iter().for_each(|code| asks[usize::from(code)] = true);
        Some((other, asks))
    }

    /// Returns the conditions of all attributes, in time linear in their length.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let places: HashMap<&str, usize> = self.attributes.iter().map(Attribute::name).zip(0..).collect();
        let condition = |attribute: &Attribute| {
            let condition = attribute.asked_if()?;
            let other = *places.get(condition.attribute.as_str())?;
            Some((other, codes(condition, &self.attributes[other])))
        };
        self.attributes.iter().map(condition).collect()
    }
}

/// Returns the categories of the other attribute that a condition names, in increasing order.
fn codes(condition: &AskedIf, other: &Attribute) -> Vec<u16> {
    let mut codes: Vec<u16> = condition.categories.iter().filter_map(|label| other.code_of_label(label)).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Checks that conditions name existing categories, have no cycle, and reveal nothing that is randomized.
pub(super) fn check(schema: &Schema) -> Result<(), SchemaError> {
    let conditions = schema.conditions();
    let endless = endless(&conditions);
    for (at, attribute) in schema.attributes.iter().enumerate() {
        let Some(condition) = attribute.asked_if() else { continue };
        let refused = |why: String| SchemaError::of(attribute.name(), format!("cannot be asked like this: {why}"));
        let place = match &conditions[at] {
            Some((place, _)) => *place,
            None => schema.position(&condition.attribute).map_err(|error| refused(error.to_string()))?,
        };
        let other = &schema.attributes[place];
        let name = other.name();
        let problem = match condition.categories.iter().find(|label| other.code_of_label(label).is_none()) {
            Some(label) => {
                let near = nearest(label, other.categories().iter().map(String::as_str));
                format!("\"{label}\" is not a category of \"{name}\"{}", suggestion(near))
            }
            None if other.grid().len() > 0 => format!("\"{name}\" is rounded at random, so nothing can depend on it"),
            None if attribute.is_public() && !other.is_public() => {
                format!("it is public, and would reveal \"{name}\", which is randomized")
            }
            None if endless[at] => "whether it is asked depends on itself".to_owned(),
            None => continue,
        };
        return Err(refused(problem));
    }
    Ok(())
}

/// Returns, for each attribute, whether its chain of conditions has a cycle. Each chain is followed once.
fn endless(conditions: &[Condition]) -> Vec<bool> {
    let mut endless = vec![None; conditions.len()];
    for start in 0..conditions.len() {
        let (mut way, mut at) = (Vec::new(), Some(start));
        while let Some(here) = at.filter(|&here| endless[here].is_none()) {
            // Marked as endless while on the current chain; meeting such a mark again closes a cycle.
            endless[here] = Some(true);
            way.push(here);
            at = conditions[here].as_ref().map(|(other, _)| *other);
        }
        let never = at.is_some_and(|known| endless[known] == Some(true));
        way.into_iter().for_each(|here| endless[here] = Some(never));
    }
    endless.into_iter().map(|endless| endless == Some(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::NOT_ASKED;
    use super::*;

    const SMOKES: &str = "[[attribute]]\nname = \"Smokes\"\ncategories = [\"no\", \"yes\", \"no more\"]\n";

    fn asked(condition: &str) -> Result<Schema, String> {
        let text = format!(
            "{SMOKES}[[attribute]]\nname = \"Daily\"\nasked_if = {condition}\ncategories = [\"few\", \"many\"]\n"
        );
        Schema::from_toml(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_condition_adds_a_category_and_reads_back() {
        for (text, marks) in [
            ("\"Smokes = yes\"", [false, true, false]),
            ("\"Smokes in (yes, 'no more')\"", [false, true, true]),
            ("\"'Smokes' in (\\\"no\\\")\"", [true, false, false]),
        ] {
            let schema = asked(text).unwrap();
            let daily = &schema.attributes()[1];
            assert_eq!((daily.categories().len(), daily.categories()[2].as_str()), (3, NOT_ASKED));
            assert_eq!((daily.not_asked(), daily.code_of_value(""), daily.code_of_label("")), (Some(2), Some(2), None));
            assert_eq!(schema.asked_if(1), Some((0, marks.to_vec())), "{text}");
            assert_eq!(schema.asked_if(0), None);
            assert_eq!(Schema::from_json(schema.to_json()).as_ref(), Ok(&schema));
            assert!([true, true, false] == [0, 1, 2].map(|code| daily.is_answer(code)));
        }
        let named = asked("\"Smokes = yes\"").unwrap();
        let listed = asked("{ attribute = \"Smokes\", categories = [\"yes\"] }").unwrap();
        assert_eq!(named, listed);
        let last = SMOKES.to_owned()
            + "[[attribute]]\nname = \"Daily\"\nasked_if = \"Smokes = yes\"\ncategories = [\"few\", \"(not \
               asked)\", \"many\"]\n";
        assert_eq!(Schema::from_toml(&last).unwrap(), named);
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for (condition, part) in [
            ("\"Smokes\"", "\\\"Smokes = yes\\\"".replace('\\', "")),
            ("\"Smokes = \"", "\"Smokes = yes\"".to_owned()),
            ("\"Smokes = 'yes\"", "\"Smokes = yes\"".to_owned()),
            ("\"Smokes in (yes no)\"", "\"Smokes = yes\"".to_owned()),
            ("\"Smokes in ()\"", "\"Smokes = yes\"".to_owned()),
            ("\"Smokes = yes or Sex = f\"", "one attribute".to_owned()),
            ("{ attribute = \"Smokes\", categories = [] }", "one attribute".to_owned()),
            ("\"smokes = yes\"", "did you mean \"Smokes\"?".to_owned()),
            ("\"Smokes = Yes\"", "\"Yes\" is not a category of \"Smokes\"; did you mean \"yes\"?".to_owned()),
            ("\"Daily = few\"", "depends on itself".to_owned()),
        ] {
            let error = asked(condition).unwrap_err();
            assert!(error.contains(&part), "{condition}: {error}");
        }
        let circle = "[[attribute]]\nname = \"a\"\nasked_if = \"b = x\"\ncategories = [\"x\"]\n\
                      [[attribute]]\nname = \"b\"\nasked_if = \"a = x\"\ncategories = [\"x\"]\n";
        assert!(Schema::from_toml(circle).unwrap_err().to_string().contains("depends on itself"));
        let public = format!(
            "{SMOKES}[[attribute]]\nname = \"Region\"\npublic = true\nasked_if = \"Smokes = yes\"\ncategories = \
             [\"n\", \"s\"]\n"
        );
        assert!(Schema::from_toml(&public).unwrap_err().to_string().contains("would reveal \"Smokes\""));
        let known = public.replace("name = \"Smokes\"", "name = \"Smokes\"\npublic = true");
        assert!(Schema::from_toml(&known).is_ok());
        let rounded = "[[attribute]]\nname = \"x\"\ngrid = [0, 1]\ncategories = [\"0\", \"1\", \"\"]\n\
                       [[attribute]]\nname = \"y\"\nasked_if = \"x = ''\"\ncategories = [\"a\"]\n";
        assert!(Schema::from_toml(rounded).unwrap_err().to_string().contains("rounded at random"));
    }
}
