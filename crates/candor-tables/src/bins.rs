//! Bins for numbers: their specification and their edges.

use std::collections::HashSet;

/// Specification of the bins of a numeric column.
#[derive(Clone, Debug, PartialEq)]
pub enum Bins {
    /// This many bins with about equally many records each.
    Quantile(usize),
    /// Bins of this width, with edges at its multiples.
    Width(f64),
    /// Bins between these edges.
    Edges(Vec<f64>),
}

impl Bins {
    /// Parses `quantile:5`, `width:10` or `edges:18,65`.
    ///
    /// # Errors
    /// Returns an error message with the expected forms.
    pub fn parse(text: &str) -> Result<Bins, String> {
        let wrong = || format!("\"{text}\" is not a way to make bins; use quantile:5, width:10 or edges:18,65");
        let (kind, value) = text.split_once(':').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
        match kind {
            "quantile" => match value.trim().parse() {
                Ok(n) if (2..=1000).contains(&n) => Ok(Bins::Quantile(n)),
                _ => Err(format!("invalid number of bins \"{value}\"; expected 2 to 1000")),
            },
            "width" => match number(value)? {
                width if width > 0.0 => Ok(Bins::Width(width)),
                _ => Err(format!("a bin cannot have width {value}")),
            },
            "edges" => Ok(Bins::Edges(value.split(',').map(number).collect::<Result<_, _>>()?)),
            _ => Err(wrong()),
        }
    }
}

/// Returns the edges of the bins, which depend on the data unless the user specified them.
fn edges(bins: &Bins, numbers: &[f64]) -> Result<Vec<f64>, String> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
        return Err("has no numbers to put into bins".to_owned());
    };
    let edges = match bins {
        Bins::Edges(edges) => edges.clone(),
        Bins::Quantile(n) => {
            let cut = |i: usize| sorted[i * sorted.len() / n];
            let mut seen = HashSet::new();
            // An edge at the smallest value would leave the bin below it empty.
            (1..*n).map(cut).filter(|&edge| edge > least && seen.insert(edge.to_bits())).collect()
        }
        Bins::Width(width) => {
            let (first, last) = ((least / width).floor() + 1.0, (most / width).floor());
            let bins = last - first + 2.0;
            if bins.is_nan() || bins > 1001.0 {
                return Err(format!("would take more than 1000 bins of width {width}"));
            }
            let edges: Vec<f64> = (0..bins as usize - 1).map(|i| (first + i as f64) * width).collect();
            if edges.windows(2).any(|pair| pair[0] >= pair[1]) || edges.iter().any(|edge| !edge.is_finite()) {
                return Err(format!("has numbers too large for bins of width {width}"));
            }
            edges
        }
    };
    if edges.is_empty() {
        return Err("has all its values in one bin; name the edges of narrower bins".to_owned());
    }
    Ok(edges)
}

/// Returns the edges of bins of a column; an error suggests round edges if possible.
pub(crate) fn edges_of(name: &str, bins: &Bins, numbers: &[f64]) -> Result<Vec<f64>, String> {
    edges(bins, numbers).map_err(|problem| match suggested(numbers.iter().copied()) {
        Some(round) => format!("{problem}, for instance with `bins {name}=edges:{round}`"),
        None => problem,
    })
}

/// Suggests round edges for numbers in this range, as text: at most six multiples of 1, 2 or 5 times a power of
/// ten.
///
/// Round edges do not reveal a value. Still, edges chosen from the wording of the question are better.
pub(crate) fn suggested(numbers: impl Iterator<Item = f64>) -> Option<String> {
    let (least, most) = numbers
        .filter(|number| number.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), n| (a.min(n), b.max(n)));
    let about = (most - least) / 5.0;
    if !(about.is_finite() && about > 0.0) {
        return None;
    }
    let power = about.log10().floor();
    let steps = [1.0, 2.0, 5.0, 10.0].map(|times| (times, times * 10f64.powf(power)));
    let (times, step) = steps.into_iter().find(|(_, step)| *step >= about * (1.0 - 1e-9))?;
    // Integer multiples, divided last, so that decimals are exact as written.
    let edge = |multiple: f64| match power < 0.0 {
        true => multiple * times / 10f64.powf(-power),
        false => multiple * step,
    };
    let first = (least / step).floor() + 1.0;
    let edges: Vec<f64> = (0..6).map(|i| edge(first + f64::from(i))).take_while(|edge| *edge < most).collect();
    let told = edges.iter().map(f64::to_string).collect::<Vec<String>>().join(",");
    (!edges.is_empty() && edges.windows(2).all(|pair| pair[0] < pair[1])).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_read_as_written() {
        assert_eq!(Bins::parse("quantile:5"), Ok(Bins::Quantile(5)));
        assert_eq!(Bins::parse("width:2.5"), Ok(Bins::Width(2.5)));
        assert_eq!(Bins::parse("edges:18,65"), Ok(Bins::Edges(vec![18.0, 65.0])));
        for bad in ["five", "quantile:1", "quantile:x", "width:0", "width:-1", "edges:", "edges:1,a", "deciles:3"] {
            assert!(Bins::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn suggested_edges_are_round() {
        let told = |numbers: &[f64]| suggested(numbers.iter().copied());
        assert_eq!(told(&[17.0, 93.0, 40.0]).as_deref(), Some("20,40,60,80"));
        assert_eq!(told(&[0.013, 0.97]).as_deref(), Some("0.2,0.4,0.6,0.8"));
        assert_eq!(told(&[-31_250.0, 812_345.5]).as_deref(), Some("0,200000,400000,600000,800000"));
        assert_eq!(told(&[1.0, 1.0]), None);
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[f64::NAN, f64::INFINITY]), None);
        for (least, most) in [(1e300, 1.7e308), (-1.7e308, 1.7e308), (5e-324, 1e-323), (1e17, 1e17 + 64.0)] {
            if let Some(text) = told(&[least, most]) {
                assert!(Bins::parse(&format!("edges:{text}")).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn edges_of_bins() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(edges(&Bins::Quantile(4), &numbers).unwrap(), [25.0, 50.0, 75.0]);
        assert_eq!(edges(&Bins::Width(30.0), &numbers).unwrap(), [30.0, 60.0, 90.0]);
        assert_eq!(edges(&Bins::Edges(vec![5.0]), &numbers).unwrap(), [5.0]);
        let mostly_zero = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0];
        assert_eq!(edges(&Bins::Quantile(3), &mostly_zero).unwrap(), [1.0]);
        assert!(edges(&Bins::Quantile(3), &[7.0; 9]).unwrap_err().contains("one bin"));
        assert!(edges(&Bins::Quantile(3), &[]).is_err());
        assert!(edges(&Bins::Width(0.001), &numbers).unwrap_err().contains("1000"));
        let large = [1e17, 1e17 + 32.0, 1e17 + 64.0];
        assert!(edges(&Bins::Width(1.0), &large).is_err());
        assert!(edges(&Bins::Width(1e-310), &[5.0, 6.0]).is_err());
    }
}
