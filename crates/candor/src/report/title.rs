//! Names of tables, groups and categories on a page.

use crate::estimate::Table;
use crate::html_escape::isolated;
use crate::locale::Language;

/// Returns the labels of one category for each attribute.
pub(crate) fn labels<'a>(
    attributes: &'a [String],
    categories: &'a [String],
    language: &'a Language,
) -> impl Iterator<Item = String> + 'a {
    attributes.iter().zip(categories).map(|(name, category)| language.label(name, category))
}

/// Returns the title of a table.
pub(crate) fn title(table: &Table, language: &Language) -> String {
    in_group(named(&table.attributes, &table.conditioning_attributes, language), &table.group, language)
}

/// Returns a title such as "Income", or "Income among those with the same Education".
pub(crate) fn named(attributes: &[String], given: &[String], language: &Language) -> String {
    let names = |names: &[String]| names.iter().map(|name| isolated(name)).collect::<Vec<_>>();
    let of = names(&attributes[given.len()..]).join(&format!(" {} ", language.report("and", &[])));
    match given {
        [] => of,
        given => language.report("among", &[("title", &of), ("names", &names(given).join(", "))]),
    }
}

/// Adds the group to a title, if there is one.
pub(crate) fn in_group(title: String, group: &[(String, String)], language: &Language) -> String {
    let one = |(name, category): &(String, String)| {
        format!("{} = {}", isolated(name), isolated(&language.label(name, category)))
    };
    match group {
        [] => title,
        group => {
            let group = group.iter().map(one).collect::<Vec<String>>().join(", ");
            language.report("in_group", &[("title", &title), ("group", &group)])
        }
    }
}
