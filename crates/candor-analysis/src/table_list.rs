//! Table lists: the syntax for tables, which is the same everywhere.
//!
//! `a,b;c` names the two-way table of `a` and `b` and the one-way table of `c`. The keywords `marginals`, `pairs`
//! and `triples` stand for all tables of one, two and three attributes, and `joint` for the table of all. Keywords
//! and names can be combined, as in `marginals;a,b`. Where tables can have weights, `a,b:2` counts twice. Where
//! conditional shares are allowed, `a | b, c` is the share of each category of `a` among people with the same `b`
//! and `c`. Names with such characters are quoted ([`names`]).

use candor_base::plan::Plan;
use candor_base::schema::{Schema, SchemaError};

use candor_runtime::names::{self, OpenQuote};

/// Maximum number of cells of a table.
pub const MAX_CELLS: usize = 1 << 24;

/// Maximum number of attributes of a table.
pub const MAX_ATTRIBUTES: usize = 20;

/// A list of tables, each given by the positions of its attributes in the schema.
///
/// ```
/// use candor_base::schema::Schema;
/// use candor_analysis::table_list::TableList;
///
/// let schema = Schema::with_sizes(&[2, 3, 4])?;
/// assert_eq!(TableList::parse("a1,a3;a2", &schema)?.lists(), [vec![0, 2], vec![1]]);
/// assert_eq!(TableList::parse("pairs", &schema)?.lists().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableList(Vec<Vec<usize>>);

impl TableList {
    /// Parses a table list in the syntax of the [module](self).
    ///
    /// Keywords cover the randomized attributes only; named tables may contain public ones.
    ///
    /// # Errors
    /// Returns [`TableListError`] if an attribute is unknown or repeated, or a table is too large.
    pub fn parse(text: &str, schema: &Schema) -> Result<TableList, TableListError> {
        let mut tables = Vec::new();
        for item in names::split(text, ';')? {
            tables.extend(parse_item(item, schema)?);
        }
        TableList::new(tables, schema)
    }

    /// Parses a table list with conditional shares, such as `a | b, c`.
    ///
    /// The conditioning attributes come first in the table, here `b`, `c`, `a`. The second result is their number,
    /// for each table.
    ///
    /// # Errors
    /// Returns the errors of [`TableList::parse`].
    pub fn parse_among(text: &str, schema: &Schema) -> Result<(TableList, Vec<usize>), TableListError> {
        let (mut tables, mut given) = (Vec::new(), Vec::new());
        for item in names::split(text, ';')? {
            let listed = match names::split(item, '|')?[..] {
                [_] => parse_item(item, schema)?,
                [of, among] => {
                    let among = parse_one(among, schema)?;
                    let of = parse_one(of, schema)?;
                    if let Some(&both) = of.iter().find(|a| among.contains(a)) {
                        return Err(twice(item, schema.name(both)));
                    }
                    given.push(among.len());
                    vec![[among, of].concat()]
                }
                _ => return Err(TableListError::Bars(item.to_owned())),
            };
            tables.extend(listed);
            given.resize(tables.len(), 0);
        }
        Ok((TableList::new(tables, schema)?, given))
    }

    /// Parses a table list with weights; the default weight is 1.
    ///
    /// # Errors
    /// Returns the errors of [`TableList::parse`], or [`TableListError::Weight`] if a weight is not a positive
    /// number.
    pub fn parse_weighted(text: &str, schema: &Schema) -> Result<(TableList, Vec<f64>), TableListError> {
        let (mut tables, mut weights) = (Vec::new(), Vec::new());
        for item in names::split(text, ';')? {
            // A name may contain a colon, too.
            let (names, weight) = match item.rsplit_once(':') {
                Some((names, weight)) if parse_item(item, schema).is_err() && !weight.ends_with(['"', '\'']) => {
                    let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
                    (names.trim(), weight.ok_or_else(|| TableListError::Weight(item.to_owned()))?)
                }
                _ => (item, 1.0),
            };
            let listed = parse_item(names, schema)?;
            weights.extend(vec![weight; listed.len()]);
            tables.extend(listed);
        }
        tables.iter().try_for_each(|table| check_size(table, schema))?;
        Ok((TableList(tables), weights))
    }

    /// Creates a list of tables from the positions of their attributes in the schema.
    ///
    /// # Errors
    /// Returns [`TableListError::TooLarge`] if a table is too large.
    ///
    /// # Panics
    /// Panics if the schema has no attribute at a position.
    pub fn new(lists: Vec<Vec<usize>>, schema: &Schema) -> Result<TableList, TableListError> {
        lists.iter().try_for_each(|table| check_size(table, schema))?;
        Ok(TableList(lists))
    }

    /// Returns one table for each block of a plan, and one for each public attribute.
    ///
    /// # Errors
    /// Returns [`TableListError::TooLarge`] if a block is too large for a table.
    pub fn of_blocks(plan: &Plan) -> Result<TableList, TableListError> {
        let schema = plan.schema();
        let blocks = plan.blocks().iter().map(|block| block.attributes().to_vec());
        let public = (0..schema.attributes().len()).filter(|&a| schema.attributes()[a].is_public()).map(|a| vec![a]);
        TableList::new(blocks.chain(public).collect(), schema)
    }

    /// Returns all one-way tables of the randomized attributes.
    pub fn marginals(schema: &Schema) -> TableList {
        TableList(subsets(&schema.randomized(), 1))
    }

    /// Returns the tables.
    pub fn lists(&self) -> &[Vec<usize>] {
        &self.0
    }
}

/// Returns the tables of a keyword, or the named table.
fn parse_item(item: &str, schema: &Schema) -> Result<Vec<Vec<usize>>, TableListError> {
    let private = schema.randomized();
    let tables = match item {
        "marginals" => subsets(&private, 1),
        "pairs" => subsets(&private, 2),
        "triples" => subsets(&private, 3),
        "joint" => vec![private],
        named => vec![parse_one(named, schema)?],
    };
    if tables.is_empty() { Err(TableListError::TooFew(item.to_owned())) } else { Ok(tables) }
}

fn parse_one(table: &str, schema: &Schema) -> Result<Vec<usize>, TableListError> {
    let mut attributes = Vec::new();
    for name in names::list(table)? {
        let attribute = schema.position(&name)?;
        if attributes.contains(&attribute) {
            return Err(twice(table, &name));
        }
        attributes.push(attribute);
    }
    Ok(attributes)
}

fn twice(table: &str, name: &str) -> TableListError {
    TableListError::Twice { table: table.trim().to_owned(), attribute: name.to_owned() }
}

fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![vec![]];
    }
    let with_first = |(i, &first): (usize, &usize)| {
        subsets(&of[i + 1..], size - 1).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    of.iter().enumerate().flat_map(with_first).collect()
}

fn check_size(table: &[usize], schema: &Schema) -> Result<(), TableListError> {
    let sizes = table.iter().map(|&attribute| schema.size(attribute));
    let cells = sizes.fold(1usize, usize::saturating_mul);
    if cells > MAX_CELLS || table.len() > MAX_ATTRIBUTES {
        let names: Vec<&str> = table.iter().map(|&attribute| schema.name(attribute)).collect();
        return Err(TableListError::TooLarge { table: names.join(","), cells, attributes: table.len() });
    }
    Ok(())
}

/// Error in a table list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableListError {
    /// Unknown attribute.
    #[error(transparent)]
    Attribute(#[from] SchemaError),
    /// Attribute that is repeated in a table.
    #[error("the table \"{table}\" names \"{attribute}\" twice")]
    Twice {
        /// The table.
        table: String,
        /// Name of the attribute.
        attribute: String,
    },
    /// Unclosed quote.
    #[error(transparent)]
    Quote(#[from] OpenQuote),
    /// More than one bar.
    #[error("\"{0}\" has more than one |; expected conditional shares such as \"a | b, c\"")]
    Bars(String),
    /// Invalid weight.
    #[error("\"{0}\": the weight of a table, after the colon, must be a positive number")]
    Weight(String),
    /// Fewer attributes than a keyword requires.
    #[error("too few randomized attributes for \"{0}\"")]
    TooFew(String),
    /// More cells or attributes than the limits.
    #[error(
        "the table \"{table}\" has {cells} cells and {attributes} attributes; the limits are {MAX_CELLS} cells and \
         {MAX_ATTRIBUTES} attributes"
    )]
    TooLarge {
        /// The table.
        table: String,
        /// Number of its cells; saturated if too large to count.
        cells: usize,
        /// Number of its attributes.
        attributes: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names() {
        let schema = Schema::with_sizes(&[2, 3, 4, 5]).unwrap();
        let parse = |text: &str| TableList::parse(text, &schema).map(|tables| tables.0);
        assert_eq!(parse("marginals").unwrap(), [[0], [1], [2], [3]]);
        assert_eq!(parse("pairs").unwrap().len(), 6);
        assert_eq!(parse("triples").unwrap(), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        assert_eq!(parse("joint").unwrap(), [[0, 1, 2, 3]]);
        assert_eq!(parse(" a4 , a1 ; a2").unwrap(), [vec![3, 0], vec![1]]);
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(message("a1,b2"), "there is no attribute \"b2\"; did you mean \"a2\"?");
        assert!(message("a1,a1").contains("twice"));
        assert!(message("").contains("no attribute"));
        assert_eq!(parse("marginals;a4,a1").unwrap(), [vec![0], vec![1], vec![2], vec![3], vec![3, 0]]);
        assert!(message("a1,a2:2").contains("no attribute"));
        let weighted = |text: &str| TableList::parse_weighted(text, &schema);
        let (tables, weights) = weighted("pairs:0.5; a1 :3;a2").unwrap();
        assert_eq!((tables.0.len(), weights), (8, [vec![0.5; 6], vec![3.0, 1.0]].concat()));
        for bad in ["a1:0", "a1:-1", "a1:x", "a1:", "a1:inf"] {
            assert!(weighted(bad).unwrap_err().to_string().contains("a positive number"), "{bad}");
        }
        let among = |text: &str| TableList::parse_among(text, &schema);
        let (tables, given) = among("a1; a3 | a2, a4 ;pairs").unwrap();
        assert_eq!((&tables.0[..2], &given[..3]), (&[vec![0], vec![1, 3, 2]][..], &[0, 2, 0][..]));
        assert_eq!(given.len(), 8);
        assert!(among("a1 | a2 | a3").unwrap_err().to_string().contains("more than one"));
        assert!(among("a1 | a2, a1").unwrap_err().to_string().contains("twice"));
        assert!(among("a1 |").unwrap_err().to_string().contains("no attribute"));
        let two = Schema::with_sizes(&[2, 3]).unwrap();
        assert!(TableList::parse("triples", &two).unwrap_err().to_string().contains("too few"));
        let large = Schema::with_sizes(&[60_000, 60_000]).unwrap();
        assert!(TableList::parse("joint", &large).unwrap_err().to_string().contains("3600000000 cells"));
    }

    /// Quoted names with special characters; without quotes they have another meaning.
    #[test]
    fn names_in_quotes() {
        let text = ["a,b", "c;d", "e:2", "f|g", "it's"]
            .map(|name| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"0\", \"1\"]\n"));
        let schema = Schema::from_toml(&text.concat()).unwrap();
        let tables = TableList::parse("\"a,b\",'c;d';it's;\"f|g\"", &schema).unwrap();
        assert_eq!(tables.0, [vec![0, 1], vec![4], vec![3]]);
        let (tables, weights) = TableList::parse_weighted("'e:2':3;\"e:2\";e:2", &schema).unwrap();
        assert_eq!((tables.0, weights), (vec![vec![2]; 3], vec![3.0, 1.0, 1.0]));
        let (tables, given) = TableList::parse_among("'f|g' | 'a,b'", &schema).unwrap();
        assert_eq!((tables.0, given), (vec![vec![0, 3]], vec![1]));
        assert!(TableList::parse("a,b", &schema).is_err());
        assert!(TableList::parse("\"a,b", &schema).unwrap_err().to_string().contains("not closed"));
    }
}
