//! Draws a hundred people, some of them marked.

use serde::Serialize;

use crate::html_escape::{attribute, escaped, unmarked};

/// A hundred people, some of them marked.
///
/// Marked people are filled and the others are outlines, so that the picture works without color.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// Number of marked people.
    pub marked: usize,
    /// Alternative text.
    pub name: String,
    /// Legends of the marked people and of the others.
    pub key: [String; 2],
}

/// Number of people, and of people per row.
const PEOPLE: usize = 100;
const ROW: usize = 20;

/// Symbol of a person, 14 wide and 26 high.
const PERSON: &str = "<symbol id=\"person\" viewBox=\"0 0 14 26\"><circle cx=\"7\" cy=\"5\" r=\"3.6\"/>\
                      <path d=\"M2.2 24V14.5a4.8 4.8 0 0 1 9.6 0V24z\"/></symbol>";

impl Picture {
    pub(super) fn html(&self) -> String {
        let person = |at: usize| {
            let (x, y) = (at % ROW * 15, at / ROW * 28);
            let class = if at < self.marked { "yes" } else { "no" };
            format!("<use href=\"#person\" class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"14\" height=\"26\"/>")
        };
        let people: String = (0..PEOPLE).map(person).collect();
        let (width, height) = (ROW * 15, PEOPLE / ROW * 28);
        let key = |class: &str, text: &str| {
            format!(
                "<li><svg aria-hidden=\"true\" viewBox=\"0 0 14 26\"><use href=\"#person\" class=\"{class}\"/></svg> \
                 {}</li>\n",
                escaped(text)
            )
        };
        format!(
            "<figure>\n<svg class=\"people\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} \
             {height}\">{PERSON}{people}</svg>\n\
             <ul class=\"key\">\n{}{}</ul>\n</figure>\n",
            attribute(&self.name),
            key("yes", &self.key[0]),
            key("no", &self.key[1])
        )
    }

    /// Renders rows of letters with a legend.
    pub(super) fn text(&self) -> String {
        let person = |at: usize| if at < self.marked { '#' } else { '-' };
        let row = |row: usize| {
            let people: Vec<String> = (0..ROW).map(|at| person(row * ROW + at).to_string()).collect();
            format!("  {}\n", people.join(" "))
        };
        let rows: String = (0..PEOPLE / ROW).map(row).collect();
        let key =
            |sign: char, text: &str| format!("  {sign}  {}\n", super::visible(&unmarked(text)).replace('\n', " "));
        rows + &key('#', &self.key[0]) + &key('-', &self.key[1])
    }
}
