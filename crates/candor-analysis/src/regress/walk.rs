//! P-values and intervals from one statistic, walked outward from the best fit.
//!
//! Let `r(B)` be the signed root of the score statistic of "the coefficient is B", and `B0` the value of the best
//! fit. Then `S*(B) = max over the path from B0 to B of r^2, less r(B0)^2`. The interval contains all `B` with
//! `S*(B)` up to the critical value, and the p-value is that of `S*(0)`. So the two agree for all data.

use super::RegressError;

/// Tolerance within which a log-likelihood is as good as the best.
const AS_WELL: f64 = 1e-6;

/// A step is halved until the root in its middle is this close to the mean of its ends.
const STRAIGHT: f64 = 0.0125;

/// Growth factor of steps.
const GROWTH: f64 = 1.35;

/// First step in standard errors, for small and for large data, whose statistic is nearly linear.
const FIRST: f64 = 0.25;
const FIRST_OF_MUCH: f64 = 1.0;

/// Shortest step, in units of the column.
const SHORTEST: f64 = 1e-4;

/// Accuracy of a limit, relative to it or to the unit.
const ACCURACY: f64 = 1e-9;

/// Maximum number of steps, and of restarts at a better fit.
const STEPS: usize = 400;
const RESTARTS: usize = 5;

/// The best fit with a fixed coefficient.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// Value of the coefficient.
    pub(super) at: f64,
    pub(super) theta: Vec<f64>,
    /// Response of the other parameters to the coefficient.
    pub(super) follows: Vec<f64>,
    /// Standard error of the coefficient, by the information at this point.
    pub(super) error: f64,
    /// Signed root of the score statistic.
    pub(super) root: f64,
    /// Variance of the projected score, whose weights are `follows`.
    pub(super) variance: f64,
    /// Log-likelihood; `None` for an estimating equation.
    pub(super) value: Option<f64>,
    /// Degrees of freedom of Student's t, from which the root was computed.
    pub(super) df: Option<f64>,
    /// Whether the root is from one step with the variance for few clusters.
    pub(super) one_step: bool,
}

/// Score statistic of one coefficient.
pub(super) trait Profile {
    /// Returns the best fit with a fixed coefficient, searched from a nearby fit.
    fn at(&self, value: f64, near: &Point) -> Result<Point, RegressError>;

    /// Returns the overall best fit, from a point that is better than the start; `None` without a likelihood.
    fn restart(&self, near: &Point) -> Result<Option<Point>, RegressError>;
}

/// Range and step sizes of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Lowest and highest value; a limit beyond them does not count.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Unit of the column; steps are at most a quarter of it.
    pub(super) unit: f64,
    /// Critical value of `S*`.
    pub(super) critical: f64,
    /// Whether there is enough data to take long steps first.
    pub(super) much: bool,
}

/// Results for a coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// Value of the best fit.
    pub(super) best: f64,
    /// Standard error, by the information at the best fit.
    pub(super) error: f64,
    /// Confidence limits; `None` if there is none.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// `S*(0)`, chi-square with one degree of freedom.
    pub(super) statistic: f64,
    /// Degrees of freedom of Student's t at the best fit, from which the statistic was computed.
    pub(super) df: Option<f64>,
    /// Whether the statistic at the best fit is from one step with the variance for few clusters.
    pub(super) one_step: bool,
}

/// Result of a walk in one direction.
enum Side {
    Done { limit: Option<f64>, at_zero: Option<f64> },
    Better(Point),
}

/// Walks from the best fit in both directions.
pub(super) fn walk(profile: &dyn Profile, mut start: Point, range: Range) -> Result<Found, RegressError> {
    let mut restarts = 0;
    loop {
        let inside = start.at.clamp(range.low, range.high);
        if inside != start.at {
            start = profile.at(inside, &start)?;
        }
        let up = side(profile, &start, range, 1.0, restarts < RESTARTS)?;
        let (up, down) = match up {
            Side::Better(_) => (up, None),
            Side::Done { .. } => (up, Some(side(profile, &start, range, -1.0, restarts < RESTARTS)?)),
        };
        match (up, down) {
            (Side::Done { limit: high, at_zero: up }, Some(Side::Done { limit: low, at_zero: down })) => {
                let statistic = up.or(down).unwrap_or(0.0);
                let Point { at: best, error, df, one_step, .. } = start;
                return Ok(Found { best, error, low, high, statistic, df, one_step });
            }
            (Side::Better(point), _) | (_, Some(Side::Better(point))) => {
                start = profile.restart(&point)?.unwrap_or(point);
                restarts += 1;
            }
            (_, None) => {}
        }
    }
}

/// `S*` along a walk.
struct Way<'a> {
    start: &'a Point,
    most: f64,
}

impl Way<'_> {
    /// Returns `S*` at a point, if no earlier value was larger.
    fn statistic(&self, point: &Point) -> f64 {
        let as_well = point.value.zip(self.start.value).is_some_and(|(own, best)| own >= best - AS_WELL);
        if as_well { 0.0 } else { point.root.powi(2) - self.start.root.powi(2) }
    }

    fn pass(&mut self, point: &Point) {
        self.most = self.most.max(self.statistic(point));
    }

    fn is_better(&self, point: &Point) -> bool {
        point.value.zip(self.start.value).is_some_and(|(own, best)| own > best + AS_WELL)
    }
}

/// Returns the first step: a fraction of a standard error, and at most a quarter of the unit.
fn first_step(start: &Point, range: Range) -> f64 {
    let quarter = 0.25 * range.unit;
    let step = match range.much {
        true => FIRST_OF_MUCH * start.error,
        false => (FIRST * start.error).min(quarter),
    };
    if step.is_finite() && step > 0.0 { step } else { quarter }
}

/// Returns the end of a step, which stops at 0 (always a point of the walk) and at the end of the range.
fn goal(from: f64, step: f64, end: f64, direction: f64) -> f64 {
    let goal = from + direction * step;
    let goal = if direction * from < 0.0 && direction * goal >= 0.0 { 0.0 } else { goal };
    if direction * (goal - end) > 0.0 { end } else { goal }
}

fn side(
    profile: &dyn Profile,
    start: &Point,
    range: Range,
    direction: f64,
    may_restart: bool,
) -> Result<Side, RegressError> {
    let end = if direction > 0.0 { range.high } else { range.low };
    let mut way = Way { start, most: 0.0 };
    let (mut last, mut limit) = (start.clone(), None);
    let mut at_zero = (start.at == 0.0).then_some(0.0);
    let mut step = first_step(start, range);
    for _ in 0..STEPS {
        let ahead = |value: f64| direction * (value - last.at) > 0.0;
        if !ahead(end) || (limit.is_some() && !ahead(0.0)) {
            break;
        }
        let goal = goal(last.at, step, end, direction);
        let mut next = profile.at(goal, &last)?;
        // Beyond the limit, only the value at zero matters.
        if limit.is_none() {
            let (middle, reached, halved) = straight(profile, &last, next, range)?;
            next = reached;
            if halved {
                step = (next.at - last.at).abs();
            }
            if may_restart && [&middle, &next].into_iter().any(|point| way.is_better(point)) {
                return Ok(Side::Better(if way.is_better(&next) { next } else { middle }));
            }
            for point in [middle, next.clone()] {
                if limit.is_none() && way.most.max(way.statistic(&point)) > range.critical {
                    limit = Some(crossing(profile, &way, &last, &point, range)?);
                }
                way.pass(&point);
                last = point;
            }
        } else {
            way.pass(&next);
            last = next;
        }
        if last.at == 0.0 {
            at_zero = Some(way.most);
        }
        step *= if limit.is_some() { 2.0 } else { GROWTH };
    }
    if at_zero.is_none() && direction * last.at < 0.0 {
        let zero = profile.at(0.0, &last)?;
        if limit.is_none() && way.most.max(way.statistic(&zero)) > range.critical {
            limit = Some(crossing(profile, &way, &last, &zero, range)?);
        }
        way.pass(&zero);
        at_zero = Some(way.most);
    }
    Ok(Side::Done { limit, at_zero })
}

/// Halves a step until the root in its middle is near the mean of its ends; returns the middle and the end.
fn straight(
    profile: &dyn Profile,
    last: &Point,
    mut next: Point,
    range: Range,
) -> Result<(Point, Point, bool), RegressError> {
    let mut halved = false;
    loop {
        let middle = profile.at(0.5 * (last.at + next.at), last)?;
        let bent = (middle.root - 0.5 * (last.root + next.root)).abs() > STRAIGHT;
        if !bent || (next.at - last.at).abs() < SHORTEST * range.unit {
            return Ok((middle, next, halved));
        }
        (next, halved) = (middle, true);
    }
}

/// Finds where `S*` crosses the critical value between two points, by secants of its root, which is nearly a line.
///
/// A secant that leaves the same end twice takes half of that end's value (the Illinois rule).
fn crossing(
    profile: &dyn Profile,
    way: &Way<'_>,
    inside: &Point,
    outside: &Point,
    range: Range,
) -> Result<f64, RegressError> {
    let over = |point: &Point| way.most.max(way.statistic(point)) - range.critical;
    let aside = range.critical + way.start.root.powi(2);
    let bent = |over: f64| (aside + over).max(0.0).sqrt() - aside.sqrt();
    let (mut low, mut high) = (inside.clone(), outside.clone());
    let (mut below, mut above) = (bent(over(&low)), bent(over(&high)));
    let mut was_outside = None;
    for _ in 0..60 {
        let width = (high.at - low.at).abs();
        if width <= ACCURACY * range.unit.max(high.at.abs()) {
            break;
        }
        let share = (below / (below - above)).clamp(0.001, 0.999);
        let middle = profile.at(low.at + share * (high.at - low.at), &low)?;
        let own = over(&middle);
        if own.abs() < 1e-9 {
            return Ok(middle.at);
        }
        let (is_outside, line) = (own > 0.0, bent(own));
        let kept = if was_outside == Some(is_outside) { 0.5 } else { 1.0 };
        was_outside = Some(is_outside);
        if is_outside {
            (high, above, below) = (middle, line, kept * below);
        } else {
            (low, below, above) = (middle, line, kept * above);
        }
    }
    Ok(0.5 * (low.at + high.at))
}
