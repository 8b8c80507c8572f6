//! The area of the plane of privacy and error that a front dominates.

/// Range of the decimal logarithm of mean squared errors; the reference is the upper end.
const LOG_UTILITY: (f64, f64) = (-6.0, 0.0);

/// Returns the area that the points, each of privacy and mean squared error, dominate.
///
/// Privacy is in `[0, 1]` with reference 0, the decimal logarithm of the error in `[-6, 0]` with reference 0. Larger is
/// better; the maximum is 6.
pub fn hypervolume(points: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (best, reference) = LOG_UTILITY;
    let place = |(privacy, mse): (f64, f64)| {
        let depth = reference - mse.log10().clamp(best, reference);
        (privacy > 0.0 && depth > 0.0).then_some((privacy.min(1.0), depth))
    };
    let mut steps: Vec<(f64, f64)> = points.into_iter().filter_map(place).collect();
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    // From the most private point on: the deepest one so far determines every smaller privacy.
    let (mut area, mut deepest) = (0.0, 0.0f64);
    for (i, &(privacy, depth)) in steps.iter().enumerate() {
        deepest = deepest.max(depth);
        area += deepest * (privacy - steps.get(i + 1).map_or(0.0, |next| next.0));
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_by_hand() {
        assert_eq!(hypervolume([]), 0.0);
        assert!((hypervolume([(0.5, 1e-3)]) - 1.5).abs() < 1e-12);
        // Two steps: 0.2 with depth 4, then up to 0.5 with depth 3; a dominated point adds nothing.
        let staircase = [(0.5, 1e-3), (0.2, 1e-4), (0.1, 1e-2)];
        assert!((hypervolume(staircase) - (0.2 * 4.0 + 0.3 * 3.0)).abs() < 1e-12);
        // Points beyond the range are clipped, and infinite errors have area 0.
        assert!((hypervolume([(2.0, 1e-9)]) - 6.0).abs() < 1e-12);
        assert_eq!(hypervolume([(0.5, f64::INFINITY), (0.5, f64::NAN), (-1.0, 1e-3)]), 0.0);
    }
}
