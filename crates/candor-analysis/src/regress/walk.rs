//! A p-value and an interval from one statistic, walked outward from the value that fits best.
//!
//! With `r(B)` the signed root of the score statistic of "the coefficient is B" and `B0` the value that fits best,
//! `S*(B) = max over the way from B0 to B of r^2, less r(B0)^2`. The interval holds all `B` with `S*(B)` up to the
//! critical value, and the p-value is that of `S*(0)`: they agree whatever the data are.

use super::RegressError;

/// A log-likelihood within this of the best fits as well.
const AS_WELL: f64 = 1e-6;

/// A step is halved until the root in its middle is this close to the mean of its ends.
const STRAIGHT: f64 = 0.0125;

/// Steps grow by this factor.
const GROWTH: f64 = 1.35;

/// First step in standard errors; of large problems, whose statistic is nearly straight.
const FIRST: f64 = 0.25;
const FIRST_OF_MUCH: f64 = 1.0;

/// Steps are not halved below this, in units of the column.
const SHORTEST: f64 = 1e-4;

/// Accuracy of a limit, relative to it or to the unit.
const ACCURACY: f64 = 1e-9;

/// Steps at most, and searches that begin again at a better fit.
const STEPS: usize = 400;
const RESTARTS: usize = 5;

/// The best fit with the coefficient at one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// The value.
    pub(super) at: f64,
    pub(super) theta: Vec<f64>,
    /// How the other parameters follow the coefficient.
    pub(super) follows: Vec<f64>,
    /// Standard error of the coefficient, as far as the information here tells.
    pub(super) error: f64,
    /// The signed root of the score statistic.
    pub(super) root: f64,
    /// The variance of the projected score, whose weights `follows` are.
    pub(super) variance: f64,
    /// The log-likelihood; `None` of an estimating equation.
    pub(super) value: Option<f64>,
    /// Degrees of freedom of Student's t that the root was taken from.
    pub(super) df: Option<f64>,
    /// Whether the root is that of one step with the variance of few clusters.
    pub(super) one_step: bool,
}

/// The statistic of one coefficient.
pub(super) trait Profile {
    /// The best fit with the coefficient at a value, found from a fit nearby.
    fn at(&self, value: f64, near: &Point) -> Result<Point, RegressError>;

    /// The best fit of all, near one that is better than the start; `None` if there is no likelihood.
    fn restart(&self, near: &Point) -> Result<Option<Point>, RegressError>;
}

/// Where a walk goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Lowest and highest value; beyond them there is no limit.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The unit of the column: steps are not longer than a quarter of it.
    pub(super) unit: f64,
    /// Critical value of `S*`.
    pub(super) critical: f64,
    /// Whether there is so much data that long steps are taken first.
    pub(super) much: bool,
}

/// What is known of a coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The value that fits best.
    pub(super) best: f64,
    /// Its standard error, as far as the information there tells.
    pub(super) error: f64,
    /// Limits; `None` where there is none.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// `S*(0)`, whose p-value is that of a chi-square with one degree of freedom.
    pub(super) statistic: f64,
    /// Degrees of freedom of Student's t that the statistic was taken from, at the value that fits best.
    pub(super) df: Option<f64>,
    /// Whether the statistic there is that of one step with the variance of few clusters.
    pub(super) one_step: bool,
}

/// One way out.
enum Side {
    Done { limit: Option<f64>, at_zero: Option<f64> },
    Better(Point),
}

/// Walks from the best fit to both sides.
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

/// `S*` so far, and how it goes on.
struct Way<'a> {
    start: &'a Point,
    most: f64,
}

impl Way<'_> {
    /// `S*` at a point, if nothing on the way there was larger.
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

/// The first step: part of a standard error, and not more than a quarter of the unit.
fn first_step(start: &Point, range: Range) -> f64 {
    let quarter = 0.25 * range.unit;
    let step = match range.much {
        true => FIRST_OF_MUCH * start.error,
        false => (FIRST * start.error).min(quarter),
    };
    if step.is_finite() && step > 0.0 { step } else { quarter }
}

/// Where a step leads: not beyond 0, which is always a point of the walk, nor beyond the end.
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
        // Beyond the limit only the value at zero counts.
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

/// The middle and the end of a step that is halved until the root in its middle is near the mean of its ends.
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

/// Where `S*` crosses the critical value between two points: secants, and halves where they are slow.
fn crossing(
    profile: &dyn Profile,
    way: &Way<'_>,
    inside: &Point,
    outside: &Point,
    range: Range,
) -> Result<f64, RegressError> {
    let over = |point: &Point| way.most.max(way.statistic(point)) - range.critical;
    let (mut low, mut high) = (inside.clone(), outside.clone());
    let (mut below, mut above) = (over(&low), over(&high));
    for round in 0..60 {
        let width = (high.at - low.at).abs();
        if width <= ACCURACY * range.unit.max(high.at.abs()) {
            break;
        }
        let share = if round % 3 == 2 { 0.5 } else { (below / (below - above)).clamp(0.01, 0.99) };
        let middle = profile.at(low.at + share * (high.at - low.at), &low)?;
        let own = over(&middle);
        if own.abs() < 1e-9 {
            return Ok(middle.at);
        }
        if own > 0.0 {
            (high, above) = (middle, own);
        } else {
            (low, below) = (middle, own);
        }
    }
    Ok(0.5 * (low.at + high.at))
}
