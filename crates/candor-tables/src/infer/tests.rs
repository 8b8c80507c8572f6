//! Tests of inferring schemas.

use super::*;

#[test]
fn known_categories_keep_their_order_and_those_that_do_not_occur() {
    let known = |categories: &[&str], ordinal| FixedCategories {
        name: "a".to_owned(),
        categories: categories.iter().map(|&label| label.to_owned()).collect(),
        ordinal,
    };
    let mut column = Column::default();
    ["b", "a", ""].iter().for_each(|value| column.see(value, &Missing::Usual, 10));
    let wishes = InferOptions::default().known(vec![known(&["c", "b", "a"], true)]);
    let attribute = column.describe("a", None, &wishes, &mut Vec::new(), true).unwrap();
    assert_eq!(attribute.categories(), ["c", "b", "a", ""]);
    assert_eq!(attribute.kind(), candor_base::schema::Kind::Ordinal);
    let wishes = InferOptions::default().known(vec![known(&["b", "c"], false)]);
    assert!(column.describe("a", None, &wishes, &mut Vec::new(), true).unwrap_err().contains("among its categories"));
}

#[test]
fn whole_numbers_written_with_a_point_are_whole_numbers() {
    let labels = |rows: &str| {
        let input = Input::from_bytes("t.csv", format!("a\n{rows}"), None).unwrap();
        infer(input, &InferOptions::default(), ProgressSink::none()).unwrap().schema.attributes()[0]
            .categories()
            .join(",")
    };
    assert_eq!(labels("2.0\n10.0\n\"\"\n1.0\n"), "1,2,10,");
    assert_eq!(labels("2.0\n1\n1.0\n2\n"), "1,2");
    assert_eq!(labels("2.0\n2.5\n3.0\n"), "2,2.5,3");
    assert_eq!(labels("2.0\nx\n"), "2.0,x");
}

#[test]
fn several_problems_are_solved_by_one_line() {
    let rows: String = (0..150).map(|n| format!("{n},{n}.5,name {n},{}\n", n % 2)).collect();
    let input = || Input::from_bytes("t.csv", format!("a,b,c,d\n{rows}"), None).unwrap();
    let error = infer(input(), &InferOptions::default(), ProgressSink::none()).unwrap_err().to_string();
    let last = error.lines().last().unwrap();
    let advice: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
    assert!(last.starts_with("  all at once: ") && advice.len() == 3, "{error}");
    let bins = |advice: &str, name: &str| {
        let edges = advice.strip_prefix(&format!("bins {name}=")).unwrap();
        (name.to_owned(), Bins::parse(edges).unwrap())
    };
    let wishes = InferOptions::default()
        .bins(vec![bins(advice[0], "a"), bins(advice[1], "b")])
        .drop(vec![advice[2].strip_prefix("drop ").unwrap().to_owned()]);
    assert_eq!(infer(input(), &wishes, ProgressSink::none()).unwrap().schema.attributes().len(), 3);
}

#[test]
fn what_other_programs_write_is_told() {
    let told = |values: &[&str]| {
        let mut column = Column::default();
        values.iter().for_each(|value| column.see(value, &Missing::Usual, 10));
        column.remarks()
    };
    assert!(told(&["1,5", "2,25", "3"])[0].contains("decimal commas"));
    assert!(told(&["TRUE", "FALSE"])[0].contains("these booleans are in capitals"));
    assert!(told(&["True", ""])[0].contains("these booleans are in capitals"));
    assert_eq!(told(&["TRUE", "FALSE", "maybe"]), Vec::<String>::new());
    assert_eq!(told(&["true", "false", "1.5", ""]), Vec::<String>::new());
}

#[test]
fn words_are_missing_or_categories() {
    let settled = |values: &[&str], words: &[&str], known: Option<&FixedCategories>| {
        let words =
            Some(words.iter().map(|&word| word.to_owned()).collect()).filter(|words: &Vec<_>| !words.is_empty());
        let words = Missing::named(words);
        let mut column = Column { numeric: true, ..Column::default() };
        values.iter().for_each(|value| column.see(value, &words, 10));
        let told = column.settle_words(&words, known, 10).join("; ");
        (column.missing, column.values.into_keys().collect::<Vec<_>>().join(","), column.numeric, told)
    };
    let (missing, values, _, told) = settled(&["yes", "NA", "no", "NA", ""], &[], None);
    assert_eq!((missing, values.as_str(), told.as_str()), (3, "no,yes", ""));
    // Among numbers, every default code is a missing value.
    let (missing, values, numeric, _) = settled(&["1", "n/a", "2.5", "NaN"], &[], None);
    assert_eq!((missing, values.as_str(), numeric), (2, "1,2.5", true));
    // Among text, only R's is, and not among similar codes, such as NA for Namibia.
    let (missing, values, numeric, told) = settled(&["no", "n/a"], &[], None);
    assert_eq!((missing, values.as_str(), numeric), (0, "n/a,no", false));
    assert!(told.ends_with("say `missing n/a`"), "{told}");
    assert_eq!(settled(&["DE", "NA", "FR"], &[], None).1, "DE,FR,NA");
    assert_eq!(settled(&["NA", "NA"], &[], None).1, "NA");
    // A given code is missing everywhere, even if it is a number; without codes, all values stay as they are.
    assert_eq!(settled(&["DE", "NA", "FR"], &["NA"], None).0, 1);
    assert_eq!(settled(&["1", "-9", "-9.0", "2"], &["-9"], None), (2, "1,2".to_owned(), true, String::new()));
    assert_eq!(settled(&["yes", "NA"], &[""], None).1, "NA,yes");
    // A fixed category is a category.
    let known = FixedCategories { name: "a".to_owned(), categories: vec!["NA".to_owned()], ordinal: false };
    assert_eq!(settled(&["yes", "NA"], &[], Some(&known)).1, "NA,yes");
    assert_eq!(named_again(&Missing::Named(vec!["NA".to_owned()])), None);
    assert!(named_again(&Missing::Named(vec!["NA".to_owned(), "-9".to_owned()])).unwrap().contains("`missing NA,-9`"));
}
