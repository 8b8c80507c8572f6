//! Design requests: one variant per method, with exactly the method's parameters.
//!
//! A request has a JSON form, such as `{"method": "joint", "epsilon": 4}`. The command, notebooks and
//! [`compare`](crate::compare) all make plans by [`design`]. The parameters of each method follow from its parameter
//! struct ([`Method::parameters`]).
//!
//! ```
//! use candor_base::schema::Schema;
//! use candor_design::request::{Request, design};
//!
//! let schema = Schema::with_sizes(&[9, 16, 7])?;
//! let request: Request = r#"{"method": "independent", "epsilon": 4}"#.parse()?;
//! let designed = design(&schema, &request)?;
//! assert!(designed.plan.guarantee().epsilon().as_f64() <= 4.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fields;

use std::str::FromStr;

use candor_base::schema::{Schema, nearest};
use candor_runtime::progress::{Progress, ProgressSink};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::outcome::DesignOutcome;
use crate::promise::kept;
use crate::traits::{ComparisonTarget, Design, NotApplicable};
use crate::{DesignError, clusters, independent, joint, k_ary, l_diversity, list_experiment, matrix, minimax, pareto};
use fields::{fields_of, names_of};

pub use fields::{Field, Kind};

/// Lists the methods once; all other lists of methods are derived from it.
macro_rules! methods {
    ($($(#[doc = $about:literal])+ $variant:ident($parameters:ty) = $name:literal $(, or $alias:literal)?;)+) => {
        /// A request for a plan. See the [module](self).
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method")]
        #[non_exhaustive]
        pub enum Request {
            $($(#[doc = $about])+ #[serde(rename = $name $(, alias = $alias)?)] $variant($parameters),)+
        }

        /// A design method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $($(#[doc = $about])+ $variant,)+
        }

        $(
            impl From<$parameters> for Request {
                fn from(parameters: $parameters) -> Request {
                    Request::$variant(parameters)
                }
            }
        )+

        /// The parameters of each method, under its name, with their defaults and builder methods.
        ///
        /// ```
        /// use candor_base::schema::Schema;
        /// use candor_design::methods::{Independent, Workload};
        /// use candor_design::{Request, design};
        ///
        /// let schema = Schema::with_sizes(&[9, 16, 7])?;
        /// let request: Request = Workload::new(2.0).tables("marginals").into();
        /// assert_eq!(request, r#"{"method": "workload", "epsilon": 2, "tables": "marginals"}"#.parse()?);
        /// assert!(design(&schema, &request)?.plan.guarantee().epsilon().as_f64() <= 2.0);
        ///
        /// let wrong = Independent::with_attribute_epsilons([1.0, 0.5]).into();
        /// assert!(design(&schema, &wrong).unwrap_err().to_string().contains("3 attributes to randomize"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub mod methods {
            use super::*;

            $($(#[doc = $about])+ pub type $variant = $parameters;)+
        }

        impl Method {
            /// All methods. Among equally good methods, the first is recommended.
            pub const ALL: &[Method] = &[$(Method::$variant),+];

            /// Returns the name of the method.
            pub fn name(self) -> &'static str {
                match self { $(Method::$variant => $name,)+ }
            }

            /// Returns an alternative name of the method, if it has one.
            pub fn alias(self) -> Option<&'static str> {
                match self { $(Method::$variant => None$(.or(Some($alias)))?,)+ }
            }

            /// Returns a one-line description of the method.
            pub fn about(self) -> String {
                let lines: &[&str] = match self { $(Method::$variant => &[$($about),+],)+ };
                lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
            }

            /// Returns the names of its parameters.
            pub fn parameters(self) -> &'static [&'static str] {
                match self { $(Method::$variant => names_of::<$parameters>(),)+ }
            }

            /// Returns its parameters, with their kinds; old names are listed next to the new ones.
            pub fn fields(self) -> Vec<Field> {
                match self { $(Method::$variant => fields_of::<$parameters>(),)+ }
            }

            /// Returns its requests in a [comparison](crate::compare) for a given target, with the names to display.
            pub fn at(
                self,
                schema: &Schema,
                goal: &ComparisonTarget<'_>,
            ) -> Vec<(&'static str, Result<Request, NotApplicable>)> {
                match self {
                    $(Method::$variant => {
                        let candidates = <$parameters>::at(schema, goal).into_iter();
                        candidates.map(|(shown, asked)| (shown.unwrap_or($name), asked.map(Request::$variant)))
                            .collect()
                    })+
                }
            }
        }

        impl Request {
            /// Returns the method of the request.
            pub fn method(&self) -> Method {
                match self { $(Request::$variant(_) => Method::$variant,)+ }
            }
        }

        /// Designs a plan for a request.
        ///
        /// The `candor-base` crate certifies every plan, and no method returns a plan that guarantees less than
        /// requested. The plan contains the request ([`candor_base::plan::Plan::request`]).
        ///
        /// # Errors
        /// Returns a [`DesignError`] if a parameter is missing or out of range, or if the method does not apply to the
        /// schema. Returns [`DesignError::GuaranteesLess`] if a bug of the method broke the guarantee.
        pub fn design(schema: &Schema, request: &Request) -> Result<DesignOutcome, DesignError> {
            design_with_progress(schema, request, ProgressSink::none())
        }

        /// Designs a plan as [`design`] does, reports to `progress`, and can be canceled by it.
        ///
        /// # Errors
        /// Returns the errors of [`design`], and [`DesignError::Cancelled`] if `progress` cancels.
        pub fn design_with_progress(
            schema: &Schema, request: &Request, progress: ProgressSink<'_>,
        ) -> Result<DesignOutcome, DesignError> {
            let designed = match request { $(Request::$variant(asked) => asked.design(schema, progress)?,)+ };
            progress.report(Progress::new("plans", 1, Some(1)))?;
            kept(&serde_json::to_value(request).expect("plain data"), designed)
        }
    };
}

methods! {
    /// Each attribute independently (RR-Independent); epsilons add up
    Independent(independent::IndependentRequest) = "independent", or "kronecker";
    /// Each attribute: report a set, of the size with the least variance
    Minimax(minimax::MinimaxRequest) = "minimax";
    /// All attributes together, kept or replaced at once (RR-Joint)
    Joint(joint::rr_joint::JointRequest) = "joint";
    /// The attributes of a cluster together, clusters independently (RR-Clusters); epsilons add up
    Clusters(clusters::ClustersRequest) = "clusters";
    /// The heuristic of Yamamoto and Shibuya 2024
    Heuristic(joint::single_miss_request::HeuristicRequest) = "heuristic";
    /// The least record-level epsilon for given attribute epsilons, with a proof
    Optimal(joint::least_epsilon_request::OptimalRequest) = "optimal";
    /// Each respondent answers one of the tables, by a randomly assigned channel
    Sampling(joint::least_error::SamplingRequest) = "sampling";
    /// The least error of the tables at a record-level epsilon, by randomly assigned channels
    Workload(joint::least_error::WorkloadRequest) = "workload";
    /// The optimum among channels that distinguish single misses only
    Reduced(joint::single_miss_request::ReducedRequest) = "reduced";
    /// The optimum for two attributes in closed form
    TwoAttribute(joint::single_miss_request::TwoAttributeRequest) = "two-attribute";
    /// One attribute: keep the true category with probability p
    Warner(k_ary::WarnerRequest) = "warner";
    /// One attribute: keep the true category with probability q, else draw uniformly
    Up(k_ary::UpRequest) = "up";
    /// One attribute: the true category is lambda times as likely as any other
    Frapp(k_ary::FrappRequest) = "frapp";
    /// Each attribute: report l categories, the true one and random others
    LDiversity(l_diversity::LDiversityRequest) = "l-diversity";
    /// One yes-or-no question by a list experiment (item count technique): no epsilon
    List(list_experiment::ListRequest) = "list";
    /// Any column-stochastic matrix
    Matrix(matrix::MatrixRequest) = "matrix";
    /// One attribute: the best channel for a prior, by privacy or error
    Front(pareto::plan::FrontRequest) = "front";
}

impl FromStr for Method {
    type Err = RequestError;

    /// Finds a method by its name or its alias.
    ///
    /// # Errors
    /// Returns [`RequestError::UnknownMethod`] if no method has this name.
    fn from_str(name: &str) -> Result<Method, RequestError> {
        let is = |method: &Method| method.name() == name || method.alias() == Some(name);
        Method::ALL.iter().copied().find(is).ok_or_else(|| RequestError::UnknownMethod {
            found: name.to_owned(),
            hint: nearest(name, Method::ALL.iter().map(|method| method.name()))
                .map_or(String::new(), |near| format!("; did you mean \"{near}\"?")),
        })
    }
}

impl Method {
    /// Returns the default method for the given parameters.
    ///
    /// It is `workload` if `epsilon` is among them and `workload` has all of them, otherwise `independent`.
    pub fn by_default(given: &[&str]) -> Method {
        let for_tables = given.contains(&"epsilon") && given.iter().all(|name| Method::Workload.check(name).is_ok());
        if for_tables { Method::Workload } else { Method::Independent }
    }

    /// Iterates over the methods that have a parameter of this name.
    pub fn with_parameter(name: &str) -> impl Iterator<Item = Method> {
        Method::ALL.iter().copied().filter(move |method| method.parameters().contains(&name))
    }

    /// Checks that the method has a parameter of this name.
    ///
    /// # Errors
    /// Returns [`RequestError::WrongMethod`] if only other methods have it, and [`RequestError::UnknownParameter`] if
    /// no method has it.
    pub fn check(self, parameter: &str) -> Result<(), RequestError> {
        if self.parameters().contains(&parameter) {
            return Ok(());
        }
        let methods: Vec<&str> = Method::with_parameter(parameter).map(Method::name).collect();
        let (parameter, method) = (parameter.to_owned(), self.name());
        Err(match methods.is_empty() {
            true => {
                let hint = nearest(&parameter, self.parameters().iter().copied())
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                RequestError::UnknownParameter { parameter, hint }
            }
            false => RequestError::WrongMethod { parameter, method, methods: methods.join(" or ") },
        })
    }
}

impl Request {
    /// Creates a request from a method and its parameters.
    ///
    /// # Errors
    /// Returns [`RequestError::WrongMethod`] or [`RequestError::UnknownParameter`] if the method lacks a parameter,
    /// [`RequestError::InvalidValue`] if a value has the wrong type, and [`RequestError::Missing`] if a required
    /// parameter is missing.
    pub fn new(method: Method, parameters: Map<String, Value>) -> Result<Request, RequestError> {
        parameters.keys().try_for_each(|name| method.check(name))?;
        let fields = method.fields();
        for (name, value) in &parameters {
            // Null counts as missing.
            let wrong = |field: &&Field| field.name == name && !value.is_null() && !field.kind.accepts(value);
            if let Some(field) = fields.iter().find(wrong) {
                return Err(RequestError::InvalidValue {
                    parameter: name.clone(),
                    value: value.to_string(),
                    expected: field.kind.to_string(),
                });
            }
        }
        let given = |name: &str| parameters.get(name).is_some_and(|value| !value.is_null());
        if let Some(field) = fields.iter().find(|field| field.required && !given(field.name)) {
            return Err(RequestError::Missing(field.name));
        }
        let mut all = parameters;
        all.insert("method".to_owned(), method.name().into());
        serde_json::from_value(Value::Object(all)).map_err(|error| RequestError::Malformed(error.to_string()))
    }

    /// Returns the parameters that differ from their defaults, by name.
    pub fn parameters(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut all)) => {
                all.remove("method");
                all
            }
            _ => Map::new(),
        }
    }
}

/// Parses a request in JSON, such as `{"method": "joint", "epsilon": 4}`.
impl FromStr for Request {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Request, RequestError> {
        let mut parameters: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| RequestError::Malformed(format!("a request must be a JSON object: {error}")))?;
        match parameters.remove("method") {
            Some(Value::String(name)) => Request::new(name.parse()?, parameters),
            None => {
                let given: Vec<&str> = parameters.keys().map(String::as_str).collect();
                Request::new(Method::by_default(&given), parameters)
            }
            _ => Err(RequestError::Malformed("`method` must be a string, such as \"independent\"".to_owned())),
        }
    }
}

/// Error of an invalid request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A required parameter is missing.
    #[error("this method requires `{0}`")]
    Missing(&'static str),
    /// No method has this name.
    #[error("unknown method \"{found}\"{hint}")]
    UnknownMethod {
        /// The given name.
        found: String,
        /// A suggestion, or empty.
        hint: String,
    },
    /// Other methods have this parameter.
    #[error("`{parameter}` cannot be used with `method {method}`; it requires `method {methods}`")]
    WrongMethod {
        /// The parameter.
        parameter: String,
        /// The requested method.
        method: &'static str,
        /// The methods that have the parameter.
        methods: String,
    },
    /// No method has this parameter.
    #[error("unknown parameter `{parameter}`{hint}")]
    UnknownParameter {
        /// The parameter.
        parameter: String,
        /// A suggestion, or empty.
        hint: String,
    },
    /// A value has the wrong type for its parameter.
    #[error("`{parameter}` is {value}; it must be {expected}")]
    InvalidValue {
        /// The parameter.
        parameter: String,
        /// Its value, as JSON.
        value: String,
        /// A description of valid values.
        expected: String,
    },
    /// The request is not valid JSON, or lacks a parameter.
    #[error("{0}")]
    Malformed(String),
}
