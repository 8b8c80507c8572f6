//! Protects cells of CSV files against being executed as formulas by spreadsheets.

use std::borrow::Cow;

/// First characters of formulas, as listed by the Open Worldwide Application Security Project, including
/// full-width forms.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns whether a spreadsheet could read a cell as a formula. Plain numbers such as -0.5 are not formulas.
pub fn is_formula(cell: &str) -> bool {
    cell.starts_with(FORMULA) && !cell.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Escapes a cell with a leading single quote if it could be a formula.
pub fn safe_cell(cell: &str) -> Cow<'_, str> {
    match is_formula(cell) {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_quoted_and_nothing_else() {
        for formula in [
            "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "-inf", "-5 to 3", "+1e999",
            "-1\n-1",
        ] {
            assert_eq!(safe_cell(formula), format!("'{formula}"));
        }
        for harmless in ["", "1+1", "'=1+1", "-5", "+3.25", "-1e-7", "-.5", " =1", "a=1", "no", "−5"] {
            assert_eq!(safe_cell(harmless), harmless);
        }
    }
}
