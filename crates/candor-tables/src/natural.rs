//! Natural order of categories: ranges such as `18-24` and `65+`, and scales such as `never` to `always`.

/// Common scales of surveys, from one end to the other, with synonyms grouped.
const SCALES: [&[&[&str]]; 10] = [
    &[
        &["strongly disagree", "disagree strongly", "completely disagree", "totally disagree"],
        &["disagree"],
        &["somewhat disagree", "slightly disagree", "tend to disagree"],
        &["neither agree nor disagree", "neither", "neutral", "undecided"],
        &["somewhat agree", "slightly agree", "tend to agree"],
        &["agree"],
        &["strongly agree", "agree strongly", "completely agree", "totally agree"],
    ],
    &[
        &["very dissatisfied", "very unsatisfied"],
        &["dissatisfied", "unsatisfied"],
        &["somewhat dissatisfied"],
        &["neither satisfied nor dissatisfied", "neutral"],
        &["somewhat satisfied"],
        &["satisfied"],
        &["very satisfied"],
    ],
    &[
        &["never", "not at all"],
        &["almost never", "hardly ever"],
        &["rarely", "seldom"],
        &["occasionally"],
        &["sometimes"],
        &["often", "frequently"],
        &["usually", "mostly"],
        &["very often"],
        &["almost always"],
        &["always"],
    ],
    &[
        &["very bad", "very poor"],
        &["bad", "poor"],
        &["fair", "average", "okay", "acceptable"],
        &["good"],
        &["very good"],
        &["excellent"],
    ],
    &[
        &["not at all", "none"],
        &["a little", "slightly", "not very"],
        &["somewhat", "moderately", "fairly"],
        &["quite"],
        &["very", "a lot"],
        &["extremely", "very much"],
    ],
    &[
        &["none"],
        &["very low", "very small"],
        &["low", "small"],
        &["medium", "moderate", "middle", "normal"],
        &["high", "large", "big"],
        &["very high", "very large"],
    ],
    &[&["very unlikely"], &["unlikely"], &["neutral", "neither"], &["likely"], &["very likely"]],
    &[&["not important", "unimportant"], &["somewhat important"], &["important"], &["very important"]],
    &[&["too little"], &["about right"], &["too much"]],
    &[&["daily", "every day"], &["weekly"], &["monthly"], &["yearly"], &["never"]],
];

/// Returns the categories in increasing order, if they are ranges of numbers or words of one scale.
///
/// Returns `None` if their order is unknown, or there are fewer than three.
pub fn ordered(categories: &[String]) -> Option<Vec<String>> {
    if categories.len() < 3 {
        return None;
    }
    let by = |place: &dyn Fn(&str) -> Option<f64>| {
        let places = categories.iter().map(|label| Some((place(label)?, label.clone())));
        let mut places: Vec<(f64, String)> = places.collect::<Option<_>>()?;
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let distinct = places.windows(2).all(|pair| pair[0].0 < pair[1].0);
        distinct.then(|| places.into_iter().map(|(_, label)| label).collect())
    };
    by(&start_of_range).or_else(|| {
        let on = |scale: &'static [&[&str]]| move |label: &str| place_on(scale, label);
        SCALES.iter().find_map(|scale| by(&on(scale)))
    })
}

/// Returns the position of a word on a scale; words may be joined by signs, or as in `StronglyAgree`.
fn place_on(scale: &[&[&str]], label: &str) -> Option<f64> {
    let mut word = String::new();
    for letter in label.trim().chars() {
        if letter.is_uppercase() && word.ends_with(char::is_lowercase) {
            word.push(' ');
        }
        word.push(letter);
    }
    let word = word.to_lowercase().replace(['_', '-', '.'], " ");
    scale.iter().position(|same| same.contains(&word.as_str())).map(|place| place as f64)
}

/// Returns the start of a range, or `None` if the label is not a range.
///
/// `18-24` and `18 to 24` start at 18, `65+` and `over 65` just above 65, and `<18` and `under 18` just below 18. A
/// label must start with its number, or with a word or sign for the side of it.
fn start_of_range(label: &str) -> Option<f64> {
    if let Some(start) = start_of_interval(label) {
        return Some(start);
    }
    let text = label.trim().to_lowercase();
    let below = ["<=", "<", "≤", "under", "below", "less than", "up to", "at most", "fewer than"];
    let above = [">=", ">", "≥", "over", "above", "more than", "at least", "from"];
    let begins = |signs: &[&str]| signs.iter().find_map(|sign| text.strip_prefix(sign)).map(str::to_owned);
    let (rest, shift) = match (begins(&below), begins(&above)) {
        (Some(rest), _) => (rest, -1.0),
        (_, Some(rest)) => (rest, 1.0),
        _ => (text.clone(), 0.0),
    };
    let (number, behind) = leading_number(rest.trim_start().trim_start_matches(['$', '€', '£', '[', '(']))?;
    let behind = behind.trim();
    let side = match shift {
        0.0 if behind == "+" || behind.ends_with("or more") || behind.ends_with("and over") => 0.5,
        0.0 if behind.ends_with("or less") || behind.ends_with("and under") => -0.5,
        0.0 if behind.is_empty() || leads_on(behind) => 0.0,
        0.0 => return None,
        shift => 0.5 * shift,
    };
    // Just next to the number, for numbers of any size.
    Some(number + side * 1e-9 * number.abs().max(1.0))
}

/// Returns the start of an interval in the notation of R and pandas: 0 for `(0,19]`, the minimum for `(-Inf,0]`.
fn start_of_interval(label: &str) -> Option<f64> {
    let inside = label.trim().strip_prefix(['(', '['])?.strip_suffix([')', ']'])?;
    let (low, high) = inside.split_once(',')?;
    let (low, high) = (low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?);
    (low < high).then_some(low.max(f64::MIN))
}

/// Returns whether a range continues after its first number, by a sign or by "to".
fn leads_on(behind: &str) -> bool {
    let sign = behind.strip_prefix("to ").or_else(|| behind.strip_prefix(['-', '–', '—', ',', ';', ':']));
    let rest = sign.map(|rest| rest.trim_start().trim_start_matches(['$', '€', '£', '<']));
    rest.is_some_and(|rest| leading_number(rest).is_some())
}

/// Parses the number at the start of a text, with or without thousands separators, and returns the rest.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let digits = text[..end].trim_end_matches(['.', ',']);
    let number = digits.replace(',', "").parse::<f64>().ok()?;
    let behind = &text[digits.len()..];
    let (thousand, behind) = match behind.strip_prefix('k') {
        Some(rest) => (1000.0, rest),
        None => (1.0, behind),
    };
    Some((number * thousand, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &[&str]) {
        let mut shuffled: Vec<String> = expected.iter().map(|&label| label.to_owned()).collect();
        shuffled.sort();
        assert_eq!(ordered(&shuffled).as_deref(), Some(&expected.map_owned()[..]), "{expected:?}");
    }

    trait Owned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl Owned for [&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|&label| label.to_owned()).collect()
        }
    }

    #[test]
    fn ranges_come_in_order() {
        check(&["5-9", "10-14", "15+"]);
        check(&["<18", "18-24", "25-64", "65+"]);
        check(&["under 5", "5 to 10", "10 to 50", "over 50"]);
        check(&["$0 - $9,999", "$10,000 - $19,999", "$20,000 or more"]);
        check(&["<5k", "5k-10k", ">10k"]);
        check(&["0-9", "10-19", "20-29", "30+"]);
        check(&["0", "1", "2", "3+"]);
        check(&["(0,19]", "(19,39]", "(39,59]", "(59,Inf]"]);
        check(&["[-inf, 5.0)", "[5.0, 10.0)", "[10.0, 100.0)"]);
    }

    #[test]
    fn scales_come_in_order() {
        check(&["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]);
        check(&["never", "sometimes", "often", "always"]);
        check(&["poor", "fair", "good", "very good", "excellent"]);
        check(&["Low", "Medium", "High"]);
        check(&["StronglyDisagree", "Disagree", "Agree", "StronglyAgree"]);
        check(&["too_little", "AboutRight", "Too Much"]);
    }

    #[test]
    fn what_has_no_order_has_none() {
        for labels in [
            &["north", "south", "west"][..],
            &["yes", "no"],
            &["4-cyl", "red", "x"],
            &["3 doors", "5 doors", "7 doors"],
        ] {
            assert_eq!(ordered(&labels.map_owned()), None, "{labels:?}");
        }
        // Two labels with the same position have no order.
        assert_eq!(ordered(&["low", "small", "high"].map_owned()), None);
    }
}
