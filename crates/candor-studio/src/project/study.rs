//! The settings of a study, `study.json` in its folder. Schema, plan and texts have files of their own.

use candor::rows::asked;
use candor::trade_off::{TradeOffOptions, model_tables};
use candor_base::schema::Schema;
use candor_runtime::names::quoted;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::draft::Draft;

/// The tables to publish, the number of respondents, and the other settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Study {
    /// Increases with every change, so that a window notices changes of another one.
    pub revision: u64,
    /// Title of the study [default: the folder's name].
    pub title: Option<String>,
    /// File with true records, in the study's folder.
    pub data: Option<String>,
    /// Codes of missing values, if not the usual ones.
    pub missing: Option<Vec<String>>,
    /// Dropped columns as they were, so that they can be restored.
    pub aside: Vec<Draft>,
    /// Number of respondents.
    pub respondents: Option<f64>,
    /// The record-level epsilon.
    pub epsilon: Option<f64>,
    /// The tables to publish.
    pub tables: Vec<Wanted>,
    /// Attributes whose means are published.
    pub means: Vec<String>,
    /// Regressions to publish.
    pub models: Vec<Model>,
    /// Sampling design: columns of the data that are kept with the responses.
    pub sample: Sample,
    /// Subpopulation of the results: a category of a public attribute.
    pub only: Option<(String, String)>,
    /// The languages of the page for respondents.
    pub languages: Vec<String>,
    /// Whether responses are among the published files.
    pub publish_responses: bool,
}

/// A table: shares of an attribute, overall or within groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Attribute of the shares.
    pub of: String,
    /// Attributes of the groups; empty for overall shares.
    pub by: Vec<String>,
}

/// A regression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The outcome.
    pub outcome: String,
    /// The predictors.
    pub predictors: Vec<String>,
}

/// Columns of the sampling design.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    /// Sampling weights.
    pub weights: Option<String>,
    /// Strata.
    pub strata: Option<String>,
    /// Primary sampling units.
    pub psu: Option<String>,
}

impl Sample {
    /// Returns the columns, each once.
    pub fn columns(&self) -> Vec<String> {
        let mut all: Vec<String> = [&self.weights, &self.strata, &self.psu].into_iter().flatten().cloned().collect();
        all.dedup();
        all
    }
}

impl Model {
    /// Returns the formula: `y ~ a + b`.
    pub fn formula(&self) -> String {
        let names: Vec<String> = self.predictors.iter().map(|name| term(name)).collect();
        format!("{} ~ {}", term(&self.outcome), names.join(" + "))
    }

    fn attributes(&self) -> Vec<String> {
        [std::slice::from_ref(&self.outcome), &self.predictors].concat()
    }
}

/// Returns a name in a formula, in backticks if necessary.
fn term(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}

impl Wanted {
    /// Returns the attributes for the design, groups first.
    fn list(&self) -> Vec<String> {
        let of = std::slice::from_ref(&self.of);
        [&self.by, of].concat()
    }
}

impl Study {
    /// Returns the tables that a plan is designed for, in the syntax of the command; `None` if there are none.
    pub fn design_tables(&self) -> Option<String> {
        let mut lists: Vec<Vec<String>> = self.tables.iter().map(Wanted::list).collect();
        lists.extend(self.models.iter().flat_map(|model| model_tables(&model.attributes())));
        let named = |lists: &[Vec<String>], name: &String| lists.iter().any(|list| list.contains(name));
        for mean in &self.means {
            if !named(&lists, mean) {
                lists.push(vec![mean.clone()]);
            }
        }
        let mut seen: Vec<Vec<String>> = Vec::new();
        lists.retain(|list| {
            let mut sorted = list.clone();
            sorted.sort();
            let fresh = !seen.contains(&sorted);
            seen.push(sorted);
            fresh
        });
        let text = |list: &Vec<String>| list.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
        (!lists.is_empty()).then(|| lists.iter().map(text).collect::<Vec<_>>().join(";"))
    }

    /// Returns the options of the trade-off.
    pub fn trade_off(&self) -> Option<TradeOffOptions> {
        Some(TradeOffOptions::new(self.respondents?, self.design_tables()?))
    }

    /// Returns the tables to estimate, in the syntax of the command: the chosen ones, and every question in them, in a
    /// mean or in an outcome by itself.
    pub fn estimate_tables(&self) -> Option<String> {
        let mut all: Vec<String> = Vec::new();
        let mut add = |of: &String, by: &[String]| {
            let attributes: Vec<String> = by.iter().chain([of]).cloned().collect();
            let text = asked(&attributes, by);
            if !all.contains(&text) {
                all.push(text);
            }
        };
        self.tables.iter().for_each(|table| add(&table.of, &table.by));
        self.tables.iter().for_each(|table| add(&table.of, &[]));
        self.means.iter().for_each(|mean| add(mean, &[]));
        self.models.iter().for_each(|model| add(&model.outcome, &[]));
        (!all.is_empty()).then(|| all.join(";"))
    }

    /// Returns the means to estimate, in the syntax of the command.
    pub fn mean_text(&self) -> String {
        self.means.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(";")
    }

    /// Returns the condition of the results, in the syntax of the command.
    pub fn condition(&self) -> Option<String> {
        let (name, category) = self.only.as_ref()?;
        let word = |text: &str| format!("'{}'", text.replace('\'', "''"));
        Some(format!("{} = {}", word(name), word(category)))
    }

    /// Returns the request that produced a current plan, as recorded in the plan.
    pub fn request(&self) -> Option<Value> {
        let TradeOffOptions { respondents, tables, .. } = self.trade_off()?;
        Some(json!({"method": "workload", "epsilon": self.epsilon?, "respondents": respondents, "tables": tables}))
    }

    /// Removes everything that names an attribute missing from the schema.
    pub fn keep_to(&mut self, schema: &Schema) {
        let known = |name: &String| schema.attributes().iter().any(|attribute| attribute.name() == name);
        self.tables.retain(|table| known(&table.of) && table.by.iter().all(known));
        self.means.retain(known);
        self.models.retain(|model| model.attributes().iter().all(known));
        let public = |name: &String| schema.attributes().iter().any(|a| a.name() == name && a.is_public());
        self.only = self.only.take().filter(|(name, _)| public(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(of: &str, by: &[&str]) -> Wanted {
        Wanted { of: of.to_owned(), by: by.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn tables_are_written_as_the_command_takes_them() {
        let mut study = Study {
            tables: vec![wanted("a", &["b"]), wanted("b", &["a"]), wanted("a", &[]), wanted("x,y", &["b", "c"])],
            means: vec!["a".to_owned(), "n".to_owned()],
            respondents: Some(10.0),
            ..Study::default()
        };
        assert_eq!(study.design_tables().unwrap(), "b,a;a;b,c,\"x,y\";n");
        assert_eq!(study.estimate_tables().unwrap(), "a | b;b | a;a;\"x,y\" | b,c;b;\"x,y\";n");
        study.only = Some(("it's".to_owned(), "o'k".to_owned()));
        assert_eq!(study.condition().unwrap(), "'it''s' = 'o''k'");
        study.models = vec![Model { outcome: "a".to_owned(), predictors: vec!["b c".to_owned(), "n".to_owned()] }];
        assert_eq!(study.models[0].formula(), "a ~ \"b c\" + n");
        assert!(study.design_tables().unwrap().contains("a,b c;a,n;b c,n"));
        let schema = Schema::with_sizes(&[2]).unwrap();
        study.keep_to(&schema);
        assert_eq!((study.design_tables(), study.estimate_tables(), study.only), (None, None, None));
    }
}
