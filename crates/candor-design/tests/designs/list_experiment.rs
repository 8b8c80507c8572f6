//! List experiments: the matrices, certain disclosure, and rejected requests.

use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Schema};
use candor_design::list_experiment::{ListRequest, MAX_CONTROL_ITEMS};
use candor_design::{Request, design};

fn attribute(name: &str, labels: &[&str]) -> Attribute {
    Attribute::new(name, labels.iter().copied()).unwrap()
}

fn drugs() -> Schema {
    let region = Attribute::new_public("region", vec!["a".to_owned(), "b".to_owned()]).unwrap();
    Schema::new(vec![attribute("drugs", &["no", "yes"]), region]).unwrap()
}

/// Every count follows from the true answer and the group: `k`, or `k + z`.
#[test]
fn counts_follow_from_the_truth_and_the_group() {
    for items in 1..=MAX_CONTROL_ITEMS {
        let request: Request = ListRequest::new(items).group_sizes([300, 100]).into();
        let made = design(&drugs(), &request).unwrap();
        let [block] = made.plan.blocks() else { panic!("one block") };
        assert_eq!(made.plan.schema().name(block.attributes()[1]), "drugs_controls");
        assert_eq!(block.channels().iter().map(|(weight, _)| *weight).collect::<Vec<_>>(), [300, 100]);
        for (treated, (_, channel)) in block.channels().iter().enumerate() {
            let Channel::Matrix(matrix) = channel else { panic!("a matrix") };
            assert_eq!(matrix.labels().len(), items + 2);
            for (sensitive, controls) in (0..2).flat_map(|z| (0..=items).map(move |k| (z, k))) {
                let input = matrix.shape().cell(&[sensitive, controls]);
                for answer in 0..items + 2 {
                    let counted = answer == controls + treated * sensitive;
                    assert_eq!(matrix.probability(answer, input), f64::from(u8::from(counted)));
                }
            }
        }
        // The plan is unchanged after a round trip, and has no finite epsilon.
        assert_eq!(Plan::from_json(&made.plan.to_json()).unwrap(), made.plan);
        assert_eq!(made.plan.guarantee().epsilon().finite(), None);
        let revealed = format!("a count of 0 reveals \"no\" of \"drugs\" and a count of {} reveals \"yes\"", items + 1);
        assert!(made.notes[0].contains(&revealed), "{:?}", made.notes);
    }
}

#[test]
fn list_experiment_rejects_other_questions() {
    let refused = |schema: &Schema, request: ListRequest| design(schema, &request.into()).unwrap_err().to_string();
    for items in [0, MAX_CONTROL_ITEMS + 1, usize::MAX] {
        assert!(refused(&drugs(), ListRequest::new(items)).contains("must be 1 to 20"));
    }
    for sizes in [vec![], vec![1], vec![0, 1], vec![1, 0], vec![1, 2, 3]] {
        let request = ListRequest { control_items: 3, group_sizes: Some(sizes) };
        assert!(refused(&drugs(), request).contains("two numbers above 0"));
    }
    let three = Schema::with_sizes(&[3]).unwrap();
    assert!(refused(&three, ListRequest::new(3)).contains("has 3 categories"));
    let two = Schema::with_sizes(&[2, 2]).unwrap();
    assert!(refused(&two, ListRequest::new(3)).contains("candor combine"));
    let taken = Schema::new(vec![
        attribute("drugs", &["no", "yes"]),
        Attribute::new_public("drugs_controls", vec!["a".to_owned()]).unwrap(),
    ]);
    assert!(refused(&taken.unwrap(), ListRequest::new(3)).contains("drugs_controls"));
}
