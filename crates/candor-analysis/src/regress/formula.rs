//! Model formulas, such as `Income ~ Education + Sex + age + Education:Sex`.
//!
//! `a + b` contains both terms, `a:b` is their interaction, and `a*b` means `a + b + a:b`. `-1` or `+ 0` removes the
//! intercept. Names with characters other than letters, digits, `_`, `.` and `-` are quoted or in backticks.

use std::collections::BTreeSet;

use super::RegressError;

/// Maximum number of variables in a term.
const MAX_FACTORS: usize = 8;

/// Maximum number of terms in a formula.
const MAX_TERMS: usize = 1000;

/// A formula: an outcome, or a sum of several (`a + b ~ age`), and the terms that predict it.
///
/// ```
/// use candor_analysis::regress::Formula;
///
/// let formula: Formula = "Income ~ age*Sex + `years of school` - 1".parse()?;
/// assert_eq!(formula.response(), "Income");
/// assert_eq!(formula.terms(), [vec!["age"], vec!["Sex"], vec!["years of school"], vec!["age", "Sex"]]);
/// assert!(!formula.has_constant());
/// # Ok::<(), candor_analysis::regress::RegressError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    response: String,
    summands: Vec<String>,
    terms: Vec<Vec<String>>,
    constant: bool,
}

impl Formula {
    /// Returns the name of the outcome; for a sum, the names joined by `+`.
    pub fn response(&self) -> &str {
        &self.response
    }

    /// Returns the names of the summands of the outcome; a single one for other outcomes.
    pub fn summands(&self) -> &[String] {
        &self.summands
    }

    /// Returns the terms, each as the names of its variables: first terms of one variable, then of two, and so on.
    pub fn terms(&self) -> &[Vec<String>] {
        &self.terms
    }

    /// Returns whether there is an intercept.
    pub fn has_constant(&self) -> bool {
        self.constant
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Sign(char),
}

impl std::str::FromStr for Formula {
    type Err = RegressError;

    fn from_str(text: &str) -> Result<Formula, RegressError> {
        let wrong = |message: String| RegressError::Formula { text: text.to_owned(), message };
        let tokens = tokens(text).map_err(wrong)?;
        let tilde = tokens.iter().position(|token| *token == Token::Sign('~'));
        let Some(tilde) = tilde else { return Err(wrong("it has no ~ between response and predictors".to_owned())) };
        let outcome = summed(&tokens[..tilde]).ok_or_else(|| {
            wrong("one name stands before the ~, or several with + between, whose sum is the response".to_owned())
        })?;
        let (mut terms, mut constant): (Vec<Vec<String>>, bool) = (Vec::new(), true);
        for (sign, product) in summands(&tokens[tilde + 1..]).map_err(wrong)? {
            match (sign, product) {
                (sign, [Token::Name(number)]) if number == "1" => constant = sign == '+',
                (sign, [Token::Name(number)]) if number == "0" => constant = sign == '-',
                ('-', _) => return Err(wrong("only the constant is left out, as -1".to_owned())),
                (_, product) => terms.extend(expanded(product).map_err(wrong)?),
            }
        }
        let mut seen = BTreeSet::new();
        terms.retain(|term| seen.insert(term.iter().cloned().collect::<BTreeSet<String>>()));
        terms.sort_by_key(Vec::len);
        match () {
            () if terms.len() > MAX_TERMS => Err(wrong(format!("it has more than {MAX_TERMS} terms"))),
            () if terms.is_empty() && !constant => Err(wrong("it has neither terms nor a constant".to_owned())),
            () => Ok(Formula { response: outcome.join(" + "), summands: outcome, terms, constant }),
        }
    }
}

/// Returns the distinct names of a sum.
fn summed(tokens: &[Token]) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for summand in tokens.split(|token| *token == Token::Sign('+')) {
        match summand {
            [Token::Name(name)] if !names.contains(name) => names.push(name.clone()),
            _ => return None,
        }
    }
    Some(names)
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '~' | '+' | ':' | '*' | '-' => {
                tokens.push(Token::Sign(first));
                1
            }
            '"' | '`' | '\'' => {
                let end = rest[1..].find(first).ok_or_else(|| format!("the {first} is not closed"))?;
                tokens.push(Token::Name(rest[1..=end].to_owned()));
                end + 2
            }
            c if c.is_alphanumeric() || c == '_' || c == '.' => {
                let length = word(rest);
                tokens.push(Token::Name(rest[..length].to_owned()));
                length
            }
            c => return Err(format!("unexpected \"{c}\"; put names that contain it in quotes")),
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Returns the length of an unquoted name. A `-` is part of it, unless it is followed by a single 1 (no intercept).
fn word(text: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut end = 0;
    loop {
        end += text[end..].find(|c| !inside(c)).unwrap_or(text.len() - end);
        let Some(after) = text[end..].strip_prefix('-') else { return end };
        let next = &after[..after.find(|c| !inside(c)).unwrap_or(after.len())];
        if next.is_empty() || next == "1" {
            return end;
        }
        end += 1;
    }
}

/// Splits a sum into its summands, with their signs.
fn summands(tokens: &[Token]) -> Result<Vec<(char, &[Token])>, String> {
    let mut found = Vec::new();
    let (mut sign, mut rest) = ('+', tokens);
    if let [Token::Sign(first @ ('+' | '-')), after @ ..] = rest {
        (sign, rest) = (*first, after);
    }
    loop {
        let end = rest.iter().position(|token| matches!(token, Token::Sign('+' | '-'))).unwrap_or(rest.len());
        if end == 0 {
            return Err("a term is missing".to_owned());
        }
        found.push((sign, &rest[..end]));
        match rest.get(end) {
            Some(Token::Sign(next)) => (sign, rest) = (*next, &rest[end + 1..]),
            _ => return Ok(found),
        }
    }
}

/// Expands a product into terms: `a*b:c` is `a + b:c + a:b:c`.
fn expanded(product: &[Token]) -> Result<Vec<Vec<String>>, String> {
    let mut terms: Vec<Vec<String>> = Vec::new();
    for (number, crossed) in product.split(|token| *token == Token::Sign('*')).enumerate() {
        let mut names: Vec<String> = Vec::new();
        for part in crossed.split(|token| *token == Token::Sign(':')) {
            match part {
                [Token::Name(name)] if names.contains(name) => {}
                [Token::Name(name)] => names.push(name.clone()),
                [] => return Err("a name is missing beside : or *".to_owned()),
                _ => {
                    return Err("expected +, : or * between two names; put names with spaces in quotes".to_owned());
                }
            }
        }
        let longer: Vec<Vec<String>> = terms.iter().map(|term| joined(term, &names)).collect();
        terms.push(names);
        terms.extend(longer);
        if number >= MAX_FACTORS || terms.iter().any(|term| term.len() > MAX_FACTORS) {
            return Err(format!("a term has more than {MAX_FACTORS} variables"));
        }
    }
    Ok(terms)
}

fn joined(term: &[String], more: &[String]) -> Vec<String> {
    let new = more.iter().filter(|name| !term.contains(name));
    term.iter().chain(new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let formula: Formula = text.parse().unwrap();
        let constant = formula.constant.then(|| "1".to_owned());
        constant.into_iter().chain(formula.terms.iter().map(|term| term.join(":"))).collect()
    }

    #[test]
    fn formulas_are_those_of_r() {
        assert_eq!(terms("y ~ a + b + a:b"), ["1", "a", "b", "a:b"]);
        assert_eq!(terms("y~a*b"), ["1", "a", "b", "a:b"]);
        assert_eq!(terms("y ~ a*b*c"), ["1", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]);
        assert_eq!(terms("y ~ a:b + c - 1"), ["c", "a:b"]);
        assert_eq!(terms("y ~ 0 + a"), ["a"]);
        assert_eq!(terms("y ~ a + a:a + b:a + a:b"), ["1", "a", "b:a"]);
        assert_eq!(terms("y ~ 1"), ["1"]);
        assert_eq!(terms("y ~ marital-status + x-1"), ["marital-status", "x"]);
        assert_eq!(terms("\"a b\" ~ `c+d`*'e:f'"), ["1", "c+d", "e:f", "c+d:e:f"]);
    }

    #[test]
    fn what_is_no_formula_says_why() {
        let told = |text: &str| text.parse::<Formula>().unwrap_err().to_string();
        assert!(told("y + a").contains("no ~"));
        assert!(told("y z ~ a").contains("one name stands before"));
        assert!(told("y ~ a +").contains("a term is missing"));
        assert!(told("y ~ ").contains("a term is missing"));
        assert!(told("y ~ a b").contains("in quotes"));
        assert!(told("y ~ a: + b").contains("a name is missing"));
        assert!(told("y ~ log(a)").contains("unexpected \"(\""));
        assert!(told("y ~ \"a").contains("not closed"));
        assert!(told("y ~ a - b").contains("only the constant"));
        assert!(told("y ~ -1").contains("neither terms"));
        assert!(told("y ~ a*b*c*d*e*f*g*h*i").contains("more than 8"));
    }
}
