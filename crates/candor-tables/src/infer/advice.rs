//! Advice for the next attempt.

use candor_base::schema::Attribute;

use crate::bins::Bins;
use crate::missing::{DEFAULT_MISSING, Missing};

/// Combines the first suggestions of several problems in one line to copy; `None` if one has none.
pub(super) fn together(problems: &[String]) -> Option<String> {
    let first = |problem: &String| {
        let advice = problem.split('`').nth(1)?;
        (advice.starts_with("bins ") || advice.starts_with("drop ")).then(|| format!("`{advice}`"))
    };
    let all: Vec<String> = problems.iter().map(first).collect::<Option<_>>()?;
    (all.len() > 1).then(|| format!("  all at once: {}", all.join(" ")))
}

/// Returns the note that unusual codes of missing values must be given again when the file is read.
pub(super) fn named_again(words: &Missing) -> Option<String> {
    let Missing::Named(words) = words else { return None };
    let unusual = words.iter().any(|word| !DEFAULT_MISSING.contains(&word.as_str()));
    unusual.then(|| {
        let words = words.join(",");
        format!(
            "the schema does not contain the words for missing values: specify `missing {words}` again whenever this \
             file is read"
        )
    })
}

/// Returns a note if all values are in one bin, because the edges may be in another unit.
pub(super) fn in_one_bin(attribute: &Attribute, edges: &[f64], numbers: &[f64]) -> Option<String> {
    let bin = |number: f64| edges.partition_point(|edge| *edge <= number);
    let first = bin(*numbers.first()?);
    let label = attribute.categories().get(first)?;
    (!edges.is_empty() && numbers.iter().all(|&number| bin(number) == first)).then(|| {
        let name = attribute.name();
        format!("column \"{name}\": every value is in the bin \"{label}\"; check the edges, and the unit of the column")
    })
}

/// Returns a note about the integers that are missing between those that occur, if they are few.
pub(super) fn unused_numbers<'a>(name: &str, values: impl ExactSizeIterator<Item = &'a String>) -> Option<String> {
    let given = values.len();
    let numbers: Vec<i64> = values.map(|value| value.trim().parse().ok()).collect::<Option<_>>()?;
    let (least, most) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let unused = most.checked_sub(least)?.checked_add(1)?.checked_sub(given as i64)?;
    (1..=given as i64 / 3).contains(&unused).then(|| {
        let unused = (least..=most).filter(|number| !numbers.contains(number)).map(|number| number.to_string());
        let unused = unused.collect::<Vec<_>>().join(" or ");
        format!("column \"{name}\": nobody gave {unused}; if that can be an answer, add it to the categories")
    })
}

/// Describes what data-dependent bin edges reveal about a column; `None` for specified edges.
pub(super) fn published(name: &str, bins: &Bins) -> Option<String> {
    let told = match bins {
        Bins::Edges(_) => return None,
        Bins::Quantile(_) => "publish its quantiles",
        Bins::Width(_) => "publish its least and greatest value, to within a bin",
    };
    Some(format!(
        "Leaks data: the edges of \"{name}\" were computed from true records, and {told}; give edges of your own with \
         `bins {name}=edges:..`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_one_bin_are_told() {
        let edges = [18.0, 40.0];
        let age = Attribute::binned("age", &edges, Vec::new()).unwrap();
        let told = in_one_bin(&age, &edges, &[2.9, 3.4, 4.1]).unwrap();
        assert!(told.contains("every value is in the bin \"below 18\""), "{told}");
        assert!(in_one_bin(&age, &edges, &[40.0, 91.0]).unwrap().contains("\"40 or more\""));
        assert_eq!(in_one_bin(&age, &edges, &[2.9, 18.0]), None);
        assert_eq!(in_one_bin(&age, &edges, &[]), None);
    }

    #[test]
    fn numbers_that_nobody_gave_are_told_if_they_are_few() {
        let told = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            unused_numbers("n", values.iter())
        };
        let nobody = "column \"n\": nobody gave 4; if that can be an answer, add it to the categories";
        assert_eq!(told(&["0", "1", "2", "3", "5"]).as_deref(), Some(nobody));
        assert!(told(&["0", "1", "2", "4", "6", "7"]).unwrap().contains("nobody gave 3 or 5;"));
        for values in
            [&["0", "1"][..], &["2004", "2006", "2008"], &["0", "1", "x"], &["1", "5"], &["1.5", "2", "4"], &[]]
        {
            assert_eq!(told(values), None, "{values:?}");
        }
        let far = [i64::MIN.to_string(), i64::MAX.to_string()];
        assert_eq!(unused_numbers("n", far.iter()), None);
    }
}
