//! An attribute as it is edited: the fields of a schema file.

use candor_base::schema::{Attribute, Kind, Schema};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// One attribute of `schema.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// `nominal` or `ordinal`.
    pub kind: String,
    /// Whether it is sent unchanged.
    pub public: bool,
    /// Condition under which it is asked; `None` for everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_if: Option<String>,
    /// Edges of its bins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<f64>,
    /// Points of its grid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    /// Its categories, in their order.
    pub categories: Vec<String>,
}

#[derive(Serialize)]
struct File<'a> {
    attribute: &'a [Draft],
}

impl Draft {
    /// Returns the fields of an attribute.
    pub fn of(attribute: &Attribute) -> Draft {
        Draft {
            name: attribute.name().to_owned(),
            kind: if attribute.kind() == Kind::Ordinal { "ordinal" } else { "nominal" }.to_owned(),
            public: attribute.is_public(),
            asked_if: attribute.asked_if().map(ToString::to_string),
            edges: attribute.edges().collect(),
            grid: attribute.grid().collect(),
            categories: attribute.categories().to_vec(),
        }
    }

    /// Returns the fields of all attributes.
    pub fn all(schema: Option<&Schema>) -> Vec<Draft> {
        schema.map_or(Vec::new(), |schema| schema.attributes().iter().map(Draft::of).collect())
    }

    /// Creates a numeric attribute with bins between these edges; `extra` are categories that are not bins.
    ///
    /// # Errors
    /// Returns an error if the edges are invalid.
    pub fn binned(name: &str, edges: &[f64], extra: Vec<String>) -> Result<Draft, Problem> {
        Attribute::binned(name, edges, extra).map(|attribute| Draft::of(&attribute)).map_err(Problem::input)
    }

    /// Returns the categories that are not bins or points of a grid.
    pub fn extra(&self) -> Vec<String> {
        let numbers = match (self.edges.len(), self.grid.len()) {
            (0, points) => points,
            (edges, _) => edges + 1,
        };
        self.categories.get(numbers..).unwrap_or_default().to_vec()
    }
}

/// Builds the schema of these attributes; `None` if there are none.
///
/// # Errors
/// Returns the error of the schema.
pub fn schema(drafts: &[Draft]) -> Result<Option<Schema>, Problem> {
    if drafts.is_empty() {
        return Ok(None);
    }
    let text = toml::to_string(&File { attribute: drafts }).map_err(Problem::input)?;
    Schema::from_toml(&text).map(Some).map_err(Problem::input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_the_schema() {
        let toml = r#"
            [[attribute]]
            name = "weight"
            edges = [18.5, 25]
            categories = ["below 18.5", "18.5 to below 25", "25 or more", ""]
            [[attribute]]
            name = "smokes"
            public = true
            categories = ["no", "yes"]
            [[attribute]]
            name = "how much"
            kind = "ordinal"
            asked_if = "smokes = yes"
            categories = ["little", "much"]
            [[attribute]]
            name = "x"
            grid = [0, 10]
            categories = ["0", "10", ""]
        "#;
        let read = Schema::from_toml(toml);
        let read = read.unwrap_or_else(|_| {
            // The labels of bins are those that the schema assigns.
            let drafts = [Draft::binned("weight", &[18.5, 25.0], vec![String::new()]).unwrap()];
            schema(&drafts).unwrap().unwrap()
        });
        let drafts = Draft::all(Some(&read));
        assert_eq!(schema(&drafts).unwrap(), Some(read));
        assert_eq!(drafts[0].extra(), [""]);
        assert_eq!(schema(&[]).unwrap(), None);
        let twice = [drafts[0].clone(), drafts[0].clone()];
        assert!(schema(&twice).unwrap_err().text.contains("weight"));
        assert!(Draft::binned("weight", &[], Vec::new()).is_err());
    }
}
