//! Several inputs, which are read one after another.

use super::location::Location;
use super::table::Input;
use crate::TableError;
use crate::missing::Missing;

/// Inputs to read one after another: distinct files, or inputs that are already open.
#[derive(Default)]
pub struct Inputs(Vec<Table>);

/// One of several inputs: a location, or an open input.
pub struct Table {
    kind: Kind,
    vouched: bool,
}

enum Kind {
    At { location: Location, delimiter: Option<u8>, missing: Missing },
    Open(Box<Input>),
}

impl Inputs {
    /// Creates inputs from locations, which are opened in turn.
    ///
    /// `delimiter` is that of CSV files; `None` detects it.
    ///
    /// # Errors
    /// Returns [`TableError`] if a file, under any names, or standard input is given twice, so that records would
    /// count twice.
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

    /// Sets the codes of missing values.
    pub fn with_missing(self, words: &Missing) -> Inputs {
        let with_missing = |kind: Kind| match kind {
            Kind::At { location, delimiter, .. } => Kind::At { location, delimiter, missing: words.clone() },
            Kind::Open(input) => Kind::Open(Box::new(input.with_missing(words.clone()))),
        };
        let table = |Table { kind, vouched }: Table| Table { kind: with_missing(kind), vouched };
        Inputs(self.0.into_iter().map(table).collect())
    }

    /// Sets whether the user vouches that unmarked inputs are responses to the plan with which they are read.
    ///
    /// Otherwise, it is an error to read them as responses or as counts of responses.
    #[must_use]
    pub fn unmarked(self, vouched: bool) -> Inputs {
        Inputs(self.0.into_iter().map(|table| Table { vouched, ..table }).collect())
    }

    /// Returns the name of the first input, for messages.
    pub(crate) fn name(&self) -> String {
        self.0.first().map_or(String::new(), Table::name)
    }

    /// Returns the locations of the inputs that are not open yet.
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
    /// Returns whether the user vouches for the input.
    pub(crate) fn is_vouched(&self) -> bool {
        self.vouched
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::At { location, .. } => location.name(),
            Kind::Open(input) => input.name().to_owned(),
        }
    }

    /// Returns the location, if the input is not open yet.
    pub fn location(&self) -> Option<&Location> {
        match &self.kind {
            Kind::At { location, .. } => Some(location),
            Kind::Open(_) => None,
        }
    }

    /// Opens the input.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`].
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
        // Files that do not exist are not reported as duplicates.
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
