//! From flags to a plan.

use candor::plan::Plan;
use candor::schema::Schema;
use candor_design::matrix::Inputs;
use candor_design::{budget, independent, joint, k_ary, l_diversity, matrix, minimax};
use clap::ValueEnum;

use super::{DesignArgs, InputsArg, Method};
use crate::failure::Failure;

/// Each method takes its own flags; a flag of another one is a mistake, not something to ignore.
pub fn check_flags(args: &DesignArgs) -> Result<(), Failure> {
    let flags = [
        ("--epsilon", args.epsilon.is_some(), &[Method::Independent, Method::Joint][..]),
        ("--ratio", args.ratio.is_some(), &[Method::Independent]),
        ("--attribute-epsilon", args.attribute_epsilon.is_some(), &[Method::Independent, Method::Minimax]),
        ("--parity", args.parity.is_some(), &[Method::Minimax]),
        ("--l", args.l.is_some(), &[Method::LDiversity]),
        ("--cross", args.cross.is_some(), &[Method::LDiversity, Method::Minimax]),
        ("--p", args.p.is_some(), &[Method::Warner]),
        ("--q", args.q.is_some(), &[Method::Up]),
        ("--lambda", args.lambda.is_some(), &[Method::Frapp]),
        ("--file", args.file.is_some(), &[Method::Matrix]),
        ("--inputs", args.inputs.is_some(), &[Method::Matrix]),
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
        Method::LDiversity => l_diversity::l_diversity(schema, args.l.as_ref().ok_or_else(|| needs("--l"))?)?,
        Method::Minimax => match (&args.parity, &args.attribute_epsilon) {
            (Some(parities), _) => minimax::minimax_by_parity(schema, parities)?,
            (None, Some(epsilons)) => minimax::minimax(schema, epsilons)?,
            (None, None) => return Err(needs("--parity or --attribute-epsilon")),
        },
        Method::Matrix => {
            let path = args.file.as_ref().ok_or_else(|| needs("--file"))?;
            let inputs = args.inputs.map(|inputs| match inputs {
                InputsArg::Columns => Inputs::Columns,
                InputsArg::Rows => Inputs::Rows,
            });
            matrix::matrix(schema, &candor_tables::input::cells(path)?, inputs)
                .map_err(|error| Failure::about(&path.display().to_string(), error))?
        }
    })
}
