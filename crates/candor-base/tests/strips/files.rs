//! Plans with strips as files: read back to the letter in version 2; each mistake is rejected for its own reason.

use candor_base::channel::{Axis, ChannelError, Matrix, Pattern};
use candor_base::plan::{Block, Content, MAX_COST, Plan, PlanError};
use candor_base::schema::{Attribute, Schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{plan, sides, strip, weighted};

fn pair() -> Plan {
    plan(&[3, 4], vec![Block::new(vec![0, 1], strip(&[0, 1], &[3, 4], 3, [7, 5]))])
}

/// Returns the pair's plan with its strip changed.
fn edited(change: impl FnOnce(&mut Value)) -> Result<Plan, PlanError> {
    let mut file: Value = serde_json::from_str(&pair().to_json()).unwrap();
    change(&mut file["blocks"][0]["lottery"][0]["channel"]["strip"]);
    Plan::from_json(&file.to_string())
}

#[test]
fn a_strip_is_written_as_documented() {
    let file: Value = serde_json::from_str(&pair().to_json()).unwrap();
    assert_eq!(file["version"], 2);
    let expected = json!({"strip": {"attributes": [0, 1], "categories": [3, 4], "cells": 3, "hit": 7, "all": 5}});
    assert_eq!(file["blocks"][0]["lottery"][0]["channel"], expected);
    let text = plan(&[9], vec![Block::new(vec![0], strip(&[0], &[9], 4, [u64::MAX, 1]))]).to_json();
    assert!(text.contains("\"hit\": \"18446744073709551615\","), "{text}");
}

#[test]
fn the_fingerprint_is_pinned() {
    // Other implementations must arrive at the same fingerprint.
    assert_eq!(
        pair().fingerprint().as_str(),
        "sha256:c195828f03de8e8d6e4c7efdbc8b7808edc371e7ba9bfc82d778a96bc98a9701"
    );
}

#[test]
fn the_version_must_be_the_one_that_can_say_it() {
    let text = pair().to_json();
    let older = Plan::from_json(&text.replace("\"version\": 2", "\"version\": 1")).unwrap_err();
    assert_eq!(older, PlanError::NeedlessVersion { stated: 1, needed: 2 });
    assert!(older.to_string().contains("it holds what that version cannot say"));
    let newer = Plan::from_json(&text.replace("\"version\": 2", "\"version\": 3")).unwrap_err();
    assert_eq!(newer, PlanError::Version(3));
    // A prior next to a strip: both require version 2, and the fingerprint covers both.
    let labels = ["o1", "o2"].map(String::from).to_vec();
    let matrix = Matrix::new(vec![2], labels, 2, vec![vec![3, 1], vec![1, 3]]).unwrap();
    let blocks = vec![Block::new(vec![0], matrix), Block::new(vec![1], strip(&[0], &[3], 1, [1, 1]))];
    let plain = plan(&[2, 3], blocks);
    let with_prior = plain.clone().with_prior(0, vec![0.75, 0.25]).unwrap();
    assert!(plain.version() == 2 && with_prior.version() == 2 && plain != with_prior);
    assert_eq!(Plan::from_json(&with_prior.to_json()).unwrap().to_json(), with_prior.to_json());
}

#[test]
fn each_wrong_strip_has_its_own_message() {
    type Change = fn(&mut Value);
    let wrong: [(Change, &str); 17] = [
        (|strip| strip["attributes"] = json!([1, 0]), "positions of its attributes in increasing order"),
        (|strip| strip["attributes"] = json!([0, 0]), "positions of its attributes in increasing order"),
        (|strip| strip["attributes"] = json!([0]), "and one number of categories for each"),
        (|strip| strip["attributes"] = json!([0, 2]), "has 2 attributes, but a channel over 3"),
        (|strip| *strip = json!({"attributes": [], "categories": [], "cells": 1, "hit": 1, "all": 1}), "at least one"),
        (|strip| strip["categories"] = json!([3, 5]), "\"a2\" as 5 categories, but the schema lists 4"),
        (|strip| strip["categories"] = json!([4, 3]), "\"a1\" as 4 categories, but the schema lists 3"),
        (|strip| strip["categories"] = json!([3, 1]), "attribute 1 has 1 categories"),
        (|strip| strip["categories"] = json!([300, 300]), "at most 65536 cells, not 90000"),
        (|strip| strip["cells"] = json!(0), "a strip has 0 of the 12 cells"),
        (|strip| strip["cells"] = json!(12), "a strip has 12 of the 12 cells"),
        (|strip| strip["hit"] = json!(0), "part 0 has weight 0"),
        (|strip| strip["all"] = json!(0), "part 1 has weight 0"),
        (|strip| strip["all"] = json!("18446744073709551615"), "sum to more than 2^64"),
        (|strip| strip["hit"] = json!(1.5), "a whole number from 0 to 2^64 - 1"),
        (|strip| strip["colour"] = json!(1), "unknown field `colour`"),
        (|strip| strip["cells"] = json!(4), "does not match its fingerprint"),
    ];
    for (change, expected) in wrong {
        let message = edited(change).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let missing = edited(|strip| drop(strip.as_object_mut().unwrap().remove("hit"))).unwrap_err();
    assert!(missing.to_string().contains("missing field `hit`"), "{missing}");
    assert!(edited(|_| {}).is_ok());
}

#[test]
fn a_false_guarantee_is_refused() {
    let text = pair().to_json();
    // ln(1 + (7/5)(12/3)).
    let message = Plan::from_json(&text.replacen("1.887069649033", "0.5", 1)).unwrap_err().to_string();
    assert!(message.contains("states the epsilon of the record as 0.5"), "{message}");
}

#[test]
fn strips_are_not_mixed_with_matrices() {
    let labels: Vec<String> = (0..6).map(|z| z.to_string()).collect();
    let columns = (0..6).map(|x| (0..6).map(|z| if x == z { 11 } else { 1 }).collect()).collect();
    let matrix = Matrix::new(vec![2, 3], labels, 4, columns).unwrap();
    let strip = strip(&[0, 1], &[2, 3], 2, [1, 1]);
    for lottery in [
        vec![weighted(1, matrix.clone()), weighted(1, strip.clone())],
        vec![weighted(1, strip.clone()), weighted(1, matrix.clone())],
    ] {
        let made = Plan::new(Schema::with_sizes(&[2, 3]).unwrap(), vec![Block::lottery(vec![0, 1], lottery)]);
        assert_eq!(made.unwrap_err(), PlanError::MixedLottery { block: 0 });
    }
}

fn labelled(attributes: &[(&str, &[&str])]) -> Schema {
    let attribute = |(name, labels): &(&str, &[&str])| Attribute::new(*name, labels.iter().copied()).unwrap();
    Schema::new(attributes.iter().map(attribute).collect()).unwrap()
}

/// Returns a plan of one strip over all attributes of a schema.
fn over(schema: Schema) -> Result<Plan, PlanError> {
    let (sizes, places): (Vec<usize>, Vec<usize>) = (schema.sizes(), (0..schema.sizes().len()).collect());
    Plan::new(schema, vec![Block::new(places.clone(), strip(&places, &sizes, 1, [1, 1]))])
}

#[test]
fn cells_can_be_written_and_told_apart() {
    let set_label =
        |attribute: &str, label: &str| PlanError::SetLabel { attribute: attribute.into(), label: label.into() };
    let refused = |attributes: &[(&str, &[&str])]| over(labelled(attributes)).unwrap_err();
    assert_eq!(refused(&[("x", &["a", "b"]), ("y", &["c;d", "e"])]), set_label("x*y", "a*c;d"));
    assert_eq!(refused(&[("x", &["a", ""])]), set_label("x", ""));
    let error = refused(&[("x", &["a", "a*b"]), ("y", &["c", "b*c"])]);
    assert!(matches!(error, PlanError::InvalidValue { block: 0, .. }));
    assert!(error.to_string().contains("the table of x and y read \"a*b*c\""), "{error}");
    // Unambiguous: labels of one attribute may differ in their number of `*`, if those of the crossed ones do not.
    for attributes in [
        vec![("x", &["a", ""][..]), ("y", &["c", ""][..])],
        vec![("x", &["a", "a*b", "*"][..]), ("y", &["c", "d"][..])],
        vec![("x", &["a*b", "a*c"][..]), ("y", &["c", "d*", "**"][..]), ("z", &["b*c", "*"][..])],
    ] {
        let plan = over(labelled(&attributes)).unwrap();
        let strip = plan.blocks()[0].strips().next().unwrap();
        let written = plan.cell_labels(0, strip);
        assert_eq!(written.len(), strip.table().cells());
        for (cell, written) in written.iter().enumerate() {
            let codes = strip.table().codes(cell);
            let labels: Vec<&str> = codes.iter().zip(&attributes).map(|(&code, (_, labels))| labels[code]).collect();
            assert_eq!(*written, labels.join("*"));
        }
        let mut different = written.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), written.len());
    }
    // Labels of a kilobyte in a table of 65,536 cells: a file of 33 kB that would take a gigabyte.
    let long = ["a", "b"].map(|letter| letter.repeat(1_000));
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let names: Vec<String> = (0..16).map(|i| format!("x{i}")).collect();
    let wide: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &long[..])).collect();
    let error = refused(&wide).to_string();
    assert!(error.contains("take 1049624576 bytes to write, more than 67108864; use shorter categories"), "{error}");
    // Only attributes that share a table matter.
    let schema = labelled(&[("x", &["a", "a*b"]), ("y", &["c", "b*c"])]);
    let lottery = vec![weighted(1, strip(&[0], &[2], 1, [1, 1])), weighted(1, strip(&[1], &[2], 1, [1, 1]))];
    assert!(Plan::new(schema, vec![Block::lottery(vec![0, 1], lottery)]).is_ok());
    // An attribute that no strip asks about may have any label.
    let schema = labelled(&[("x", &["a", "b"]), ("y", &["c;d", ""])]);
    assert!(Plan::new(schema, vec![Block::new(vec![0, 1], strip(&[0], &[2], 1, [1, 1]))]).is_ok());
}

#[test]
fn columns_of_responses() {
    let pattern =
        |sizes: &[usize]| Pattern::k_ary(sizes.iter().map(|&size| Axis::single(size)).collect(), 1.0).unwrap();
    let blocks = vec![
        Block::new(vec![3], strip(&[0], &[5], 2, [1, 1])),
        Block::lottery(
            vec![2, 0],
            vec![weighted(1, pattern(&[4, 2])), weighted(1, strip(&[0, 1], &[4, 2], 2, [1, 1]))],
        ),
        Block::new(vec![1], pattern(&[3])),
        Block::lottery(vec![4], (1..3).map(|m| weighted(1, strip(&[0], &[6], m, [1, 1]))).collect()),
    ];
    let plan = plan(&[2, 3, 4, 5, 6], blocks);
    let names: Vec<&str> = plan.columns().iter().map(|column| column.name.as_str()).collect();
    let expected = ["a1", "a2", "a3", "candor_tag", "candor_tag_2", "candor_cells", "candor_cells_2", "candor_cells_3"];
    assert_eq!(names, expected);
    let cells = plan.columns().iter().filter_map(|column| match column.content {
        Content::Cells { block } => Some(block),
        _ => None,
    });
    assert_eq!(cells.collect::<Vec<_>>(), [0, 1, 3]);
}

/// Returns a plan file that declares this many strips of the largest tables, which were never made.
fn declared(strips: usize, sizes: &[usize]) -> String {
    let mut file: Value = serde_json::from_str(
        &plan(&[2; 16], vec![Block::new((0..16).collect(), Pattern::k_ary(vec![Axis::single(2); 16], 1.0).unwrap())])
            .to_json(),
    )
    .unwrap();
    file["version"] = json!(2);
    let places: Vec<usize> = (0..sizes.len()).collect();
    let strip = json!({"attributes": places, "categories": sizes, "cells": 9, "hit": 1, "all": 1});
    file["blocks"][0]["lottery"] = vec![json!({"weight": 1, "channel": {"strip": strip}}); strips].into();
    file.to_string()
}

#[test]
fn many_huge_strips_are_refused_before_any_work() {
    for (strips, sizes) in [(2_000, vec![256, 256]), (400, vec![2; 16]), (2_000, vec![65_535, 65_535])] {
        let text = declared(strips, &sizes);
        let Err(PlanError::TooCostly { cost, limit }) = Plan::from_json(&text) else { panic!("{strips} {sizes:?}") };
        assert!(cost > MAX_COST && limit == MAX_COST);
    }
    // A few strips are read until they do not fit the schema.
    let read = Plan::from_json(&declared(3, &[256, 256])).unwrap_err();
    assert!(matches!(read, PlanError::CategoryMismatch { .. }), "{read}");
    let read = Plan::from_json(&declared(3, &[65_535, 65_535])).unwrap_err();
    assert_eq!(read, PlanError::Channel { block: 0, error: ChannelError::TableSize(65_535 * 65_535) });
    let everything = Plan::from_json(&declared(1, &[usize::MAX; 3])).unwrap_err();
    assert!(matches!(everything, PlanError::Channel { error: ChannelError::Categories { .. }, .. }), "{everything}");
}

proptest! {
    #[test]
    fn plans_are_read_back_to_the_letter(
        sizes in prop::collection::vec(2usize..9, 1..5),
        tickets in prop::collection::vec((1u32..16, 0.0f64..1.0, 1u64..1 << 63, 1u64..1 << 63, 1u64..1 << 60), 1..5),
    ) {
        let strips = tickets.into_iter().map(|(mask, share, hit, all, weight)| {
            let places: Vec<usize> = (0..sizes.len()).filter(|i| mask >> i & 1 == 1).collect();
            let places = if places.is_empty() { vec![0] } else { places };
            let of: Vec<usize> = places.iter().map(|&place| sizes[place]).collect();
            let cells = 1 + (share * (of.iter().product::<usize>() - 1) as f64) as usize;
            let cells = cells.min(of.iter().product::<usize>() - 1);
            // Every other one is a box.
            let chosen: Vec<usize> = of.iter().map(|&size| 1 + (share * (size - 2) as f64) as usize).collect();
            match weight % 2 {
                0 => weighted(weight, strip(&places, &of, sides(&chosen), [hit, all])),
                _ => weighted(weight, strip(&places, &of, cells, [hit, all])),
            }
        });
        let plan = plan(&sizes, vec![Block::lottery((0..sizes.len()).collect(), strips.collect())]);
        let read = Plan::from_json(&plan.to_json()).unwrap();
        prop_assert_eq!(read.to_json(), plan.to_json());
        prop_assert_eq!(read.blocks(), plan.blocks());
    }
}
