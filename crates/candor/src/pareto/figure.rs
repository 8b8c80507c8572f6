//! Figures of Pareto fronts.

use super::{FrontPoint, FrontRow, Fronts};
use crate::format::count;
use crate::plot::{Curve, Plot, Scale, Series, TradeOff};
use crate::verdict::{ROUGH, margin, of_hundred};

impl Fronts {
    /// Plots the fronts: margin of error by guess accuracy.
    pub fn plot(&self) -> TradeOff {
        let exact = self.is_exact();
        let place = |privacy: f64, mse: f64| (100.0 * (1.0 - privacy), margin(mse.sqrt()));
        let front = |points: &Vec<FrontPoint>| points.iter().map(|p| place(p.privacy, p.mse)).collect();
        let mut curves: Vec<(&str, Vec<(f64, f64)>)> =
            vec![("Warner, UP, FRAPP", self.warner.iter().map(|p| place(p.privacy, p.mse)).collect())];
        curves.extend(self.evolved.as_ref().map(|points| ("evolutionary search (square matrices)", front(points))));
        curves.extend(self.points.as_ref().filter(|_| exact).map(|points| ("exact: the best there is", front(points))));
        let wide = |points: &[(f64, f64)]| points.iter().any(|point| point.1 > ROUGH);
        let cut = curves.iter().any(|(_, points)| wide(points))
            && !curves.iter().all(|(_, points)| points.iter().all(|point| point.1 > ROUGH));
        let shown = |(name, points): (&str, Vec<(f64, f64)>)| {
            let mut points: Vec<(f64, f64)> = points.into_iter().filter(|point| !cut || point.1 <= ROUGH).collect();
            points.sort_by(|a, b| b.0.total_cmp(&a.0));
            Curve { name: name.to_owned(), points }
        };
        let luck = match self.largest_loss {
            Some(_) => 100.0 * (1.0 - self.range.1),
            None => 100.0 * self.prior.iter().copied().fold(0.0, f64::max),
        };
        let by_luck = match self.largest_loss {
            Some(largest) => format!(
                "Guesses are measured by a loss: 100 is no loss, 0 the largest, {largest}. Without any answer a guess \
                 has {} of 100.",
                of_hundred(luck / 100.0)
            ),
            None => format!("A guess is right in {} of 100 cases without any answer.", of_hundred(luck / 100.0)),
        };
        let cut = cut.then(|| format!(" Not drawn: margins above ±{ROUGH} points, too imprecise for any use."));
        let bound = match self.posterior_bound < 1.0 {
            true => format!(" No answer makes any category likelier than {}.", self.posterior_bound),
            false => String::new(),
        };
        TradeOff {
            guesses: match self.largest_loss {
                Some(_) => "accuracy of guesses about one answer",
                None => TradeOff::RIGHT,
            },
            title: self.finding(),
            subtitle: format!(
                "Margin of error of a share in percentage points, by how well an answer can be guessed: {} categories, \
                 {} respondents. Lower is better.",
                self.prior.len(),
                count(self.respondents as u64)
            ),
            curves: curves.into_iter().map(shown).collect(),
            luck,
            proven: exact,
            notes: by_luck + &bound + &cut.unwrap_or_default(),
        }
    }

    /// Compares the margins of the classical schemes with the best ones at the same privacy, in a sentence.
    fn finding(&self) -> String {
        let best = |row: &FrontRow| row.exact.or(row.evolved);
        let ratios = self.rows.iter().filter_map(|row| Some((row.warner? / best(row)?).sqrt()));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &r| (low.min(r), high.max(r)));
        match (low, high) {
            (_, ..1.05) => "Warner's rule is nearly the best there is here".to_owned(),
            (low, high) if format!("{low:.1}") == format!("{high:.1}") => {
                format!("{high:.1} times as precise as Warner's rule, at the same privacy")
            }
            (..1.05, high) => format!("Up to {high:.1} times as precise as Warner's rule, at the same privacy"),
            (low, high) => format!("{low:.1} to {high:.1} times as precise as Warner's rule, at the same privacy"),
        }
    }
}

/// Largest mean squared error that is drawn, unless all are larger. It is an error of ten percentage points.
const USELESS: f64 = 0.01;

/// Plots the classical front and any others.
pub fn front_plot(
    name: &str,
    title: &str,
    warner: Vec<(f64, f64)>,
    evolved: Option<Vec<(f64, f64)>>,
    exact: Option<Vec<(f64, f64)>>,
) -> Plot {
    let all = || warner.iter().chain(evolved.iter().flatten()).chain(exact.iter().flatten());
    let limit = if all().any(|p| p.1 <= USELESS) { USELESS } else { f64::INFINITY };
    let series = |name: &str, points: Vec<(f64, f64)>| Series {
        name: name.to_owned(),
        joined: true,
        points: points.into_iter().filter(|p| p.1 <= limit).collect(),
    };
    let mut drawn = vec![series("Warner, UP, FRAPP", warner.clone())];
    drawn.extend(evolved.clone().map(|points| series("evolutionary search (square matrices)", points)));
    drawn.extend(exact.clone().map(|points| series("exact: the best there is", points)));
    Plot {
        name: name.to_owned(),
        title: title.to_owned(),
        x: Scale::linear("privacy: how often the best guess is wrong (more is better)"),
        y: Scale::logarithmic("utility: mean squared error of shares (less is better)"),
        series: drawn,
    }
}
