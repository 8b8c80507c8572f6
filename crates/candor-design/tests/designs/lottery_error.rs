//! The analysis predicts the same error of a lottery with strips as its channels imply.

use crate::informations::by_components;
use candor_analysis::table_list::TableList;
use candor_base::channel::Channel;
use candor_base::schema::Schema;
use candor_design::bound::{Costs, squared_error};
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::lottery;

#[test]
fn predicted_errors_are_those_of_the_channels() {
    for (sizes, text) in [
        (&[3, 4, 5][..], "pairs"),
        (&[4, 5, 6], "a1,a2:2;a3"),
        (&[2, 3, 4], "joint"),
        (&[9, 16, 7, 15, 6, 5, 2, 2], "pairs"),
        (&[30], "marginals"),
    ] {
        let schema = Schema::with_sizes(sizes).unwrap();
        let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
        let costs = Costs::of_tables(&schema, &tables, &weights).unwrap();
        for epsilon in [1.0, 4.0] {
            let plan = lottery(&schema, epsilon, &tables, &weights, SearchLimits::to(1e-10)).unwrap().plan;
            let strips = plan.blocks()[0].channels().iter().any(|(_, channel)| matches!(channel, Channel::Strip(_)));
            assert!(strips || epsilon > 2.0 || sizes.len() == 1, "{sizes:?} {epsilon} has no strips");
            let predicted = squared_error(&plan, &tables, &weights).unwrap();
            let told = by_components(&plan, &costs);
            assert!((predicted / told - 1.0).abs() < 1e-9, "{sizes:?} {text} {epsilon}: {predicted} for {told}");
        }
    }
}
