//! Explains to respondents, in one sentence, what each method does to their answers.

use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_design::Request;
use candor_design::compare::CandidatePlan;

use crate::format::{capital, lower_first, plural};
use crate::guarantee::respondent_sentence;

/// Describes what happens to a respondent's answers, in a few words.
pub fn what_happens(made: &CandidatePlan) -> String {
    match &made.request {
        Request::Independent(_) => "each answer is kept or replaced by chance, on its own".to_owned(),
        Request::Minimax(_) => {
            "each question is answered with a list of answers that chance draws, on its own".to_owned()
        }
        Request::Joint(_) => "all answers are kept, or all are replaced at once".to_owned(),
        Request::Clusters(_) => "the answers of a cluster are all kept, or all replaced at once".to_owned(),
        Request::Sampling(asked) if asked.tables.as_deref() == Some("marginals") => {
            "chance picks the one question whose answer may show".to_owned()
        }
        Request::Sampling(_) => "chance picks the two questions whose answers may show".to_owned(),
        Request::Workload(_) => {
            let ways = made.plan.blocks().iter().map(|block| block.channels().len()).max().unwrap_or(1);
            match ways {
                1 => "chance changes the answers, in a public way".to_owned(),
                _ => format!("chance draws one of {} of changing the answers", plural(ways, "public way")),
            }
        }
        Request::LDiversity(_) => {
            let least = answer_sizes(&made.plan).min().unwrap_or(1);
            format!(
                "each question is answered with a list that has yours on it, so that at least {least} answers fit \
                 equally well"
            )
        }
        _ => "one draw decides which answers are kept".to_owned(),
    }
}

/// Describes what happens to a respondent's answers, in one sentence.
pub fn told(made: &CandidatePlan) -> String {
    let protection = lower_first(&respondent_sentence(made.plan.guarantee().conditional()));
    format!("{}; {protection}", capital(&what_happens(made)))
}

/// Returns the number of reported categories of each attribute.
fn answer_sizes(plan: &Plan) -> impl Iterator<Item = usize> {
    plan.blocks().iter().flat_map(|block| match &block.channels()[0].1 {
        Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| axis.answer).collect(),
        Channel::Matrix(_) => vec![1],
        Channel::Strip(strip) => vec![strip.members().len()],
    })
}
