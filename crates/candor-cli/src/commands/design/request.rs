//! Conversion of options to a request.

use std::path::Path;

use candor::StudyError;
use candor_base::schema::Schema;
use candor_design::DesignError;
use candor_design::cross::crossed;
use candor_design::request::{Method, Request, RequestError};
use candor_runtime::names;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};

use super::DesignArgs;
use crate::commands::prior::read_loss;
use crate::commands::read_text;
use crate::failure::Failure;
use crate::flags::{flag, with_flags};
use crate::show::remark;

/// Returns the parser of method names.
pub fn method_parser() -> impl TypedValueParser<Value = Method> {
    let value = |method: &Method| {
        let value = PossibleValue::new(method.name()).help(method.about());
        method.alias().map_or(value.clone(), |alias| value.alias(alias))
    };
    PossibleValuesParser::new(Method::ALL.iter().map(value)).try_map(|name| name.parse::<Method>())
}

/// Clusters of attributes by name, and the epsilon that was spent on finding them.
struct Clusters {
    names: Vec<Vec<String>>,
    spent: Option<f64>,
}

/// A given option: as the user writes it, and its parameter.
pub(super) struct Given {
    flag: String,
    pub(super) parameter: String,
}

impl DesignArgs {
    /// Returns the given options that belong to some methods only.
    pub(super) fn given(&self) -> Vec<Given> {
        let own = &self.parameters;
        let others = [
            ("--clusters", "clusters", own.clusters.is_some()),
            ("--from-clusters", "clusters", own.from_clusters.is_some()),
            ("--matrix", "matrix", own.matrix.is_some()),
            ("--loss", "loss", own.loss.is_some()),
            ("--exact-prior", "prior", self.exact_prior),
            (self.prior.given().unwrap_or("--prior"), "prior", self.prior.given().is_some()),
        ];
        let others = others.into_iter().filter(|(.., given)| *given);
        let others =
            others.map(|(flag, parameter, _)| Given { flag: flag.to_owned(), parameter: parameter.to_owned() });
        own.given()
            .into_iter()
            .map(|(parameter, _)| Given { flag: flag(&parameter), parameter })
            .chain(others)
            .collect()
    }

    /// Rejects options of other methods, which would be ignored otherwise.
    pub fn check_flags(&self) -> Result<(), Failure> {
        for Given { flag, parameter } in self.given() {
            self.method().check(&parameter).map_err(|error| match error {
                RequestError::WrongMethod { method, methods, .. } => Failure::Usage(format!(
                    "{flag} cannot be used with --method {method}; it requires --method {methods}"
                )),
                other => Failure::Usage(other.to_string()),
            })?;
        }
        Ok(())
    }

    /// Returns the request of the options, with notes about it.
    pub fn request(&self, schema: &Schema) -> Result<(Request, Vec<String>), Failure> {
        let (mut parameters, mut notes) = (self.parameters.given(), Vec::new());
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|_| self.method().parameters().contains(&name)) {
                parameters.insert(name.to_owned(), value);
            }
        };
        put("respondents", self.respondents.map(|respondents| json!(respondents)));
        put("tables", self.tables.as_ref().map(|tables| json!(tables)));
        put("loss", self.parameters.loss.as_deref().map(read_loss).transpose()?.map(|loss| json!(loss)));
        put("matrix", self.parameters.matrix.as_deref().map(matrix).transpose()?);
        if let Some(Clusters { names, spent }) = self.asked_clusters()? {
            put("clusters", Some(json!(names)));
            put("spent", spent.map(|spent| json!(spent)));
        }
        if let Some((prior, told)) = self.asked_prior(schema)? {
            put("prior", Some(prior));
            notes.extend(told);
        }
        if let Some(limit) = self.parameters.learning_limit()? {
            limit.put(self.method(), schema, &mut parameters)?;
        }
        let request = Request::new(self.method(), parameters).map_err(refused)?;
        Ok((request, notes))
    }

    /// Returns the prior of a point of a front, or of a given matrix, with a note about it.
    fn asked_prior(&self, schema: &Schema) -> Result<Option<(Value, Option<String>)>, Failure> {
        let of_matrix = self.method() == Method::Matrix && self.prior.given().is_some();
        if self.method() != Method::Front && !of_matrix {
            return Ok(None);
        }
        let schema = match &self.parameters.cross {
            Some(names) => crossed(schema, names).map_err(StudyError::from)?,
            None => schema.clone(),
        };
        let only = match schema.randomized()[..] {
            [attribute] => Some(&schema.attributes()[attribute]),
            ref several if self.method() == Method::Front => {
                let error = DesignError::OneAttribute { method: "front", attributes: several.len() };
                return Err(StudyError::from(error).into());
            }
            _ => None,
        };
        let (prior, told) = self.prior.for_plan(only, self.exact_prior)?;
        Ok(Some((json!(prior.all_stated()), told)))
    }

    /// Returns the requested clusters.
    fn asked_clusters(&self) -> Result<Option<Clusters>, Failure> {
        match (&self.parameters.clusters, &self.parameters.from_clusters) {
            (Some(text), _) => Ok(Some(Clusters { names: split_clusters(text)?, spent: None })),
            (None, Some(path)) => read_clusters(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Converts the error of a request.
fn refused(error: RequestError) -> Failure {
    Failure::Usage(match &error {
        RequestError::Missing(parameter) => match *parameter {
            "epsilon" => "this method needs --epsilon (a total)".to_owned(),
            "attribute_epsilon" => "this method needs --attribute-epsilon (one per attribute)".to_owned(),
            "clusters" => "this method needs --clusters \"a,b;c\" or --from-clusters clusters.json".to_owned(),
            parameter => format!("this method needs {}", flag(parameter)),
        },
        other => with_flags(&other.to_string()),
    })
}

fn matrix(path: &Path) -> Result<Value, Failure> {
    Ok(json!(candor_tables::input::cells(path)?))
}

/// Parses clusters: `a,b;c`; names with special characters are quoted.
pub fn split_clusters(text: &str) -> Result<Vec<Vec<String>>, Failure> {
    let clusters = names::split(text, ';').and_then(|clusters| clusters.into_iter().map(names::list).collect());
    clusters.map_err(|error| Failure::about("--clusters", error))
}

/// Reads the output of `candor associations`: the clusters, and the epsilon spent on them.
fn read_clusters(path: &str) -> Result<Clusters, Failure> {
    let wrong = |problem: &str| {
        Failure::about(path, format!("{problem}; candor associations .. -o clusters.json writes what is needed here"))
    };
    let found: Value = serde_json::from_str(&read_text(path)?).map_err(|error| wrong(&error.to_string()))?;
    let names = serde_json::from_value(found["clusters"].clone())
        .map_err(|_| wrong("there is no field \"clusters\" with lists of names"))?;
    if found["protocol"] == "secure-sum" {
        remark(
            "note: finding the clusters published exact tables of all pairs, which the epsilon of this plan does not \
             cover for those who took part",
        );
    }
    Ok(Clusters { names, spent: found["epsilon"].as_f64() })
}
