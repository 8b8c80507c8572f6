//! Cells of CSV files that a spreadsheet would run.

use std::borrow::Cow;

/// What a formula begins with, by the list of the Open Worldwide Application Security Project, wide forms included.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Whether a spreadsheet could take a cell for a formula. Plain numbers, such as -0.5, are none.
pub fn is_formula(cell: &str) -> bool {
    cell.starts_with(FORMULA) && !cell.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A cell that no spreadsheet runs: with a single quote before it, if it would be a formula.
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
