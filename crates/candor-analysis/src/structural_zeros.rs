//! Structural zeros: combinations of categories that the skip logic of a schema makes impossible.
//!
//! A question that is asked only of some has a category "(not asked)". In every record, either its condition holds
//! and the category is another one, or the condition does not hold and the category is this one. All other
//! combinations are impossible, including those with attributes further up a chain of conditions.

use candor_base::schema::Schema;

/// A condition of skip logic: a question and the question it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Position of the question in the schema.
    pub attribute: usize,
    /// Position of the question it depends on.
    pub other: usize,
    /// Whether the question is asked, for each category of the other.
    pub asks: Vec<bool>,
    not_asked: u16,
    missing: Option<u16>,
}

/// How a record violates a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipViolation {
    /// A question that was not asked has an answer.
    Answered,
    /// A question that was asked has no answer.
    Unanswered,
}

impl Rule {
    /// Returns the category of the question in a record, given the categories of both questions.
    ///
    /// A missing value becomes "(not asked)" if the question was not asked.
    ///
    /// # Errors
    /// Returns [`SkipViolation`] if the record violates the condition.
    pub fn settled(&self, other: u16, own: u16) -> Result<u16, SkipViolation> {
        match (self.asks[usize::from(other)], own == self.not_asked) {
            (true, false) => Ok(own),
            (true, true) => Err(SkipViolation::Unanswered),
            (false, true) => Ok(own),
            (false, false) if Some(own) == self.missing => Ok(self.not_asked),
            (false, false) => Err(SkipViolation::Answered),
        }
    }

    /// Returns a hint on how to correct the record.
    pub fn hint(&self, schema: &Schema, breach: SkipViolation) -> String {
        let condition = schema.attributes()[self.attribute].asked_if().map_or(String::new(), ToString::to_string);
        match breach {
            SkipViolation::Answered => {
                format!("answers a question that is not asked here, but only if {condition}; leave it empty")
            }
            SkipViolation::Unanswered => {
                format!("the question is asked if {condition}, as it is here; give an answer to it")
            }
        }
    }
}

/// Returns the conditions of a schema, in the order of dependence.
pub fn rules(schema: &Schema) -> Vec<Rule> {
    let up = |at: &usize| schema.asked_if(*at).map(|(other, _)| other);
    let depth = |at: usize| std::iter::successors(Some(at), up).count();
    let rule = |attribute: usize| {
        let (other, asks) = schema.asked_if(attribute)?;
        let described = &schema.attributes()[attribute];
        Some(Rule { attribute, other, asks, not_asked: described.not_asked()?, missing: described.code_of_label("") })
    };
    let mut rules: Vec<Rule> = (0..schema.attributes().len()).filter_map(rule).collect();
    rules.sort_by_key(|rule| depth(rule.attribute));
    rules
}

/// Returns whether each cell of a table is possible, with the first attribute varying slowest; `None` if all are.
///
/// For each cell, the cost is proportional to the number of categories of its attributes and of those they depend
/// on.
///
/// ```
/// use candor_base::schema::Schema;
/// use candor_analysis::structural_zeros::possible;
///
/// let schema = Schema::from_toml(r#"
///     [[attribute]]
///     name = "Smokes"
///     categories = ["no", "yes"]
///
///     [[attribute]]
///     name = "Daily"
///     asked_if = "Smokes = yes"
///     categories = ["few", "many"]
/// "#)?;
/// // Not smoking: only "(not asked)"; smoking: all but that.
/// assert_eq!(possible(&schema, &[0, 1]), Some(vec![false, false, true, true, true, false]));
/// assert_eq!(possible(&schema, &[1]), None);
/// # Ok::<(), candor_base::schema::SchemaError>(())
/// ```
pub fn possible(schema: &Schema, table: &[usize]) -> Option<Vec<bool>> {
    let all = rules(schema);
    let mut involved = vec![false; schema.attributes().len()];
    table.iter().for_each(|&attribute| involved[attribute] = true);
    // Attributes come after those they depend on, so one backward pass finds everything that the table depends on.
    for rule in all.iter().rev() {
        involved[rule.other] |= involved[rule.attribute];
    }
    let rules: Vec<&Rule> = all.iter().filter(|rule| involved[rule.attribute]).collect();
    if rules.is_empty() {
        return None;
    }
    let shape = schema.shape(table);
    let cells: Vec<bool> = (0..shape.cells()).map(|cell| can_be(schema, table, &shape.codes(cell), &rules)).collect();
    cells.contains(&false).then_some(cells)
}

/// Returns whether all cells of all tables are possible.
pub fn all_possible(schema: &Schema, tables: &[Vec<usize>]) -> bool {
    rules(schema).is_empty() || tables.iter().all(|table| possible(schema, table).is_none())
}

/// Returns whether some record has these categories.
fn can_be(schema: &Schema, table: &[usize], codes: &[usize], rules: &[&Rule]) -> bool {
    let mut open: Vec<Vec<bool>> = schema.sizes().into_iter().map(|size| vec![true; size]).collect();
    for (&attribute, &code) in table.iter().zip(codes) {
        open[attribute].iter_mut().enumerate().for_each(|(at, open)| *open &= at == code);
    }
    // From the last condition on: each restricts the categories of the question that it depends on.
    for rule in rules.iter().rev() {
        let (own, not_asked) = (&open[rule.attribute], usize::from(rule.not_asked));
        let answered = own.iter().enumerate().any(|(at, open)| *open && at != not_asked);
        let unasked = own[not_asked];
        let fits = |asks: &bool| if *asks { answered } else { unasked };
        let left: Vec<bool> = rule.asks.iter().map(fits).collect();
        open[rule.other].iter_mut().zip(left).for_each(|(open, left)| *open &= left);
    }
    open.iter().all(|open| open.contains(&true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Schema {
        let text = "[[attribute]]\nname = \"c\"\nasked_if = \"b in (x, y)\"\ncategories = [\"1\", \"2\", \"\"]\n\
                    [[attribute]]\nname = \"a\"\ncategories = [\"no\", \"yes\", \"often\"]\n\
                    [[attribute]]\nname = \"b\"\nasked_if = \"a = yes\"\ncategories = [\"x\", \"y\", \"z\"]\n\
                    [[attribute]]\nname = \"d\"\nasked_if = \"b = z\"\ncategories = [\"1\"]\n\
                    [[attribute]]\nname = \"e\"\ncategories = [\"0\", \"1\"]\n";
        Schema::from_toml(text).unwrap()
    }

    /// Compared with all records that satisfy the conditions.
    #[test]
    fn cells_can_be_if_some_record_has_them() {
        let schema = chain();
        let rules = rules(&schema);
        assert_eq!(rules.iter().map(|rule| rule.attribute).collect::<Vec<_>>(), [2, 0, 3]);
        let all = schema.shape(&[0, 1, 2, 3, 4]);
        let keeps = |record: &usize| {
            let code = |at: usize| all.code(*record, at) as u16;
            rules.iter().all(|rule| rule.settled(code(rule.other), code(rule.attribute)) == Ok(code(rule.attribute)))
        };
        let records: Vec<usize> = (0..all.cells()).filter(keeps).collect();
        assert!(records.len() > 10 && records.len() < all.cells() / 4);
        let tables: [&[usize]; 9] =
            [&[0], &[0, 1], &[1, 0], &[0, 2], &[0, 3], &[3, 1], &[0, 1, 2, 3], &[2, 4], &[0, 3, 4]];
        for table in tables {
            let shape = schema.shape(table);
            let mut expected = vec![false; shape.cells()];
            records.iter().for_each(|&record| expected[all.project_cell(record, table)] = true);
            assert_eq!(possible(&schema, table).unwrap_or(vec![true; shape.cells()]), expected, "{table:?}");
        }
        assert_eq!(possible(&schema, &[4]), None);
    }

    #[test]
    fn missing_values_of_those_not_asked() {
        let schema = chain();
        let rules = rules(&schema);
        let c = &rules[1];
        assert_eq!((c.settled(0, 2), c.settled(0, 3), c.settled(0, 0)), (Ok(2), Err(SkipViolation::Unanswered), Ok(0)));
        assert_eq!((c.settled(2, 2), c.settled(2, 3), c.settled(3, 0)), (Ok(3), Ok(3), Err(SkipViolation::Answered)));
        assert!(c.hint(&schema, SkipViolation::Answered).contains("only if b in (x, y); leave it empty"));
    }
}
