//! Layout of a two-way table as rows and columns of row percentages.

use candor_analysis::conditional_shares::{Conditioning, shares_among};
use candor_analysis::estimate::Options;
use candor_base::plan::Plan;

use crate::counts::Counts;
use crate::estimate::{Basis, Cell, EstimateOptions, Estimates, Table, estimate};
use crate::locale::Language;
use crate::page::{CrossTable, Share};

/// Maximum number of columns that fit a page.
const MAX_COLUMNS: usize = 12;

/// Lays out a two-way table from its conditional shares and the one-way tables.
///
/// Returns `None` if it does not fit the page or is not identifiable.
pub(crate) fn cross_table(
    plan: &Plan,
    counts: &Counts,
    (estimates, table): (&Estimates, &Table),
    pair: [usize; 2],
    language: &Language,
) -> Option<CrossTable> {
    let [rows, columns] = pair.map(|attribute| &plan.schema().attributes()[attribute]);
    if columns.categories().len() > MAX_COLUMNS {
        return None;
    }
    let options = Options::default().confidence(estimates.confidence);
    let among = Conditioning { given: 1, without_missing: false };
    let tally = counts.table(&pair)?;
    let basis = Basis::new(tally, estimates.standard);
    let shares = shares_among(plan, tally, among, &options).cells.ok()?;
    let share = |row: usize, column: usize| {
        let found = shares.iter().find(|share| share.codes[..] == [row as u16, column as u16])?;
        known(&Cell::new(Vec::new(), &found.share, found.effective, basis.with_degrees(found.degrees)))
    };
    let line = |row: usize| (0..columns.categories().len()).map(|column| share(row, column)).collect();
    let labels = |attribute: &candor_base::schema::Attribute| {
        attribute.categories().iter().map(|label| language.label(attribute.name(), label)).collect()
    };
    let [row_totals, column_totals] =
        [margin(plan, counts, pair[0], estimates)?, margin(plan, counts, pair[1], estimates)?];
    let joint: Vec<Option<Share>> = table.cells.iter().map(known).collect();
    Some(CrossTable {
        names: [rows.name().to_owned(), columns.name().to_owned()],
        rows: labels(rows),
        columns: labels(columns),
        cells: (0..rows.categories().len()).map(line).collect(),
        shares: joint.chunks(columns.categories().len()).map(<[_]>::to_vec).collect(),
        row_totals,
        column_totals,
        people: table.respondents,
    })
}

/// Returns the shares of one attribute.
fn margin(plan: &Plan, counts: &Counts, attribute: usize, estimates: &Estimates) -> Option<Vec<Option<Share>>> {
    let groups = [(Vec::new(), vec![counts.table(&[attribute])?.clone()])].into();
    let counts = Counts::new(plan, &[], groups, counts.responses()).ok()?;
    let Estimates { confidence, standard, .. } = *estimates;
    let options = EstimateOptions { confidence, standard, ..EstimateOptions::default() };
    let tables: Vec<Table> = estimate(plan, &counts, &options).ok()?.tables;
    let cells: Vec<Option<Share>> = tables.first()?.cells.iter().map(known).collect();
    (cells.len() == plan.schema().size(attribute)).then_some(cells)
}

/// Returns an estimated share with its uncertainty.
pub(crate) fn known(cell: &Cell) -> Option<Share> {
    let (standard_error, published) = (cell.standard_error?, cell.published?);
    Some(Share { estimate: cell.estimate, standard_error, low: cell.low?, high: cell.high?, published })
}
