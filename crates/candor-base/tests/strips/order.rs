//! The strip itself: its order, its even spread over the table, and its components.

use candor_base::channel::{Cells, ChannelError, MAX_CELLS, Strip};
use candor_base::shape::Shape;
use num_rational::Ratio;
use proptest::prelude::*;

use super::{sides, strip};

fn over(sizes: &[usize], cells: usize) -> Strip {
    strip(&(0..sizes.len()).collect::<Vec<_>>(), sizes, cells, [1, 1])
}

/// Returns the strip order without the last cell, computed with fractions as in the definition.
fn by_fractions(shape: &Shape) -> Vec<u16> {
    let turn = |cell: usize| -> Ratio<u64> {
        let sum: Ratio<u64> =
            shape.codes(cell).iter().zip(shape.sizes()).map(|(&x, &a)| Ratio::new(x as u64, a as u64)).sum();
        sum.fract()
    };
    let mut cells: Vec<usize> = (0..shape.cells()).collect();
    cells.sort_by_key(|&cell| (turn(cell), cell));
    cells.pop();
    cells.into_iter().map(|cell| cell as u16).collect()
}

/// Returns every shape of one to four attributes with at most this many cells.
fn shapes(cells: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<Vec<usize>> = (2..=cells).map(|size| vec![size]).collect();
    while let Some(sizes) = open.pop() {
        let product: usize = sizes.iter().product();
        if sizes.len() < 4 {
            open.extend((2..=cells / product).map(|size| [&sizes[..], &[size]].concat()));
        }
        found.push(sizes);
    }
    found
}

#[test]
fn the_order_of_three_by_four() {
    let strip = over(&[3, 4], 8);
    let expected = [(0, 0), (1, 3), (2, 2), (0, 1), (1, 0), (2, 3), (0, 2), (1, 1)];
    assert_eq!(strip.members(), expected.map(|(x, y)| x * 4 + y));
}

#[test]
fn the_order_is_that_of_the_fractions() {
    let listed = shapes(60);
    assert!(listed.len() > 300, "{}", listed.len());
    for sizes in listed {
        let shape = Shape::new(sizes.clone());
        assert_eq!(over(&sizes, shape.cells() - 1).members(), by_fractions(&shape), "{sizes:?}");
    }
    let large = Shape::new(vec![300, 200]);
    assert_eq!(over(&[300, 200], 59_999).members(), by_fractions(&large));
}

/// Checks that the lines of each direction contain the same number of cells, up to one.
fn assert_even(strip: &Strip) {
    let (shape, m) = (strip.table(), strip.members().len());
    let mut inside = vec![false; shape.cells()];
    strip.members().iter().for_each(|&cell| inside[usize::from(cell)] = true);
    for (axis, &size) in shape.sizes().iter().enumerate() {
        let (least, most) = (m * size / shape.cells(), (m * size).div_ceil(shape.cells()));
        for line in shape.fibers(axis) {
            let held = line.filter(|&cell| inside[cell]).count();
            assert!((least..=most).contains(&held), "{:?} m {m} axis {axis}: {held}", shape.sizes());
        }
    }
}

#[test]
fn every_line_holds_its_share() {
    for sizes in shapes(48) {
        (1..sizes.iter().product()).for_each(|m| assert_even(&over(&sizes, m)));
    }
    for (sizes, m) in [(vec![256, 256], 1_000), (vec![300, 200], 777), (vec![2; 16], 40_000), (vec![65_535], 9)] {
        assert_even(&over(&sizes, m));
    }
}

/// Planes are less even: the margin of one of three attributes can take more than two values.
#[test]
fn planes_may_hold_more_than_one_number_more() {
    assert_eq!(over(&[3, 2, 2], 3).margin(&[0]), [2, 0, 1]);
}

#[test]
fn components_as_computed_elsewhere() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    let squares = over(&[3, 4], 3).mean_squares();
    assert_eq!(squares[1], 0.0, "exactly nothing");
    close(squares[2], 1.0 / 48.0);
    close(squares[3], 1.0 / 6.0);
    let squares = over(&[16, 15], 5).mean_squares();
    [0.000_954_861_1, 0.000_868_055_6, 0.018_576_388_9].iter().zip(&squares[1..]).for_each(|(q, &f)| close(f, *q));
    close(over(&[4, 5, 3], 7).mean_squares()[7], 0.055_555_555_6);
}

/// Returns the mean square of each component by projecting the indicator onto each attribute's mean or deviations.
fn projected(strip: &Strip) -> Vec<f64> {
    let shape = strip.table();
    let mut indicator = vec![0.0; shape.cells()];
    strip.members().iter().for_each(|&cell| indicator[usize::from(cell)] = 1.0);
    let component = |set: usize| {
        let mut table = indicator.clone();
        for axis in 0..shape.sizes().len() {
            for line in shape.fibers(axis) {
                let mean = line.clone().map(|cell| table[cell]).sum::<f64>() / shape.sizes()[axis] as f64;
                line.for_each(|cell| table[cell] = if set >> axis & 1 == 1 { table[cell] - mean } else { mean });
            }
        }
        table.iter().map(|value| value * value).sum::<f64>() / shape.cells() as f64
    };
    (0..1 << shape.sizes().len()).map(component).collect()
}

proptest! {
    #[test]
    fn components_are_projections(sizes in prop::collection::vec(2usize..7, 1..5), share in 0.0f64..1.0) {
        let table: usize = sizes.iter().product();
        let m = 1 + (share * (table - 1) as f64) as usize;
        prop_assume!(m < table);
        let strip = over(&sizes, m);
        let (found, expected) = (strip.mean_squares(), projected(&strip));
        for (set, (q, p)) in found.iter().zip(&expected).enumerate() {
            prop_assert!((q - p).abs() < 1e-12, "{:?} m {} set {}: {} {}", sizes, m, set, q, p);
            prop_assert!(*p > 1e-12 || *q == 0.0, "{:?} m {} set {}: {} is not nothing", sizes, m, set, q);
        }
    }

    /// The weights found for an epsilon are the largest that stay within it.
    #[test]
    fn weights_within_an_epsilon(
        sizes in prop::collection::vec(2usize..20, 1..4), share in 0.0f64..1.0, epsilon in 1e-6f64..30.0,
    ) {
        let table: usize = sizes.iter().product();
        let m = 1 + (share * (table - 2) as f64) as usize;
        let places: Vec<usize> = (0..sizes.len()).collect();
        let made = Strip::within(places.clone(), sizes.clone(), m, epsilon).unwrap();
        let certified = |strip: Strip| candor_base::channel::Channel::from(strip).record_epsilon().as_f64();
        let [hit, all] = made.weights();
        prop_assert_eq!(u128::from(hit) + u128::from(all), 1 << 64);
        let found = certified(made);
        prop_assert!(found <= epsilon, "{} {}", found, epsilon);
        if all > 1 {
            let more = certified(Strip::new(places, sizes, m, [hit + 1, all - 1]).unwrap());
            prop_assert!(more > epsilon * (1.0 - 1e-14), "{} {}", more, epsilon);
        }
    }
}

#[test]
fn a_box_holds_every_combination_of_the_first_categories() {
    let boxed = strip(&[0, 1, 2], &[3, 4, 2], sides(&[2, 3, 1]), [1, 1]);
    assert_eq!(boxed.members(), [0, 2, 4, 8, 10, 12]);
    assert_eq!(boxed.cells(), &sides(&[2, 3, 1]));
    assert_eq!(boxed.margin(&[1]), [2, 2, 2, 0]);
    // Product of each attribute's part: r (1 - r) of its own component, r^2 of the mean.
    let parts: [[f64; 2]; 3] = [2.0 / 3.0, 0.75, 0.5].map(|r| [r * r, r * (1.0 - r)]);
    for (set, square) in boxed.mean_squares().into_iter().enumerate() {
        let expected: f64 = (0..3).map(|axis| parts[axis][set >> axis & 1]).product();
        assert!((square - expected).abs() < 1e-15, "{set}: {square} for {expected}");
    }
}

#[test]
fn what_is_no_strip() {
    let refused = |places: &[usize], sizes: &[usize], cells, weights| {
        Strip::new(places.to_vec(), sizes.to_vec(), cells, weights).unwrap_err()
    };
    assert_eq!(refused(&[], &[], 1, [1, 1]), ChannelError::NoAttribute);
    for (places, sizes) in [(vec![1, 0], vec![3, 4]), (vec![1, 1], vec![3, 4]), (vec![0, 1], vec![3])] {
        assert_eq!(refused(&places, &sizes, 1, [1, 1]), ChannelError::Places, "{places:?}");
    }
    for categories in [0, 1, 65_536] {
        let expected = ChannelError::Categories { attribute: 1, categories };
        assert_eq!(refused(&[0, 1], &[3, categories], 1, [1, 1]), expected);
    }
    assert_eq!(refused(&[0, 1], &[256, 257], 1, [1, 1]), ChannelError::TableSize(256 * 257));
    // More cells than can be counted.
    assert_eq!(refused(&(0..70).collect::<Vec<_>>(), &[2; 70], 1, [1, 1]), ChannelError::TableSize(usize::MAX));
    assert!(Strip::new(vec![0, 1], vec![256, 256], MAX_CELLS - 1, [1, 1]).is_ok());
    for cells in [0, 12, 13] {
        assert_eq!(refused(&[0, 1], &[3, 4], cells, [1, 1]), ChannelError::StripSize(cells, 12));
    }
    for chosen in [&[1][..], &[1, 1, 1], &[0, 2], &[3, 2], &[2, 4], &[]] {
        let made = Strip::new(vec![0, 1], vec![3, 4], sides(chosen), [1, 1]);
        assert_eq!(made.unwrap_err(), ChannelError::Sides, "{chosen:?}");
    }
    for listed in [&[][..], &[1, 1], &[4, 2], &[12], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[usize::MAX]] {
        let made = Strip::new(vec![0, 1], vec![3, 4], Cells::Listed { listed: listed.to_vec() }, [1, 1]);
        assert_eq!(made.unwrap_err(), ChannelError::Listed, "{listed:?}");
    }
    assert_eq!(refused(&[0], &[3], 1, [0, 1]), ChannelError::ZeroWeight { part: 0 });
    assert_eq!(refused(&[0], &[3], 1, [1, 0]), ChannelError::ZeroWeight { part: 1 });
    assert_eq!(refused(&[0], &[3], 1, [u64::MAX, 2]), ChannelError::TotalWeight);
    assert!(Strip::new(vec![0], vec![3], 1, [u64::MAX, 1]).is_ok());
    let within = |epsilon: f64| Strip::within(vec![0], vec![3], 1, epsilon).unwrap_err();
    for epsilon in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(matches!(within(epsilon), ChannelError::Epsilon(_)), "{epsilon}");
    }
    for epsilon in [0.0, 1e-30] {
        assert_eq!(within(epsilon), ChannelError::NothingTold(epsilon));
    }
}
