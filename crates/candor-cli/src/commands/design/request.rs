//! From flags to a request.

use std::path::Path;

use candor::StudyError;
use candor::information::LearningLimit;
use candor_base::schema::Schema;
use candor_design::cross::crossed;
use candor_design::request::{Method, Request, RequestError};
use candor_runtime::names;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};

use super::DesignArgs;
use crate::commands::read_text;
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::show::remark;

/// The methods as values of a flag.
pub fn method_parser() -> impl TypedValueParser<Value = Method> {
    let value = |method: &Method| {
        let value = PossibleValue::new(method.name()).help(method.about());
        method.alias().map_or(value.clone(), |alias| value.alias(alias))
    };
    PossibleValuesParser::new(Method::ALL.iter().map(value)).try_map(|name| name.parse::<Method>())
}

/// Attributes to be randomized together, by name, and the epsilon that was spent on finding them.
struct Clusters {
    names: Vec<Vec<String>>,
    spent: Option<f64>,
}

/// A flag that was given: as the user writes it, and the parameter that it is.
pub(super) struct Given {
    flag: &'static str,
    pub(super) parameter: &'static str,
}

impl DesignArgs {
    /// The flags that were given and belong to some methods only.
    pub(super) fn given(&self) -> Vec<Given> {
        let flags = [
            ("--epsilon", "epsilon", self.epsilon.is_some()),
            ("--budget-split", "budget_split", self.ratio.is_some()),
            ("--attribute-epsilon", "attribute_epsilon", self.attribute_epsilon.is_some()),
            ("--clusters", "clusters", self.clusters.is_some()),
            ("--from-clusters", "clusters", self.from_clusters.is_some()),
            ("--cluster-method", "cluster_method", self.inside.is_some()),
            ("--one-channel", "one_channel", self.single),
            ("--compliance-check", "compliance_check", self.mirrored),
            ("--order", "order", self.order.is_some()),
            ("--allow-larger-epsilon", "allow_larger_epsilon", self.allow_weaker),
            ("--time-limit", "time_limit", self.time_limit.is_some()),
            ("--likelihood-ratio", "likelihood_ratio", self.parity.is_some()),
            ("--l", "l", self.l.is_some()),
            ("--cross", "cross", self.cross.is_some()),
            ("--p", "p", self.p.is_some()),
            ("--q", "q", self.q.is_some()),
            ("--lambda", "lambda", self.lambda.is_some()),
            ("--matrix", "matrix", self.file.is_some()),
            ("--matrix-inputs", "matrix_inputs", self.inputs.is_some()),
            ("--map-privacy", "map_privacy", self.privacy.is_some()),
            ("--max-mse", "max_mse", self.utility.is_some()),
            ("--posterior-bound", "posterior_bound", self.posterior_bound.is_some()),
            ("--outputs", "outputs", self.outputs.is_some()),
            ("--exact-prior", "prior", self.exact_prior),
            (self.prior.given().unwrap_or("--prior"), "prior", self.prior.given().is_some()),
        ];
        let given = flags.into_iter().filter(|(.., given)| *given);
        given.map(|(flag, parameter, _)| Given { flag, parameter }).collect()
    }

    /// Each method takes its own flags; a flag of another one is a mistake, not something to ignore.
    pub fn check_flags(&self) -> Result<(), Failure> {
        for Given { flag, parameter } in self.given() {
            self.method().check(parameter).map_err(|error| match error {
                RequestError::WrongMethod { method, methods, .. } => Failure::Usage(format!(
                    "{flag} does not go with --method {method}; it belongs to --method {methods}"
                )),
                other => Failure::Usage(other.to_string()),
            })?;
        }
        Ok(())
    }

    /// The request that the flags make, and what is to be said of it.
    pub fn request(&self, schema: &Schema) -> Result<(Request, Vec<String>), Failure> {
        let (mut parameters, mut notes) = (Map::new(), Vec::new());
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value.filter(|_| self.method().parameters().contains(&name)) {
                parameters.insert(name.to_owned(), value);
            }
        };
        for (name, number) in [
            ("epsilon", self.epsilon),
            ("time_limit", self.time_limit),
            ("p", self.p),
            ("q", self.q),
            ("lambda", self.lambda),
            ("map_privacy", self.privacy),
            ("max_mse", self.utility),
            ("posterior_bound", self.posterior_bound),
            ("respondents", self.respondents),
        ] {
            put(name, number.map(|number| finite(name, number)).transpose()?);
        }
        for (name, numbers) in [
            ("budget_split", &self.ratio),
            ("attribute_epsilon", &self.attribute_epsilon),
            ("likelihood_ratio", &self.parity),
        ] {
            let list = |list: &Vec<f64>| list.iter().map(|&number| finite(name, number)).collect::<Result<Value, _>>();
            put(name, numbers.as_ref().map(list).transpose()?);
        }
        put("l", self.l.as_ref().map(|l| json!(l)));
        put("cross", self.cross.as_ref().map(|names| json!(names)));
        put("order", self.order.as_ref().map(|names| names.iter().map(|name| json!(name.trim())).collect()));
        put("tables", self.tables.as_ref().map(|tables| json!(tables)));
        put("outputs", self.outputs.map(|outputs| json!(outputs)));
        put("cluster_method", self.inside.map(|inside| json!(inside)));
        put("matrix_inputs", self.inputs.map(|inputs| json!(inputs)));
        put("one_channel", self.single.then_some(json!(true)));
        put("compliance_check", self.mirrored.then_some(json!(true)));
        put("allow_larger_epsilon", self.allow_weaker.then_some(json!(true)));
        put("matrix", self.file.as_deref().map(matrix).transpose()?);
        if let Some(Clusters { names, spent }) = self.asked_clusters()? {
            put("clusters", Some(json!(names)));
            put("spent", spent.map(|spent| json!(spent)));
        }
        if let Some((prior, told)) = self.asked_prior(schema)? {
            put("prior", Some(prior));
            notes.extend(told);
        }
        if let Some(limit) = LearningLimit::named(self.rho.as_deref(), self.beta)? {
            limit.put(self.method(), schema, &mut parameters)?;
        }
        let request = Request::new(self.method(), parameters).map_err(missing)?;
        Ok((request, notes))
    }

    /// The prior of a point of a front, or of a matrix if one is given, and what is to be said of it.
    fn asked_prior(&self, schema: &Schema) -> Result<Option<(Value, Option<String>)>, Failure> {
        let of_matrix = self.method() == Method::Matrix && self.prior.given().is_some();
        if self.method() != Method::Front && !of_matrix {
            return Ok(None);
        }
        let schema = match &self.cross {
            Some(names) => crossed(schema, names).map_err(StudyError::from)?,
            None => schema.clone(),
        };
        let only = match schema.randomized()[..] {
            [attribute] => Some(&schema.attributes()[attribute]),
            _ => None,
        };
        let (prior, told) = self.prior.for_plan(only, self.exact_prior)?;
        Ok(Some((json!(prior.all_stated()), told)))
    }

    /// The clusters asked for.
    fn asked_clusters(&self) -> Result<Option<Clusters>, Failure> {
        match (&self.clusters, &self.from_clusters) {
            (Some(text), _) => Ok(Some(Clusters { names: split_clusters(text)?, spent: None })),
            (None, Some(path)) => read_clusters(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Why the flags make no request.
fn missing(error: RequestError) -> Failure {
    // The parser's words for what a method cannot do without.
    let needed = match &error {
        RequestError::Malformed(message) => message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`')),
        _ => None,
    };
    Failure::Usage(match needed {
        Some("epsilon") => "this method needs --epsilon (a total)".to_owned(),
        Some("attribute_epsilon") => "this method needs --attribute-epsilon (one per attribute)".to_owned(),
        Some("matrix") => "this method needs --matrix".to_owned(),
        Some("clusters") => "this method needs --clusters \"a,b;c\" or --from-clusters clusters.json".to_owned(),
        Some(parameter) => with_flags(&format!("this method needs `{parameter}`")),
        None => with_flags(&error.to_string()),
    })
}

/// A number as a parameter; JSON has no others.
fn finite(name: &str, number: f64) -> Result<Value, Failure> {
    match number.is_finite() {
        true => Ok(json!(number)),
        false => Err(Failure::Input(with_flags(&format!("`{name}` is {number}; it must be a finite number")))),
    }
}

fn matrix(path: &Path) -> Result<Value, Failure> {
    Ok(json!(candor_tables::input::cells(path)?))
}

/// Clusters as the user writes them: `a,b;c`; names with signs in quotes.
pub fn split_clusters(text: &str) -> Result<Vec<Vec<String>>, Failure> {
    let clusters = names::split(text, ';').and_then(|clusters| clusters.into_iter().map(names::list).collect());
    clusters.map_err(|error| Failure::about("--clusters", error))
}

/// What `candor associations` wrote: the clusters, and what finding them spent.
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
