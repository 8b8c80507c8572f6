//! Parameters by name, as Python hands them over: as JSON. What is not given is left to the defaults of the libraries.

use candor::StudyError;
use candor::choice::Choice;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::errors::{Failure, parameter};

/// The parameters that were given and not taken yet.
pub struct Options(Map<String, Value>);

impl Options {
    /// Reads a JSON object; null is what was not given.
    pub fn read(text: &str) -> Result<Options, Failure> {
        let mut given: Map<String, Value> = serde_json::from_str(text).map_err(parameter)?;
        given.retain(|_, value| !value.is_null());
        Ok(Options(given))
    }

    /// Parameters that are at hand.
    pub fn of(given: Map<String, Value>) -> Options {
        Options(given)
    }

    /// The names of what was given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Gives a parameter another value.
    pub fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The value of a parameter, if it was given.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        let shown = value.to_string();
        let read = serde_json::from_value(value);
        read.map(Some).map_err(|error| parameter(format!("`{name}` is {shown}: {error}")))
    }

    /// The value of a parameter, which stays to be taken, if it was given.
    pub fn peek<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        let given = self.0.get(name).cloned();
        let value = self.take(name)?;
        given.into_iter().for_each(|given| self.put(name, given));
        Ok(value)
    }

    /// Whether something is said of a prior.
    pub fn names_a_prior(&self) -> bool {
        ["prior", "normal_prior", "gamma_prior", "uniform_prior"].iter().any(|name| self.0.contains_key(*name))
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
        self.0
    }

    /// Refuses what is left: nobody took it.
    pub fn finish(self) -> Result<(), Failure> {
        match self.0.keys().next() {
            Some(name) => Err(parameter(format!("`{name}` is not a parameter of this"))),
            None => Ok(()),
        }
    }
}

/// A list of tables, such as `a,b;c`.
pub fn list(text: &str, schema: &Schema, parameter: &'static str) -> Result<TableList, Failure> {
    TableList::parse(text, schema).map_err(|error| StudyError::Tables { parameter, error }.into())
}
