//! Tables to be read one after another.

use super::location::Location;
use super::table::Input;
use crate::TableError;
use crate::missing::Missing;

/// The tables to be read one after another: files, each of them once, or tables that are open already.
#[derive(Default)]
pub struct Inputs(Vec<Table>);

/// One of several tables: a place, or an input that is open already.
pub struct Table {
    kind: Kind,
    vouched: bool,
}

enum Kind {
    At { location: Location, delimiter: Option<u8>, missing: Missing },
    Open(Box<Input>),
}

impl Inputs {
    /// The tables at these places, to be opened when their turn comes; `delimiter` is that of CSV files, `None` to find
    /// out.
    ///
    /// # Errors
    /// If a file is given twice, by whatever names, or standard input is: its records would count twice.
    pub fn new<L: Into<Location>>(
        locations: impl IntoIterator<Item = L>,
        delimiter: Option<u8>,
    ) -> Result<Inputs, TableError> {
        let locations: Vec<Location> = locations.into_iter().map(Into::into).collect();
        let mut seen = std::collections::HashMap::new();
        for location in &locations {
            match seen.insert(location.canonical(), location) {
                Some(Location::Stdin) if *location == Location::Stdin => return Err(TableError::ReadTwice),
                Some(first) => {
                    return Err(TableError::GivenTwice { file: first.name(), again: location.name() });
                }
                None => {}
            }
        }
        let table = |location| Table::from(Kind::At { location, delimiter, missing: Missing::default() });
        Ok(Inputs(locations.into_iter().map(table).collect()))
    }

    /// The same tables, in which these words stand for what is missing.
    pub fn with_missing(self, words: &Missing) -> Inputs {
        let with_missing = |kind: Kind| match kind {
            Kind::At { location, delimiter, .. } => Kind::At { location, delimiter, missing: words.clone() },
            Kind::Open(input) => Kind::Open(Box::new(input.with_missing(words.clone()))),
        };
        let table = |Table { kind, vouched }: Table| Table { kind: with_missing(kind), vouched };
        Inputs(self.0.into_iter().map(table).collect())
    }

    /// The same tables; if `vouched`, the user vouches that those without a mark are responses made under the plan that
    /// they are read with. Otherwise reading them as responses, or as counts of responses, is an error.
    #[must_use]
    pub fn unmarked(self, vouched: bool) -> Inputs {
        Inputs(self.0.into_iter().map(|table| Table { vouched, ..table }).collect())
    }

    /// The name of the first, to use in messages.
    pub(crate) fn name(&self) -> String {
        self.0.first().map_or(String::new(), Table::name)
    }

    /// Where those are that are not open yet.
    pub(crate) fn locations(&self) -> impl Iterator<Item = &Location> {
        self.0.iter().filter_map(Table::location)
    }
}

impl From<Kind> for Table {
    fn from(kind: Kind) -> Table {
        Table { kind, vouched: false }
    }
}

impl Table {
    /// Whether the user vouches that it is what it is read for.
    pub(crate) fn is_vouched(&self) -> bool {
        self.vouched
    }

    /// The name to use in messages.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::At { location, .. } => location.name(),
            Kind::Open(input) => input.name().to_owned(),
        }
    }

    /// Where it is, if it is not open yet.
    pub fn location(&self) -> Option<&Location> {
        match &self.kind {
            Kind::At { location, .. } => Some(location),
            Kind::Open(_) => None,
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn open(self) -> Result<Input, TableError> {
        match self.kind {
            Kind::At { location, delimiter, missing } => Ok(Input::open(&location, delimiter)?.with_missing(missing)),
            Kind::Open(input) => Ok(*input),
        }
    }
}

impl From<Input> for Inputs {
    fn from(input: Input) -> Inputs {
        Inputs::from_iter([input])
    }
}

impl FromIterator<Input> for Inputs {
    fn from_iter<I: IntoIterator<Item = Input>>(inputs: I) -> Inputs {
        Inputs(inputs.into_iter().map(|input| Table::from(Kind::Open(Box::new(input)))).collect())
    }
}

impl IntoIterator for Inputs {
    type Item = Table;
    type IntoIter = std::vec::IntoIter<Table>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(paths: &[&str]) -> String {
        Inputs::new(paths.iter().copied(), None).err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn a_file_is_read_once_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("a.csv"), "x\n").unwrap();
        std::fs::write(path("b.csv"), "x\n").unwrap();
        std::fs::create_dir(path("sub")).unwrap();
        let (a, b, around) = (path("a.csv"), path("b.csv"), path("sub/../a.csv"));
        assert_eq!(refused(&[&a, &b]), "");
        assert_eq!(refused(&[&a, &b, &a]), format!("{a} is given twice; its records would count twice"));
        assert_eq!(refused(&[&a, &around]), format!("{around} is the same file as {a}; its records would count twice"));
        assert!(refused(&["-", "-"]).contains("only once"));
        // What is not there is not found twice either.
        assert_eq!(refused(&["missing.csv", "./missing.csv"]), "");
        assert!(refused(&["missing.csv", "missing.csv"]).contains("given twice"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        std::fs::write(&file, "x\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(Inputs::new([file, link], None).is_err_and(|error| error.to_string().contains("is the same file as")));
        assert_eq!(refused(&["/dev/null", "-"]).is_empty(), !Location::Stdin.canonical().ends_with("null"));
    }
}
