//! Conditions on records, such as `Education in (Bachelors, Masters) and Sex = Female`.
//!
//! A comparison is `name = label`, `name != label`, `name in (label, ..)` or `name not in (label, ..)`. Ordinal
//! attributes also have `<`, `<=`, `>` and `>=`, by the order of their categories. A missing value, the category
//! `""`, is neither below nor above any category.
//!
//! Comparisons are combined by `not`, `and`, `or` (in order of precedence) and parentheses. Names and labels with
//! spaces, commas or other special characters are quoted with `"` or `'`, which is doubled inside.

use candor_base::schema::{Kind, Schema, nearest};

/// A condition on some attributes of a record.
///
/// ```
/// use candor_analysis::condition::Condition;
/// use candor_base::schema::Schema;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let condition = Condition::parse("a1 = 1 and not a2 in (0, 2)", &schema)?;
/// assert_eq!(condition.attributes(), [0, 1]);
/// assert!(condition.holds(|attribute| [1, 1][attribute]));
/// assert!(!condition.holds(|attribute| [1, 2][attribute]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    attributes: Vec<usize>,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// The category of the attribute is one of the marked ones.
    In(usize, Vec<bool>),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

/// Error in a condition, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {problem}")]
pub struct ConditionError {
    /// Position in characters, from 1.
    pub at: usize,
    /// What is wrong, and what is expected.
    pub problem: String,
}

impl Condition {
    /// Parses a condition in the syntax of the [module](self).
    ///
    /// # Errors
    /// Returns [`ConditionError`] if the syntax is invalid, an attribute or category is unknown, or categories of a
    /// nominal attribute are compared by order.
    pub fn parse(text: &str, schema: &Schema) -> Result<Condition, ConditionError> {
        let tokens = tokens(text)?;
        let mut parser = Parser { schema, tokens: &tokens, end: text.chars().count() + 1, at: 0, depth: 0 };
        let test = parser.any()?;
        if let Some((at, token)) = parser.tokens.get(parser.at) {
            return Err(problem(
                *at,
                format!("{} is not expected here; join comparisons by \"and\" or \"or\"", token.shown()),
            ));
        }
        Ok(Condition::of(test))
    }

    /// Returns the attributes of the condition, by position in the schema.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Splits a conjunction into the parts about two kinds of attributes.
    ///
    /// Returns `None` if a part that is joined by `or` contains both kinds.
    pub fn split(&self, is_first: impl Fn(usize) -> bool) -> Option<[Option<Condition>; 2]> {
        let parts = match &self.test {
            Test::All(tests) => tests.clone(),
            test => vec![test.clone()],
        };
        let mut kinds = [Vec::new(), Vec::new()];
        for part in parts {
            let mut attributes = Vec::new();
            part.collect(&mut attributes);
            match attributes.iter().filter(|&&attribute| is_first(attribute)).count() {
                0 => kinds[1].push(part),
                all if all == attributes.len() => kinds[0].push(part),
                _ => return None,
            }
        }
        Some(kinds.map(|tests| (!tests.is_empty()).then(|| Condition::of(Test::All(tests)))))
    }

    fn of(test: Test) -> Condition {
        let mut attributes = Vec::new();
        test.collect(&mut attributes);
        attributes.sort_unstable();
        attributes.dedup();
        Condition { attributes, test }
    }

    /// Evaluates the condition for a record, given the category of each attribute.
    pub fn holds(&self, category: impl Fn(usize) -> u16 + Copy) -> bool {
        self.test.holds(category)
    }
}

impl Test {
    fn collect(&self, attributes: &mut Vec<usize>) {
        match self {
            Test::In(attribute, _) => attributes.push(*attribute),
            Test::Not(test) => test.collect(attributes),
            Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|test| test.collect(attributes)),
        }
    }

    fn holds(&self, category: impl Fn(usize) -> u16 + Copy) -> bool {
        match self {
            Test::In(attribute, marked) => marked[usize::from(category(*attribute))],
            Test::Not(test) => !test.holds(category),
            Test::All(tests) => tests.iter().all(|test| test.holds(category)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(category)),
        }
    }
}

fn problem(at: usize, problem: impl Into<String>) -> ConditionError {
    ConditionError { at, problem: problem.into() }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name, a label, or a keyword such as `and`.
    Word(String),
    /// A quoted name or label.
    Quoted(String),
    Sign(&'static str),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Word(text) | Token::Quoted(text) => format!("\"{text}\""),
            Token::Sign(sign) => format!("\"{sign}\""),
        }
    }

    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }
}

/// The operators, longest first.
const SIGNS: [&str; 11] = ["==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","];

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ConditionError> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let begin = at;
        let rest = &characters[at..];
        let sign = SIGNS.iter().find(|sign| rest.starts_with(&sign.chars().collect::<Vec<_>>()));
        if rest[0].is_whitespace() {
            at += 1;
        } else if let Some(sign) = sign {
            at += sign.len();
            tokens.push((begin + 1, Token::Sign(sign)));
        } else if rest[0] == '"' || rest[0] == '\'' {
            let quote = rest[0];
            let mut content = String::new();
            at += 1;
            loop {
                match (characters.get(at), characters.get(at + 1)) {
                    (Some(&c), Some(&next)) if c == quote && next == quote => {
                        content.push(quote);
                        at += 2;
                    }
                    (Some(&c), _) if c == quote => break,
                    (Some(&c), _) => {
                        content.push(c);
                        at += 1;
                    }
                    (None, _) => return Err(problem(begin + 1, format!("the quote {quote} is not closed"))),
                }
            }
            at += 1;
            tokens.push((begin + 1, Token::Quoted(content)));
        } else {
            let ends = |c: &char| c.is_whitespace() || "\"'=<>(),".contains(*c);
            let after = |at: usize| characters.get(at) == Some(&'!') && characters.get(at + 1) == Some(&'=');
            while at < characters.len() && !ends(&characters[at]) && !after(at) {
                at += 1;
            }
            // A single character that starts no operator, such as "!".
            at = at.max(begin + 1);
            tokens.push((begin + 1, Token::Word(characters[begin..at].iter().collect())));
        }
    }
    Ok(tokens)
}

/// Maximum nesting depth of parentheses and "not".
const MAX_DEPTH: usize = 64;

struct Parser<'a> {
    schema: &'a Schema,
    tokens: &'a [(usize, Token)],
    /// Position after the last character.
    end: usize,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(at, _)| *at)
    }

    fn take(&mut self, wanted: impl Fn(&Token) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> ConditionError {
        let found = self.peek().map_or("the condition ends".to_owned(), |token| format!("{} is found", token.shown()));
        problem(self.place(), format!("{found} where {what} is expected"))
    }

    fn any(&mut self) -> Result<Test, ConditionError> {
        let mut tests = vec![self.all()?];
        while self.take(|token| token.is("or")) {
            tests.push(self.all()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) })
    }

    fn all(&mut self) -> Result<Test, ConditionError> {
        let mut tests = vec![self.one()?];
        while self.take(|token| token.is("and")) {
            tests.push(self.one()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::All(tests) })
    }

    fn one(&mut self) -> Result<Test, ConditionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(problem(self.place(), format!("conditions may be nested {MAX_DEPTH} deep")));
        }
        let test = if self.take(|token| token.is("not")) {
            Test::Not(Box::new(self.one()?))
        } else if self.take(|token| *token == Token::Sign("(")) {
            let test = self.any()?;
            if !self.take(|token| *token == Token::Sign(")")) {
                return Err(self.expected("\")\""));
            }
            test
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(test)
    }

    /// Parses a name or label.
    fn text(&mut self, what: &str) -> Result<(usize, String), ConditionError> {
        match self.tokens.get(self.at) {
            Some((at, Token::Word(text) | Token::Quoted(text))) => {
                self.at += 1;
                Ok((*at, text.clone()))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn label(&mut self, attribute: usize) -> Result<usize, ConditionError> {
        let described = &self.schema.attributes()[attribute];
        let (at, label) = self.text("a category (in quotes, if it holds signs or spaces)")?;
        described.code_of_label(&label).map(usize::from).ok_or_else(|| {
            let hint = match nearest(&label, described.categories().iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None if described.categories().len() <= 12 => {
                    let labels: Vec<String> = described.categories().iter().map(|label| format!("'{label}'")).collect();
                    format!("there are {}", labels.join(", "))
                }
                None => format!("it has {} categories; put labels with spaces in quotes", described.categories().len()),
            };
            problem(at, format!("\"{label}\" is not a category of \"{}\"; {hint}", described.name()))
        })
    }

    fn comparison(&mut self) -> Result<Test, ConditionError> {
        let (at, name) = self.text("the name of an attribute")?;
        let attribute = self.schema.position(&name).map_err(|error| problem(at, error.to_string()))?;
        let described = &self.schema.attributes()[attribute];
        let categories = described.categories().len();
        let negated = self.take(|token| token.is("not"));
        if negated || self.peek().is_some_and(|token| token.is("in")) {
            if !self.take(|token| token.is("in")) {
                return Err(self.expected("\"in\""));
            }
            if !self.take(|token| *token == Token::Sign("(")) {
                return Err(self.expected("\"(\" and a list of categories"));
            }
            let mut marked = vec![negated; categories];
            loop {
                marked[self.label(attribute)?] = !negated;
                if self.take(|token| *token == Token::Sign(")")) {
                    return Ok(Test::In(attribute, marked));
                }
                if !self.take(|token| *token == Token::Sign(",")) {
                    return Err(self.expected("\",\" or \")\""));
                }
            }
        }
        let place = self.place();
        let sign = match self.peek() {
            Some(Token::Sign(sign)) if !["(", ")", ","].contains(sign) => *sign,
            _ => return Err(self.expected("=, !=, <, <=, >, >= or in")),
        };
        self.at += 1;
        if described.kind() == Kind::Nominal && sign.starts_with(['<', '>']) && sign != "<>" {
            return Err(problem(
                place,
                format!(
                    "the categories of \"{name}\" have no order; say kind = \"ordinal\" in the schema if they do, or \
                     use in"
                ),
            ));
        }
        let label = self.label(attribute)?;
        // Missing values and "(not asked)" have no place in the order.
        let ordered = sign.starts_with(['<', '>']) && sign != "<>";
        let marked = (0..categories).map(|category| match sign {
            _ if ordered && !described.is_answer(category) => false,
            "=" | "==" => category == label,
            "!=" | "<>" => category != label,
            "<" => category < label,
            "<=" => category <= label,
            ">" => category > label,
            _ => category >= label,
        });
        Ok(Test::In(attribute, marked.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schema() -> Schema {
        Schema::from_toml(
            "[[attribute]]\nname = \"Sex\"\ncategories = [\"Female\", \"Male\"]\n\
             [[attribute]]\nname = \"Marital status\"\ncategories = [\"never married\", \"married\", \"it's \
             complicated\"]\n\
             [[attribute]]\nname = \"Age\"\nkind = \"ordinal\"\ncategories = [\"<20\", \"20-39\", \"40+\"]\n",
        )
        .unwrap()
    }

    /// Returns all records for which a condition holds.
    fn holding(text: &str) -> Vec<[u16; 3]> {
        let schema = schema();
        let condition = Condition::parse(text, &schema).unwrap();
        let records = (0..18).map(|i| [i / 9, i / 3 % 3, i % 3]);
        records.filter(|record| condition.holds(|attribute| record[attribute])).collect()
    }

    #[test]
    fn conditions_hold_where_they_say() {
        let by = |holds: fn(&[u16; 3]) -> bool| -> Vec<[u16; 3]> {
            (0..18).map(|i| [i / 9, i / 3 % 3, i % 3]).filter(holds).collect()
        };
        assert_eq!(holding("Sex = Female"), by(|r| r[0] == 0));
        assert_eq!(holding("Sex!=Female"), by(|r| r[0] == 1));
        assert_eq!(holding("\"Marital status\" in ('never married', married)"), by(|r| r[1] < 2));
        assert_eq!(holding("'Marital status' = 'it''s complicated' or Sex == Male"), by(|r| r[1] == 2 || r[0] == 1));
        assert_eq!(holding("Sex = Male AND Age >= 20-39"), by(|r| r[0] == 1 && r[2] >= 1));
        assert_eq!(holding("Age < '40+'"), by(|r| r[2] < 2));
        assert_eq!(holding("Age not in (20-39)"), by(|r| r[2] != 1));
        assert_eq!(holding("not (Sex = Male or Age > \"<20\")"), by(|r| r[0] == 0 && r[2] == 0));
        // "and" takes precedence over "or".
        assert_eq!(
            holding("Sex = Male or Sex = Female and Age <= \"<20\""),
            by(|r| r[0] == 1 || (r[0] == 0 && r[2] == 0))
        );
        assert_eq!(holding("not Sex = Male and Age <> 40+"), by(|r| r[0] == 0 && r[2] != 2));
        let missing = Schema::from_toml(
            "[[attribute]]\nname = \"Age\"\nkind = \"ordinal\"\ncategories = [\"young\", \"old\", \"\"]\n",
        )
        .unwrap();
        for (text, expected) in [
            ("Age > young", [false, true, false]),
            ("Age <= old", [true, true, false]),
            ("Age = ''", [false, false, true]),
        ] {
            let condition = Condition::parse(text, &missing).unwrap();
            assert_eq!([0, 1, 2].map(|category| condition.holds(|_| category)), expected, "{text}");
        }
        let condition = Condition::parse("Age = 40+ and Sex = Male or Age = 20-39", &schema()).unwrap();
        assert_eq!(condition.attributes(), [0, 2]);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let refused = |text: &str| Condition::parse(text, &schema()).unwrap_err().to_string();
        for (text, at, part) in [
            ("", 1, "the condition ends where the name"),
            ("Sex = Femal", 7, "did you mean \"Female\"?"),
            ("Sx = Female", 1, "Sex"),
            ("Sex Female", 5, "is found where =, !=, <, <=, >, >= or in is expected"),
            ("Sex = Female Age = 40+", 14, "join comparisons by"),
            ("Sex > Female", 5, "have no order"),
            ("Age = <20", 7, "\"<\" is found where a category (in quotes, if it holds signs or spaces) is expected"),
            ("Sex in Female", 8, "a list of categories"),
            ("Sex in (Female", 15, "the condition ends where \",\" or \")\""),
            ("Sex in (Female Male)", 16, "where \",\" or \")\""),
            ("(Sex = Female", 14, "\")\" is expected"),
            ("Sex = 'Female", 7, "not closed"),
            ("Sex = Female and", 17, "the condition ends"),
            ("Marital status = married", 1, "Marital"),
        ] {
            let message = refused(text);
            assert!(
                message.starts_with(&format!("at character {at}: ")) && message.contains(part),
                "{text}: {message}"
            );
        }
        assert!(refused(&"(".repeat(100_000)).contains("nested"));
        assert!(refused(&"not ".repeat(100_000)).contains("nested"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[ A-Za-z0-9=<>!()',\"+-]{0,60}") {
            let _ = Condition::parse(&text, &schema());
        }
    }
}
