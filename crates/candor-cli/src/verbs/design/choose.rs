//! From flags to a plan.

use std::time::{Duration, Instant};

use candor::schema::Schema;
use candor::tables::Tables;
use candor_design::clusters::Inside;
use candor_design::front::Goal;
use candor_design::front::plan::{self as front, Aim};
use candor_design::joint::optimal::search::Effort;
use candor_design::joint::{optimal, rr_joint, single_miss, workload};
use candor_design::matrix::Inputs;
use candor_design::{DesignError, budget, clusters, independent, k_ary, l_diversity, matrix, minimax};
use clap::ValueEnum;
use serde_json::Value;

use super::designed::{Alternative, Designed};
use super::{DEFAULT_RESPONDENTS, DesignArgs, InputsArg, InsideArg, Method};
use crate::failure::Failure;
use crate::show::{plural, remark};
use crate::verbs::read_text;

/// Each method takes its own flags; a flag of another one is a mistake, not something to ignore.
pub fn check_flags(args: &DesignArgs) -> Result<(), Failure> {
    use Method::{
        Clusters, Frapp, Front, Heuristic, Independent, Joint, LDiversity, Matrix, Minimax, Optimal, Reduced, Sampling,
        TwoAttribute, Up, Warner, Workload,
    };
    let flags = [
        ("--epsilon", args.epsilon.is_some(), &[Independent, Joint, Clusters, Optimal, Workload, Sampling][..]),
        ("--ratio", args.ratio.is_some(), &[Independent, Clusters, Optimal]),
        (
            "--attribute-epsilon",
            args.attribute_epsilon.is_some(),
            &[Independent, Clusters, Optimal, Heuristic, Reduced, TwoAttribute, Minimax],
        ),
        ("--clusters", args.clusters.is_some(), &[Clusters]),
        ("--from-clusters", args.from_clusters.is_some(), &[Clusters]),
        ("--inside", args.inside.is_some(), &[Clusters]),
        ("--single", args.single, &[Workload]),
        ("--order", args.order.is_some(), &[Heuristic]),
        ("--allow-weaker", args.allow_weaker, &[Heuristic]),
        ("--time-limit", args.time_limit.is_some(), &[Optimal, Workload, Clusters]),
        ("--parity", args.parity.is_some(), &[Minimax]),
        ("--l", args.l.is_some(), &[LDiversity]),
        ("--cross", args.cross.is_some(), &[LDiversity, Minimax]),
        ("--p", args.p.is_some(), &[Warner]),
        ("--q", args.q.is_some(), &[Up, Independent, Clusters]),
        ("--lambda", args.lambda.is_some(), &[Frapp]),
        ("--file", args.file.is_some(), &[Matrix]),
        ("--inputs", args.inputs.is_some(), &[Matrix]),
        ("--privacy", args.privacy.is_some(), &[Front]),
        ("--utility", args.utility.is_some(), &[Front]),
        ("--posterior-bound", args.posterior_bound.is_some(), &[Front]),
        ("--outputs", args.outputs.is_some(), &[Front]),
        (args.prior.given().unwrap_or("--prior"), args.prior.given().is_some(), &[Front]),
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

/// The tables asked for, with their weights.
pub fn asked_tables(args: &DesignArgs, schema: &Schema) -> Result<(Tables, Vec<f64>), Failure> {
    let for_tables = args.method.is_for_tables();
    let default = if for_tables && schema.private().len() > 1 { "pairs" } else { "marginals" };
    let text = args.tables.as_deref().unwrap_or(default);
    let parsed = match for_tables {
        true => Tables::parse_weighted(text, schema),
        false => Tables::parse(text, schema).map(|tables| {
            let weights = vec![1.0; tables.lists().len()];
            (tables, weights)
        }),
    };
    parsed.map_err(|error| Failure::about("--tables", error))
}

/// The plan asked for.
pub fn design(args: &DesignArgs, schema: &Schema, tables: &Tables, weights: &[f64]) -> Result<Designed, Failure> {
    let needs = |flag: &str| Failure::Usage(format!("this method needs {flag}"));
    let attributes = schema.private().len();
    let ratio = || args.ratio.clone().unwrap_or_else(|| vec![1.0; attributes]);
    let each = || args.attribute_epsilon.as_deref().ok_or_else(|| needs("--attribute-epsilon (one per attribute)"));
    let total = || args.epsilon.ok_or_else(|| needs("--epsilon (a total)"));
    let effort = Effort::of(attributes, args.time_limit.map(deadline));
    Ok(match args.method {
        Method::Independent => {
            let designed = Designed::from(independent::independent(schema, &own_epsilons(args, schema)?)?);
            Designed { recommend_workload: args.epsilon.is_some() && attributes > 1, ..designed }
        }
        Method::Clusters => {
            let (together, spent) = asked_clusters(args, schema)?;
            let inside = match args.inside {
                None | Some(InsideArg::Joint) => Inside::Joint,
                Some(InsideArg::Optimal) if args.epsilon.is_some() => Inside::OptimalWithin,
                Some(InsideArg::Optimal) => Inside::Optimal,
                Some(InsideArg::Workload) => Inside::Workload,
            };
            let plan = clusters::clusters(schema, &together, &own_epsilons(args, schema)?, inside, effort)?;
            let epsilon = plan.guarantee().epsilon().get();
            let remark = |spent: f64| {
                format!(
                    "Finding the clusters spent epsilon {:.4}. Those who took part in that and answer under this plan, too, are \
                     protected by epsilon {:.4} in all.",
                    // Rounded up, like every epsilon.
                    (spent * 1e4).ceil() / 1e4,
                    ((spent + epsilon) * 1e4).ceil() / 1e4
                )
            };
            Designed { remarks: spent.map(remark).into_iter().collect(), ..Designed::from(plan) }
        }
        Method::Joint => {
            let designed = Designed::from(rr_joint::rr_joint(schema, total()?)?);
            Designed { recommend_workload: attributes > 1, ..designed }
        }
        Method::Optimal => {
            let found = match (&args.attribute_epsilon, args.epsilon) {
                (Some(epsilons), _) => optimal::optimal(schema, epsilons, effort)?,
                (None, Some(total)) => optimal::optimal_within(schema, total, &ratio(), effort)?,
                (None, None) => return Err(needs("--attribute-epsilon (one per attribute) or --epsilon (a total)")),
            };
            let epsilons: Vec<f64> = found.plan.origin().requested.iter().map(|e| e.unwrap_or(0.0)).collect();
            Designed {
                lower_bound: Some(found.lower_bound),
                out_of_time: found.out_of_time,
                alternatives: alternatives(schema, &epsilons),
                ..Designed::from(found.plan)
            }
        }
        Method::Heuristic => heuristic(args, schema, each()?)?,
        Method::Reduced => single_miss::reduced(schema, each()?)?.into(),
        Method::TwoAttribute => single_miss::two_attribute(schema, each()?)?.into(),
        Method::Workload => {
            let (total, many) = (total()?, "a lottery of channels that answer with one category of each attribute");
            let (found, kind) = match args.single {
                true => (workload::single(schema, total, tables, weights, effort)?, "one channel for everybody"),
                false => (workload::lottery(schema, total, tables, weights, effort)?, many),
            };
            Designed::for_tables(found, schema, (total, kind), tables, weights, effort.is_over())
        }
        Method::Sampling => {
            let found = workload::sampling(schema, total()?, tables, weights)?;
            Designed { recommend_workload: true, ..Designed::from(found.plan) }
        }
        Method::Warner => k_ary::warner(schema, args.p.ok_or_else(|| needs("--p"))?)?.into(),
        Method::Up => k_ary::up(schema, args.q.ok_or_else(|| needs("--q"))?)?.into(),
        Method::Frapp => k_ary::frapp(schema, args.lambda.ok_or_else(|| needs("--lambda"))?)?.into(),
        Method::LDiversity => l_diversity::l_diversity(schema, args.l.as_ref().ok_or_else(|| needs("--l"))?)?.into(),
        Method::Minimax => match (&args.parity, &args.attribute_epsilon) {
            (Some(parities), _) => minimax::minimax_by_parity(schema, parities)?.into(),
            (None, Some(epsilons)) => minimax::minimax(schema, epsilons)?.into(),
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
                .into()
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
            front::plan(schema, &goal, aim, args.outputs, 1)?.0.into()
        }
    })
}

/// One epsilon for each attribute, from whichever flag says so.
fn own_epsilons(args: &DesignArgs, schema: &Schema) -> Result<Vec<f64>, Failure> {
    let attributes = schema.private();
    match (&args.attribute_epsilon, args.epsilon, args.q) {
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
            Err(Failure::Usage("--q goes without --epsilon and --attribute-epsilon: it says the same".to_owned()))
        }
        (Some(epsilons), ..) => Ok(epsilons.clone()),
        (None, Some(total), None) => {
            let ratio = args.ratio.clone().unwrap_or_else(|| vec![1.0; attributes.len()]);
            if ratio.len() != attributes.len() {
                let (what, found, expected) = ("--ratio", ratio.len(), attributes.len());
                return Err(DesignError::Count { what, found, expected }.into());
            }
            Ok(budget::share(total, &ratio)?)
        }
        (None, None, Some(q)) => {
            let size = |attribute: usize| schema.attributes()[attribute].categories().len();
            Ok(attributes.into_iter().map(|a| k_ary::up_epsilon(size(a), q)).collect::<Result<_, _>>()?)
        }
        (None, None, None) => Err(Failure::Usage(
            "this method needs --epsilon (a total), --attribute-epsilon (one per attribute) or --q (one for all)"
                .to_owned(),
        )),
    }
}

/// The clusters asked for, and the epsilon that was spent on finding them.
fn asked_clusters(args: &DesignArgs, schema: &Schema) -> Result<(Vec<Vec<usize>>, Option<f64>), Failure> {
    match (&args.clusters, &args.from_clusters) {
        (Some(text), _) => Ok((parse_clusters("--clusters", text, schema)?, None)),
        (None, Some(path)) => {
            let wrong = |problem: &str| {
                Failure::about(
                    path,
                    format!("{problem}; candor cluster .. -o clusters.json writes what is needed here"),
                )
            };
            let found: Value = serde_json::from_str(&read_text(path)?).map_err(|error| wrong(&error.to_string()))?;
            let clusters: Vec<Vec<String>> = serde_json::from_value(found["clusters"].clone())
                .map_err(|_| wrong("there is no field \"clusters\" with lists of names"))?;
            if found["protocol"] == "secure-sum" {
                remark(
                    "note: finding the clusters published exact tables of all pairs, which the epsilon of this plan does not cover for those who \
                     took part",
                );
            }
            Ok((positions(path, schema, &clusters)?, found["epsilon"].as_f64()))
        }
        (None, None) => {
            Err(Failure::Usage("this method needs --clusters \"a,b;c\" or --from-clusters clusters.json".to_owned()))
        }
    }
}

/// Clusters as the user writes them: `a,b;c`.
pub fn parse_clusters(flag: &str, text: &str, schema: &Schema) -> Result<Vec<Vec<usize>>, Failure> {
    let cluster = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<String>>();
    positions(flag, schema, &text.split(';').map(cluster).collect::<Vec<_>>())
}

fn positions(whence: &str, schema: &Schema, clusters: &[Vec<String>]) -> Result<Vec<Vec<usize>>, Failure> {
    let position = |name: &String| schema.position(name).map_err(|error| Failure::about(whence, error));
    clusters.iter().map(|names| names.iter().map(position).collect()).collect()
}

/// When a time limit that begins now ends.
fn deadline(seconds: f64) -> Instant {
    // A limit beyond the clock's range is none.
    let now = Instant::now();
    Duration::try_from_secs_f64(seconds)
        .ok()
        .and_then(|limit| now.checked_add(limit))
        .unwrap_or(now + Duration::from_secs(1 << 32))
}

/// What the same attribute epsilons would cost otherwise.
fn alternatives(schema: &Schema, epsilons: &[f64]) -> Vec<Alternative> {
    let sizes = schema.private().into_iter().map(|a| schema.attributes()[a].categories().len() as f64);
    let positive: Vec<(f64, f64)> = sizes.zip(epsilons.iter().copied()).filter(|(_, e)| *e > 0.0).collect();
    // {no miss} must gain what the neediest attribute needs: exp(epsilon) - 1 = max b / P(no miss).
    let need = positive.iter().map(|(a, e)| e.exp_m1() / a).fold(0.0, f64::max);
    let everything: f64 = positive.iter().map(|(a, _)| a.ln()).sum();
    let joint = if need > 0.0 { softplus(need.ln() + everything) } else { 0.0 };
    let mut all = vec![
        Alternative { method: "independent (Kronecker)", epsilon: epsilons.iter().sum(), altered: 0, raised: 0 },
        Alternative { method: "joint (RR-Joint)", epsilon: joint, altered: 0, raised: 0 },
    ];
    if let Ok(found) = single_miss::heuristic(schema, epsilons, &single_miss::by_need(schema, epsilons)) {
        let raised = found.altered.iter().filter(|&&(i, achieved)| achieved > epsilons[i]).count();
        let epsilon = found.plan.guarantee().epsilon().get();
        all.push(Alternative { method: "heuristic", epsilon, altered: found.altered.len(), raised });
    }
    all
}

/// `ln(1 + exp(x))`.
fn softplus(x: f64) -> f64 {
    if x > 30.0 { x } else { x.exp().ln_1p() }
}

fn heuristic(args: &DesignArgs, schema: &Schema, epsilons: &[f64]) -> Result<Designed, Failure> {
    let private = schema.private();
    let order = match &args.order {
        None => single_miss::by_need(schema, epsilons),
        Some(names) => {
            let place = |name: &String| {
                let attribute = schema.position(name.trim()).map_err(|error| Failure::about("--order", error))?;
                private
                    .iter()
                    .position(|&a| a == attribute)
                    .ok_or_else(|| Failure::Input(format!("--order: \"{name}\" is public, so it is not randomized")))
            };
            names.iter().map(place).collect::<Result<_, _>>()?
        }
    };
    let found = single_miss::heuristic(schema, epsilons, &order)?;
    let name = |i: usize| schema.attributes()[private[i]].name();
    let raised: Vec<String> = found
        .altered
        .iter()
        .filter(|&&(i, achieved)| achieved > epsilons[i])
        .map(|&(i, achieved)| format!("{} {:.4} instead of {}", name(i), achieved, epsilons[i]))
        .collect();
    if !raised.is_empty() && !args.allow_weaker {
        return Err(Failure::Input(format!(
            "the heuristic would give {} of {} attributes a weaker protection than asked for: {}. Use --method optimal, which \
             meets every attribute epsilon at the least record epsilon, another --order, or say --allow-weaker",
            raised.len(),
            epsilons.len(),
            raised.join(", ")
        )));
    }
    let names: Vec<&str> = order.iter().map(|&i| name(i)).collect();
    let schema_order: Vec<usize> = (0..order.len()).collect();
    let mut remark = format!("The attributes were taken in the order {}; the result depends on it", names.join(", "));
    if order != schema_order
        && let Ok(other) = single_miss::heuristic(schema, epsilons, &schema_order)
    {
        let (epsilon, altered) = (other.plan.guarantee().epsilon(), plural(other.altered.len(), "attribute epsilon"));
        remark += &format!(": in the schema's order the record epsilon would be {epsilon}, with {altered} altered");
    }
    remark += ".";
    let altered = found.altered.iter().map(|&(i, achieved)| (name(i).to_owned(), epsilons[i], achieved)).collect();
    Ok(Designed { altered, remarks: vec![remark], ..Designed::from(found.plan) })
}
