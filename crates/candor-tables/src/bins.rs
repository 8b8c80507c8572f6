//! Bins for numbers: how they are asked for, and where their edges are.

use std::collections::HashSet;

/// How a numeric column is put into bins.
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
    /// Reads `quantile:5`, `width:10` or `edges:18,65`.
    ///
    /// # Errors
    /// Says what would be right.
    pub fn parse(text: &str) -> Result<Bins, String> {
        let wrong = || format!("\"{text}\" is not a way to make bins; use quantile:5, width:10 or edges:18,65");
        let (kind, value) = text.split_once(':').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
        match kind {
            "quantile" => match value.trim().parse() {
                Ok(n) if (2..=1000).contains(&n) => Ok(Bins::Quantile(n)),
                _ => Err(format!("\"{value}\" is not a number of bins from 2 to 1000")),
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

/// The edges of the bins, which depend on the data except where the user gave them.
pub(crate) fn edges(bins: &Bins, numbers: &[f64]) -> Result<Vec<f64>, String> {
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
        return Err("has all its values in one bin; use narrower bins".to_owned());
    }
    Ok(edges)
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
