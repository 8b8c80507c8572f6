//! Which tables matter: the one syntax for lists of tables, everywhere.
//!
//! `a,b;c` names the two-way table of `a` and `b` and the one-way table of `c`; `marginals`, `pairs`
//! and `triples` stand for all tables of one, two and three attributes, `joint` for the table of all; words and
//! names mix, as in `marginals;a,b`. Where tables may have weights, `a,b:2` counts twice. Where shares among others are
//! told, `a | b, c` is the share of each category of `a` among those with the same `b` and `c`. Names that hold such
//! signs stand in quotes ([`names`]).

use candor_base::plan::Plan;
use candor_base::schema::{Schema, SchemaError};

use candor_runtime::names::{self, OpenQuote};

/// The largest number of cells of one table.
pub const MAX_CELLS: usize = 1 << 24;

/// The largest number of attributes of one table.
pub const MAX_ATTRIBUTES: usize = 20;

/// A list of tables, each a list of attributes by their positions in the schema.
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
    /// Reads the syntax of the [module](self). The words for many tables are about the attributes
    /// that are randomized; named tables may hold public ones too.
    ///
    /// # Errors
    /// If an attribute does not exist or is named twice, or a table is too large.
    pub fn parse(text: &str, schema: &Schema) -> Result<TableList, TableListError> {
        let mut tables = Vec::new();
        for item in names::split(text, ';')? {
            tables.extend(parse_item(item, schema)?);
        }
        TableList::new(tables, schema)
    }

    /// The same where a table may be of shares among those with the same categories of other attributes, `a | b, c`:
    /// those come first in its list, here `b`, `c`, `a`; and for each table how many they are.
    ///
    /// # Errors
    /// As [`TableList::parse`].
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

    /// The same with a weight for each table, 1 where none is said.
    ///
    /// # Errors
    /// As [`TableList::parse`], or if a weight is not a positive number.
    pub fn parse_weighted(text: &str, schema: &Schema) -> Result<(TableList, Vec<f64>), TableListError> {
        let (mut tables, mut weights) = (Vec::new(), Vec::new());
        for item in names::split(text, ';')? {
            // A colon may also be part of a name.
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

    /// These tables, by the positions of their attributes in the schema.
    ///
    /// # Errors
    /// If a table is too large.
    ///
    /// # Panics
    /// If the schema has no attribute at a position.
    pub fn new(lists: Vec<Vec<usize>>, schema: &Schema) -> Result<TableList, TableListError> {
        lists.iter().try_for_each(|table| check_size(table, schema))?;
        Ok(TableList(lists))
    }

    /// What a plan randomizes together: one table per block, and one per public attribute.
    ///
    /// # Errors
    /// If a block is too large for a table.
    pub fn of_blocks(plan: &Plan) -> Result<TableList, TableListError> {
        let schema = plan.schema();
        let blocks = plan.blocks().iter().map(|block| block.attributes().to_vec());
        let public = (0..schema.attributes().len()).filter(|&a| schema.attributes()[a].is_public()).map(|a| vec![a]);
        TableList::new(blocks.chain(public).collect(), schema)
    }

    /// All one-way tables of the attributes that are randomized.
    pub fn marginals(schema: &Schema) -> TableList {
        TableList(subsets(&schema.randomized(), 1))
    }

    /// The tables.
    pub fn lists(&self) -> &[Vec<usize>] {
        &self.0
    }
}

/// The tables that a word stands for, or the one named.
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

/// What is wrong with a list of tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableListError {
    /// No attribute of that name.
    #[error(transparent)]
    Attribute(#[from] SchemaError),
    /// An attribute twice in one table.
    #[error("the table \"{table}\" names \"{attribute}\" twice")]
    Twice {
        /// The table.
        table: String,
        /// The attribute.
        attribute: String,
    },
    /// A quote that is not closed.
    #[error(transparent)]
    Quote(#[from] OpenQuote),
    /// More than one bar.
    #[error("\"{0}\" has more than one |; expected conditional shares such as \"a | b, c\"")]
    Bars(String),
    /// A weight that is none.
    #[error("\"{0}\": the weight of a table, after the colon, must be a positive number")]
    Weight(String),
    /// Fewer attributes than a word asks for.
    #[error("too few randomized attributes for \"{0}\"")]
    TooFew(String),
    /// More cells or attributes than can be handled.
    #[error(
        "the table \"{table}\" has {cells} cells and {attributes} attributes; the limits are {MAX_CELLS} cells and \
         {MAX_ATTRIBUTES} attributes"
    )]
    TooLarge {
        /// The table.
        table: String,
        /// Its cells, at most as many as can be counted.
        cells: usize,
        /// Its attributes.
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

    /// Names with the signs of lists, in quotes; without, they mean something else.
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
