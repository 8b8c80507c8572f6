//! Tests of verdicts.

use super::*;
use serde_json::json;

fn table(name: &str, standard_error: Option<f64>) -> Expectation {
    let mut expected = Expectation::default();
    expected.attributes = name.split(',').map(str::to_owned).collect();
    expected.cells = 2;
    expected.identifiable = standard_error.is_some();
    expected.standard_error = standard_error;
    expected
}

/// Returns a table with this margin of error in points.
fn of_margin(points: f64) -> Expectation {
    table("a", Some(points / 196.0))
}

#[test]
fn margins_decide() {
    let code = |margins: &[f64]| precision(&margins.iter().map(|&m| of_margin(m)).collect::<Vec<_>>(), 5000.0).code;
    assert_eq!(code(&[1.0, 4.9]), Code::Ok);
    assert_eq!(code(&[1.0, 2.0, 14.0]), Code::Ok);
    assert_eq!(code(&[1.0, 2.0, 16.0]), Code::Imprecise, "one table beyond 15 points");
    assert_eq!(code(&[10.0]), Code::Imprecise);
    assert_eq!(code(&[400.0]), Code::Imprecise);
    let said = precision(&[of_margin(10.0)], 5000.0).text;
    assert!(said.starts_with("Too imprecise for most uses: ±10 points with 5,000 respondents."), "{said}");
    // Four times as many people halve the margin of error.
    assert!(said.contains("about 20,000 respondents for ±5 points"), "{said}");
    let said = precision(&[of_margin(400.0)], 100.0).text;
    assert!(said.starts_with("Too imprecise: ±100 or more points with 100 respondents."), "{said}");
    let said = precision(&[of_margin(3.0), table("b,c", None)], 100.0);
    assert_eq!(said.code, Code::NotIdentifiable);
    let text = "Cannot be estimated: this plan does not collect the table of b and c. The others: precise enough: ±3 \
                points or better with 100 respondents.";
    assert_eq!(said.text, text);
}

#[test]
fn tables_are_named_in_words() {
    let margins = [("a", 2.0), ("b", 3.0), ("c,d,e", 14.0)].map(|(name, margin)| table(name, Some(margin / 196.0)));
    let said = precision(&margins, 5000.0).text;
    assert!(said.contains("roughest is the table of c, d and e, ±14 points."), "{said}");
    let said = precision(&[table("a", Some(6.0 / 196.0)), table("b,c", Some(21.0 / 196.0))], 5000.0).text;
    assert!(said.contains("±21 points with 5,000 respondents"), "{said}");
    let margins = [("a", 6.0), ("d", 7.0), ("b,c", 21.0)].map(|(name, margin)| table(name, Some(margin / 196.0)));
    let said = precision(&margins, 5000.0).text;
    assert!(said.contains("±7 points with 5,000 respondents, and ±21 for the table of b and c. It ranks"), "{said}");
    // The remedy is about the roughest table, which the sentence therefore names.
    let margins = [("a", 16.0), ("d", 17.0), ("b,c", 40.0)].map(|(name, margin)| table(name, Some(margin / 196.0)));
    let said = precision(&margins, 5000.0).text;
    assert!(said.starts_with("Too imprecise: ±17 points with 5,000 respondents, and ±40 for the table"), "{said}");
    assert!(said.contains("about 320,000 respondents for ±5 points"), "{said}");
}

#[test]
fn only_small_margins_are_precise_enough() {
    let said = |largest| publishable(10, 0, largest, &[], false).text;
    assert_eq!(said(5.0), "Precise enough: ±5 points or better.");
    assert_eq!(said(11.2), "Rough: up to ±12 points; state the intervals of what you publish.");
}

#[test]
fn shares_within_groups_decide() {
    let mut crossed = of_margin(4.0);
    crossed.conditional_error = Some(40.0 / 196.0);
    assert!(precision(&[crossed], 5000.0).text.starts_with("Too imprecise: ±40 points"));
}

#[test]
fn codes_are_written_as_they_are_called() {
    for code in
        [Code::Ok, Code::NotIdentifiable, Code::Inconclusive, Code::Unbounded, Code::AlreadyReleased, Code::WrongPlan]
    {
        assert_eq!(json!(code), json!(code.name()));
    }
    let said = serde_json::to_value(compliance(0.2, 0.05, Some((0.1, 0.456)))).unwrap();
    let text = "No noncompliance detected; power to detect 10% was 45%.";
    assert_eq!(said, json!({"verdict": "inconclusive", "verdict_text": text}));
    assert_eq!(compliance(1e-9, 0.05, None).text, "Noncompliance detected (p < 0.001).");
}

#[test]
fn shares_are_judged_as_they_may_be_published() {
    let code = |estimate, low, high| share(Some(estimate), Some((low, high)), None, false).code;
    assert_eq!(code(0.4, 0.37, 0.43), Code::Ok);
    assert_eq!(code(0.4, 0.3, 0.5), Code::Ok);
    assert_eq!(code(0.01, 0.0, 0.03), Code::Ok);
    assert_eq!(code(0.4, 0.1, 0.7), Code::Imprecise);
    assert_eq!(code(-0.02, 0.0, 0.03), Code::OutOfRange);
    assert_eq!(code(f64::NAN, f64::NAN, f64::NAN), Code::Imprecise);
    assert_eq!(share(None, None, Some("it is not collected"), false).text, "Cannot be estimated: it is not collected.");
    assert_eq!(share(Some(0.4), Some((0.39, 0.41)), None, true).code, Code::Implausible);
}

#[test]
fn gaps_files_and_seeds_have_codes() {
    assert_eq!([1.15, 1.16].map(|times| optimality(times).code), [Code::NearOptimal, Code::FarFromOptimal]);
    assert_eq!(leaks(&[]), None);
    let said = leaks(&["age".to_owned(), "income".to_owned()]).unwrap();
    assert!(said.text.starts_with("Leaks data: the edges of age and 1 more were computed"), "{}", said.text);
    assert_eq!([0, 1, 2].map(|n| fits(10, n).code), [Code::Meets, Code::Violates, Code::Violates]);
    assert_eq!(randomized(Epsilon::ZERO, Some(1)).code, Code::Simulation);
    assert_eq!(randomized(Epsilon::ZERO, None).code, Code::Meets);
}

#[test]
fn margins_are_rounded_up() {
    assert_eq!([0.01, 0.31, 1.0, 3.01, 99.5, 812.0].map(points), ["0.1", "0.4", "1", "4", "100", "100 or more"]);
    assert_eq!([1.0, 47.0, 1234.0, 20_000.0].map(two_digits), [1.0, 47.0, 1300.0, 20_000.0]);
}
