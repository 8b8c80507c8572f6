//! From flags to a plan.

use candor::plan::Plan;
use candor::schema::Schema;
use candor_design::front::Goal;
use candor_design::front::plan::{self as front, Aim};
use candor_design::matrix::Inputs;
use candor_design::{budget, independent, joint, k_ary, matrix};
use clap::ValueEnum;

use super::{DEFAULT_RESPONDENTS, DesignArgs, InputsArg, Method};
use crate::failure::Failure;

/// Each method takes its own flags; a flag of another one is a mistake, not something to ignore.
pub fn check_flags(args: &DesignArgs) -> Result<(), Failure> {
    let flags = [
        ("--epsilon", args.epsilon.is_some(), &[Method::Independent, Method::Joint][..]),
        ("--ratio", args.ratio.is_some(), &[Method::Independent]),
        ("--attribute-epsilon", args.attribute_epsilon.is_some(), &[Method::Independent]),
        ("--p", args.p.is_some(), &[Method::Warner]),
        ("--q", args.q.is_some(), &[Method::Up]),
        ("--lambda", args.lambda.is_some(), &[Method::Frapp]),
        ("--file", args.file.is_some(), &[Method::Matrix]),
        ("--inputs", args.inputs.is_some(), &[Method::Matrix]),
        ("--privacy", args.privacy.is_some(), &[Method::Front]),
        ("--utility", args.utility.is_some(), &[Method::Front]),
        ("--posterior-bound", args.posterior_bound.is_some(), &[Method::Front]),
        ("--outputs", args.outputs.is_some(), &[Method::Front]),
        (args.prior.given().unwrap_or("--prior"), args.prior.given().is_some(), &[Method::Front]),
    ];
    let name = |method: Method| method.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    match flags.iter().find(|(_, given, methods)| *given && !methods.contains(&args.method)) {
        Some((flag, _, methods)) => {
            let methods: Vec<String> = methods.iter().map(|&method| name(method)).collect();
            let (method, takes) = (name(args.method), methods.join(" or "));
            Err(Failure::Usage(format!("{flag} does not go with --method {method}; it belongs to --method {takes}")))
        }
        None => Ok(()),
    }
}

/// The plan asked for.
pub fn design(args: &DesignArgs, schema: &Schema) -> Result<Plan, Failure> {
    let needs = |flag: &str| Failure::Usage(format!("this method needs {flag}"));
    Ok(match args.method {
        Method::Independent => {
            let epsilons = match (&args.attribute_epsilon, args.epsilon) {
                (Some(epsilons), _) => epsilons.clone(),
                (None, Some(total)) => {
                    let attributes = schema.private().len();
                    let ratio = args.ratio.clone().unwrap_or_else(|| vec![1.0; attributes]);
                    if ratio.len() != attributes {
                        let (what, found, expected) = ("--ratio", ratio.len(), attributes);
                        return Err(candor_design::DesignError::Count { what, found, expected }.into());
                    }
                    budget::share(total, &ratio)?
                }
                (None, None) => return Err(needs("--epsilon (a total) or --attribute-epsilon (one per attribute)")),
            };
            independent::independent(schema, &epsilons)?
        }
        Method::Joint => joint::joint(schema, args.epsilon.ok_or_else(|| needs("--epsilon"))?)?,
        Method::Warner => k_ary::warner(schema, args.p.ok_or_else(|| needs("--p"))?)?,
        Method::Up => k_ary::up(schema, args.q.ok_or_else(|| needs("--q"))?)?,
        Method::Frapp => k_ary::frapp(schema, args.lambda.ok_or_else(|| needs("--lambda"))?)?,
        Method::Matrix => {
            let path = args.file.as_ref().ok_or_else(|| needs("--file"))?;
            let inputs = args.inputs.map(|inputs| match inputs {
                InputsArg::Columns => Inputs::Columns,
                InputsArg::Rows => Inputs::Rows,
            });
            matrix::matrix(schema, &candor_tables::input::cells(path)?, inputs)
                .map_err(|error| Failure::about(&path.display().to_string(), error))?
        }
        Method::Front => {
            let aim = match (args.privacy, args.utility) {
                (Some(privacy), _) => Aim::Privacy(privacy),
                (None, Some(utility)) => {
                    Aim::Utility { utility, respondents: args.respondents.unwrap_or(DEFAULT_RESPONDENTS) }
                }
                (None, None) => return Err(needs("--privacy or --utility")),
            };
            let attribute = match schema.private()[..] {
                [attribute] => Some(&schema.attributes()[attribute]),
                _ => None,
            };
            let goal = Goal::new(args.prior.read(attribute)?, args.posterior_bound.unwrap_or(1.0))
                .map_err(|error| Failure::about("--posterior-bound", error))?;
            front::plan(schema, &goal, aim, args.outputs, 1)?.0
        }
    })
}
