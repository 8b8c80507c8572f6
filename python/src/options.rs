//! Parameters by name, as Python hands them over: as JSON. What is not given is left to the defaults of the libraries.

use std::collections::BTreeMap;

use candor::StudyError;
use candor::choice::Choice;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::request::Kind;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::errors::{Failure, parameter};

/// The parameters that were given and not taken yet.
pub struct Options {
    given: Map<String, Value>,
    noted: Option<Noted>,
}

/// Parameters by name, with their types as Python writes them.
pub type Noted = BTreeMap<String, String>;

impl Options {
    /// Reads a JSON object; null is what was not given.
    pub fn read(text: &str) -> Result<Options, Failure> {
        let mut given: Map<String, Value> = serde_json::from_str(text).map_err(parameter)?;
        given.retain(|_, value| !value.is_null());
        Ok(Options::of(given))
    }

    /// Parameters that are at hand.
    pub fn of(given: Map<String, Value>) -> Options {
        Options { given, noted: None }
    }

    /// Notes which parameters are taken, and what they are. Nothing is given.
    pub fn noting() -> Options {
        Options { given: Map::new(), noted: Some(Noted::new()) }
    }

    /// What was noted.
    pub fn noted(self) -> Noted {
        self.noted.unwrap_or_default()
    }

    /// The names of what was given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.given.keys().map(String::as_str)
    }

    /// Gives a parameter another value.
    pub fn put(&mut self, name: &str, value: Value) {
        self.given.insert(name.to_owned(), value);
    }

    /// The value of a parameter, if it was given.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        if let Some(noted) = &mut self.noted {
            noted.entry(name.to_owned()).or_insert_with(|| python(&Kind::of::<T>()));
        }
        let Some(value) = self.given.remove(name) else { return Ok(None) };
        let shown = value.to_string();
        serde_json::from_value(value).map(Some).map_err(|error| match Kind::of::<T>() {
            Kind::Other => parameter(format!("`{name}` is {shown}: {error}")),
            kind => parameter(format!("`{name}` is {shown}; it must be {kind}")),
        })
    }

    /// The value of a parameter, which stays to be taken, if it was given.
    pub fn peek<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        let given = self.given.get(name).cloned();
        let value = self.take(name)?;
        given.into_iter().for_each(|given| self.put(name, given));
        Ok(value)
    }

    /// Whether something is said of a prior.
    pub fn names_a_prior(&self) -> bool {
        ["prior", "normal_prior", "gamma_prior", "uniform_prior"].iter().any(|name| self.given.contains_key(*name))
    }

    /// The value of a parameter, or its default.
    pub fn or<T: DeserializeOwned>(&mut self, name: &str, default: T) -> Result<T, Failure> {
        Ok(self.take(name)?.unwrap_or(default))
    }

    /// A value that has a name, or its default.
    pub fn choice<C: Choice>(&mut self, default: C) -> Result<C, Failure> {
        self.chosen().map(|chosen| chosen.unwrap_or(default))
    }

    /// A value that has a name, if it was given.
    pub fn chosen<C: Choice>(&mut self) -> Result<Option<C>, Failure> {
        if let Some(noted) = &mut self.noted {
            let names: Vec<&str> = C::ALL.iter().map(|(name, ..)| *name).collect();
            noted.insert(C::PARAMETER.to_owned(), literal(&names));
        }
        let name: Option<String> = self.take(C::PARAMETER)?;
        name.map(|name| C::of_name(&name).map_err(Failure::from)).transpose()
    }

    /// A list of tables, or the default list.
    pub fn tables(&mut self, schema: &Schema, default: &str) -> Result<TableList, Failure> {
        let tables = self.or("tables", default.to_owned())?;
        list(&tables, schema, "tables")
    }

    /// The parameters that are left.
    pub fn rest(self) -> Map<String, Value> {
        self.given
    }

    /// Refuses what is left: nobody took it.
    pub fn finish(self) -> Result<(), Failure> {
        match self.given.keys().next() {
            Some(name) => Err(parameter(format!("`{name}` is not a parameter of this"))),
            None => Ok(()),
        }
    }
}

/// A list of tables, such as `a,b;c`.
pub fn list(text: &str, schema: &Schema, parameter: &'static str) -> Result<TableList, Failure> {
    TableList::parse(text, schema).map_err(|error| StudyError::Tables { parameter, error }.into())
}

/// A kind as a type of Python.
pub fn python(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "bool".to_owned(),
        Kind::Whole => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Text => "str".to_owned(),
        Kind::Choice(known) => literal(known),
        Kind::List(each) => format!("Iterable[{}]", python(each)),
        _ => "Any".to_owned(),
    }
}

fn literal(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("Literal[{}]", quoted.join(", "))
}
