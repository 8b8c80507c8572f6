//! Cross-classifies several attributes, so that a single-attribute method protects them together.

use candor_base::schema::{Attribute, CROSS, Schema, parts as columns_of};

use crate::DesignError;

/// Replaces the named attributes by their cross-classification `a*b`, at the position of the first.
///
/// Its categories are all combinations `x*y`, with the first attribute varying slowest. Data files need no such column;
/// it is derived from its parts.
///
/// # Errors
/// Returns [`DesignError::Schema`] if a name is unknown. Returns [`DesignError::Cross`] if fewer than two attributes
/// are named, if one is repeated, public, binned or part of a condition, or if the combinations are too many or not
/// distinct.
pub fn crossed(schema: &Schema, names: &[String]) -> Result<Schema, DesignError> {
    let refuse = |why: String| Err(DesignError::Cross(why));
    let positions = names.iter().map(|name| schema.position(name)).collect::<Result<Vec<usize>, _>>()?;
    if positions.len() < 2 {
        return refuse("a cross-classification is of two attributes or more, such as \"a,b\"".to_owned());
    }
    if let Some(twice) = (1..positions.len()).find(|&i| positions[..i].contains(&positions[i])) {
        return refuse(format!("\"{}\" is named twice", names[twice]));
    }
    let parts: Vec<&Attribute> = positions.iter().map(|&position| &schema.attributes()[position]).collect();
    if let Some(public) = parts.iter().find(|part| part.is_public()) {
        return refuse(format!("\"{}\" is public, and not randomized", public.name()));
    }
    if let Some(binned) = parts.iter().find(|part| part.numeric_len() > 0) {
        return refuse(format!(
            "\"{}\" has bins of numbers; give its bins as labels in the table first",
            binned.name()
        ));
    }
    if let Some(asked) = schema.attributes().iter().find_map(|attribute| {
        let condition = attribute.asked_if()?;
        names.iter().find(|name| **name == attribute.name() || **name == condition.attribute)
    }) {
        return refuse(format!(
            "skip logic involves \"{asked}\"; combinations that it makes impossible are known without crossing"
        ));
    }
    let combinations = parts.iter().map(|part| part.categories().len()).fold(1usize, usize::saturating_mul);
    if combinations > candor_base::schema::MAX_CATEGORIES {
        return refuse(format!(
            "it would have {combinations} categories; at most {} can be",
            candor_base::schema::MAX_CATEGORIES
        ));
    }
    let categories = parts.iter().skip(1).fold(parts[0].categories().to_vec(), |labels, part| {
        labels.iter().flat_map(|label| part.categories().iter().map(move |c| format!("{label}{CROSS}{c}"))).collect()
    });
    let name = parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(&CROSS.to_string());
    let columns: Vec<&str> = parts.iter().flat_map(|part| columns_of(part.name())).collect();
    if columns_of(&name) != columns {
        return refuse(format!(
            "\"{name}\" could not be split into its columns; rename what ends or begins \
             with \"{CROSS}\""
        ));
    }
    let mut attributes = Vec::new();
    for (position, attribute) in schema.attributes().iter().enumerate() {
        match positions.iter().min() == Some(&position) {
            true => attributes.push(Attribute::new(name.clone(), categories.clone())?),
            false if positions.contains(&position) => {}
            false => attributes.push(attribute.clone()),
        }
    }
    Ok(Schema::new(attributes)?)
}

/// Crosses every randomized attribute with one outcome, which then has no attribute of its own: `SNP*disease` for each
/// SNP (Yamamoto and Shibuya 2024, section V-B). Public attributes stay.
///
/// # Errors
/// Returns an error if the outcome is unknown or public, if there is no other attribute, or as [`crossed`].
pub fn crossed_with(schema: &Schema, outcome: &str) -> Result<Schema, DesignError> {
    let with = &schema.attributes()[schema.position(outcome)?];
    let mut attributes = Vec::new();
    for attribute in schema.attributes().iter().filter(|attribute| attribute.name() != outcome) {
        if attribute.is_public() {
            attributes.push(attribute.clone());
            continue;
        }
        if let Some(condition) = attribute.asked_if().or(with.asked_if()) {
            let why = format!("\"{condition}\" decides who is asked; cross attributes that everybody is asked");
            return Err(DesignError::CrossWith(why));
        }
        let pair = Schema::new(vec![attribute.clone(), with.clone()])?;
        let both = crossed(&pair, &[attribute.name().to_owned(), outcome.to_owned()]).map_err(|error| match error {
            DesignError::Cross(why) => DesignError::CrossWith(why),
            other => other,
        })?;
        attributes.push(both.attributes()[0].clone());
    }
    if attributes.iter().all(Attribute::is_public) {
        return Err(DesignError::CrossWith(format!("there is no attribute to cross with \"{outcome}\"")));
    }
    Ok(Schema::new(attributes)?)
}

/// Applies the cross-classification of a request, if it has one.
pub(crate) fn crossed_if_asked(schema: &Schema, names: Option<&[String]>) -> Result<Schema, DesignError> {
    names.map_or_else(|| Ok(schema.clone()), |names| crossed(schema, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_is_crossed_with_the_outcome() {
        let schema = Schema::with_sizes(&[2, 3, 2]).unwrap();
        let found = crossed_with(&schema, "a3").unwrap();
        let attributes: Vec<&str> = found.attributes().iter().map(Attribute::name).collect();
        assert_eq!(attributes, ["a1*a3", "a2*a3"]);
        assert_eq!(found.attributes()[1].categories(), ["0*0", "0*1", "1*0", "1*1", "2*0", "2*1"]);
        let message = |outcome: &str| crossed_with(&schema, outcome).unwrap_err().to_string();
        assert!(message("a4").contains("no attribute \"a4\""));
        let alone = crossed_with(&Schema::with_sizes(&[2]).unwrap(), "a1").unwrap_err().to_string();
        assert!(alone.contains("no attribute to cross with"), "{alone}");
    }

    #[test]
    fn combinations_take_the_place_of_the_first() {
        let schema = Schema::with_sizes(&[2, 3, 2]).unwrap();
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let found = crossed(&schema, &names(&["a3", "a1"])).unwrap();
        let attributes: Vec<&str> = found.attributes().iter().map(Attribute::name).collect();
        assert_eq!(attributes, ["a3*a1", "a2"]);
        assert_eq!(found.attributes()[0].categories(), ["0*0", "0*1", "1*0", "1*1"]);
        let message = |list: &[&str]| crossed(&schema, &names(list)).unwrap_err().to_string();
        assert!(message(&["a1"]).contains("two attributes or more"));
        assert!(message(&["a1", "a1"]).contains("named twice"));
        assert!(message(&["a1", "b"]).contains("no attribute \"b\""));
        let large = Schema::with_sizes(&[60_000, 60_000]).unwrap();
        assert!(crossed(&large, &names(&["a1", "a2"])).unwrap_err().to_string().contains("3600000000 categories"));
    }
}
