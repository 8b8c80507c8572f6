//! Records of maximum entropy, which match all linked two-way tables at once and have no other associations.

use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_runtime::progress::{Progress, ProgressSink};

use super::graph::{Clique, cliques, junction_tree};
use super::links::PairTables;
use super::recipe::{Fit, Recipe, Step};
use super::tables::Part;
use crate::adjust::{Margin, Options, RakeError, rake_weights};

/// Maximum number of cells of one table for maximum entropy.
pub const MAX_CLIQUE_CELLS: usize = 1 << 20;

/// Maximum number of cells of all tables together.
const MAX_CELLS_IN_ALL: usize = 1 << 22;

/// Maximum number of links, strongest first.
const MAX_LINKS: usize = 400;

/// Number of sweeps without a decrease of the error by 1%, after which fitting ends.
const PATIENCE: usize = 20;

/// Number of consecutive sweeps over the tables of one clique.
const SWEEPS_WITHIN: usize = 5;

/// Returns the recipe of maximum entropy over the tables of the links.
///
/// Links are added from the strongest down, unless the attributes that must be fitted together would have more than
/// [`MAX_CLIQUE_CELLS`] combinations. The algorithm is iterative proportional fitting over a junction tree of the
/// graph of links, triangulated greedily (min-fill). Cliques are visited along the tree; each is fitted to its
/// tables, and passes its separators on to its neighbors.
///
/// If some distribution has all tables, the limit is that of maximum entropy. Noisy estimates may contradict each
/// other. Then there is none, and [`Fit::largest_margin_error`] is the largest difference from the tables. Public
/// attributes are always kept.
///
/// # Errors
/// Returns [`RakeError`] if tables exclude each other, or [`RakeError::Cancelled`] if `progress` cancels.
pub fn entropy(
    schema: &Schema,
    pairs: &PairTables,
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Recipe, RakeError> {
    let (kept, found) = choose(schema, pairs);
    let public = linked_public(pairs, &kept);
    let mut tree: Vec<Table> =
        junction_tree(found, &public).into_iter().map(|clique| Table::new(schema, pairs, clique, &public)).collect();
    for &link in &kept {
        let pair = pairs.links[link].attributes;
        let home = tree.iter_mut().find(|table| pair.iter().all(|a| table.clique.nodes.contains(a)));
        home.expect("every link is in a clique").add(Some(link), &pair, pairs.links[link].shares.clone());
    }
    if let (false, Some(root)) = (public.is_empty(), tree.first_mut()) {
        root.add(None, &public, public_shares(schema, pairs, &public));
    }
    let fit = fit(&mut tree, options, progress)?;
    Ok(recipe(pairs, kept, &tree, &public, fit))
}

/// Returns the links to keep, and the cliques of their graph.
fn choose(schema: &Schema, pairs: &PairTables) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut kept = Vec::new();
    let mut held = graph_cliques(pairs, &kept);
    for link in 0..pairs.links.len().min(MAX_LINKS) {
        kept.push(link);
        let found = graph_cliques(pairs, &kept);
        let cells: Vec<usize> = found.iter().map(|clique| schema.shape(clique).cells()).collect();
        let all = cells.iter().fold(0usize, |all, cells| all.saturating_add(*cells));
        if cells.iter().any(|&cells| cells > MAX_CLIQUE_CELLS) || all > MAX_CELLS_IN_ALL {
            kept.pop();
        } else {
            held = found;
        }
    }
    (kept, held)
}

/// Returns the public attributes of these links.
fn linked_public(pairs: &PairTables, kept: &[usize]) -> Vec<usize> {
    let mut public: Vec<usize> = kept.iter().flat_map(|&link| pairs.links[link].attributes).collect();
    public.retain(|&a| pairs.is_public(a));
    public.sort_unstable();
    public.dedup();
    public
}

/// Returns the cliques of the graph of links.
///
/// Public attributes are all connected, because their joint distribution is given. Attributes without a link form
/// their own cliques, unless they are public.
fn graph_cliques(pairs: &PairTables, kept: &[usize]) -> Vec<Vec<usize>> {
    let mut nodes: Vec<usize> = kept.iter().flat_map(|&link| pairs.links[link].attributes).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |attribute: usize| nodes.binary_search(&attribute).expect("it is linked");
    let mut connected = vec![vec![false; nodes.len()]; nodes.len()];
    let mut connect = |a: usize, b: usize| (connected[a][b], connected[b][a]) = (true, true);
    kept.iter().map(|&link| pairs.links[link].attributes.map(place)).for_each(|[a, b]| connect(a, b));
    let public: Vec<usize> = linked_public(pairs, kept).into_iter().map(place).collect();
    for (at, &a) in public.iter().enumerate() {
        public[at + 1..].iter().for_each(|&b| connect(a, b));
    }
    let found = cliques(connected).into_iter().map(|clique| clique.into_iter().map(|place| nodes[place]).collect());
    let alone = pairs.one_way.keys().filter(|attribute| nodes.binary_search(attribute).is_err());
    found.chain(alone.map(|&attribute| vec![attribute])).collect()
}

/// Returns the joint shares of some public attributes.
fn public_shares(schema: &Schema, pairs: &PairTables, some: &[usize]) -> Vec<f64> {
    let all = pairs.public.as_ref().expect("there are public attributes");
    let places: Vec<usize> = some.iter().filter_map(|a| all.attributes.iter().position(|held| held == a)).collect();
    summed(&all.shares, &schema.shape(&all.attributes), &places)
}

/// Sums a table over all but some of its attributes.
fn summed(table: &[f64], shape: &Shape, places: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; shape.project(places).cells()];
    shape.project_all(places).zip(table).for_each(|(cell, share)| sums[cell] += share);
    sums
}

/// A clique with its distribution, and the tables that it must match.
struct Table {
    clique: Clique,
    shape: Shape,
    shares: Vec<f64>,
    margins: Vec<Margin>,
    /// Link of each margin; `None` for the public attributes.
    links: Vec<Option<usize>>,
}

impl Table {
    /// Creates a clique with independent attributes, except for the public ones.
    fn new(schema: &Schema, pairs: &PairTables, clique: Clique, public: &[usize]) -> Table {
        let shape = schema.shape(&clique.nodes);
        let own: Vec<usize> = clique.nodes.iter().copied().filter(|a| public.contains(a)).collect();
        let places: Vec<usize> = (0..clique.nodes.len()).filter(|&at| own.contains(&clique.nodes[at])).collect();
        let mut shares: Vec<f64> = match own.is_empty() {
            true => vec![1.0; shape.cells()],
            false => {
                let of_public = public_shares(schema, pairs, &own);
                shape.project_all(&places).map(|cell| of_public[cell]).collect()
            }
        };
        for (place, attribute) in clique.nodes.iter().enumerate() {
            let Some(one_way) = pairs.one_way.get(attribute) else { continue };
            shares.iter_mut().zip(shape.project_all(&[place])).for_each(|(share, code)| *share *= one_way[code]);
        }
        Table { clique, shape, shares, margins: Vec::new(), links: Vec::new() }
    }

    /// Adds a table that the clique must match.
    fn add(&mut self, link: Option<usize>, attributes: &[usize], shares: Vec<f64>) {
        let places = self.places(attributes);
        let cells = self.shape.project_all(&places).map(|cell| cell as u32).collect();
        self.margins.push(Margin { cells, shares });
        self.links.push(link);
    }

    /// Returns the positions of attributes in the clique.
    fn places(&self, attributes: &[usize]) -> Vec<usize> {
        attributes.iter().filter_map(|a| self.clique.nodes.iter().position(|node| node == a)).collect()
    }

    /// Returns the shares of some of its attributes.
    fn of(&self, attributes: &[usize]) -> Vec<f64> {
        summed(&self.shares, &self.shape, &self.places(attributes))
    }

    /// Sets the shares of some of its attributes; the conditional distribution of the others stays.
    fn absorb(&mut self, attributes: &[usize], shares: &[f64]) {
        let now = self.of(attributes);
        let factor = |(now, share): (&f64, &f64)| if *now > 0.0 { share / now } else { 0.0 };
        let factors: Vec<f64> = now.iter().zip(shares).map(factor).collect();
        let places = self.places(attributes);
        self.shares.iter_mut().zip(self.shape.project_all(&places)).for_each(|(share, cell)| *share *= factors[cell]);
    }

    /// Fits the clique to its tables.
    fn fit(&mut self, options: &Options) -> Result<(), RakeError> {
        if !self.margins.is_empty() {
            let within = Options { max_iterations: SWEEPS_WITHIN, ..*options };
            self.shares =
                rake_weights(std::mem::take(&mut self.shares), &self.margins, &within, ProgressSink::none())?.weights;
        }
        Ok(())
    }

    /// Returns the largest difference from its tables.
    fn error(&self) -> f64 {
        let of = |margin: &Margin| {
            let mut sums = vec![0.0; margin.shares.len()];
            margin.cells.iter().zip(&self.shares).for_each(|(&cell, share)| sums[cell as usize] += share);
            sums.iter().zip(&margin.shares).map(|(sum, share)| (sum - share).abs()).fold(0.0, f64::max)
        };
        self.margins.iter().map(of).fold(0.0, f64::max)
    }
}

/// Visits the cliques along the tree until all match their tables.
fn fit(tree: &mut [Table], options: &Options, progress: ProgressSink<'_>) -> Result<Fit, RakeError> {
    let (mut sweeps, mut least, mut since) = (0, f64::INFINITY, 0);
    loop {
        sweeps += 1;
        visit(tree, 0, options)?;
        for at in 1..tree.len() {
            hand_down(tree, at);
        }
        let largest_margin_error = tree.iter().map(Table::error).fold(0.0, f64::max);
        let converged = largest_margin_error <= options.tolerance;
        since = if largest_margin_error < 0.99 * least { 0 } else { since + 1 };
        least = least.min(largest_margin_error);
        if converged || sweeps >= options.max_iterations.max(1) || since >= PATIENCE {
            return Ok(Fit { sweeps, largest_margin_error, converged });
        }
        progress.report(Progress::new("sweeps", sweeps as u64, Some(options.max_iterations as u64)))?;
    }
}

/// Fits a clique and its descendants. Changes are passed along the tree, so that every table is current when it
/// is fitted.
fn visit(tree: &mut [Table], at: usize, options: &Options) -> Result<(), RakeError> {
    tree[at].fit(options)?;
    let children: Vec<usize> = (at + 1..tree.len()).filter(|&child| tree[child].clique.parent == Some(at)).collect();
    for child in children {
        hand_down(tree, child);
        visit(tree, child, options)?;
        let separator = tree[child].clique.separator.clone();
        let shares = tree[child].of(&separator);
        tree[at].absorb(&separator, &shares);
    }
    Ok(())
}

/// Passes the shares of a clique's separator from its parent.
fn hand_down(tree: &mut [Table], at: usize) {
    let Some(parent) = tree[at].clique.parent else { return };
    let separator = tree[at].clique.separator.clone();
    let shares = tree[parent].of(&separator);
    tree[at].absorb(&separator, &shares);
}

/// Returns the recipe, which draws each clique given its separator.
fn recipe(pairs: &PairTables, kept: Vec<usize>, tree: &[Table], public: &[usize], fit: Fit) -> Recipe {
    let mut steps = Vec::new();
    for table in tree {
        let given = if table.clique.parent.is_none() { public.to_vec() } else { table.clique.separator.clone() };
        let drawn: Vec<usize> = table.clique.nodes.iter().copied().filter(|a| !given.contains(a)).collect();
        if !drawn.is_empty() {
            let shares = table.of(&[&given[..], &drawn].concat());
            steps.push(Step { given, drawn, shares });
        }
    }
    let of_link = |table: &Table| {
        let part = |&link: &usize| {
            let attributes = pairs.links[link].attributes.to_vec();
            Part { shares: table.of(&attributes), attributes }
        };
        table.links.iter().flatten().map(part).collect::<Vec<Part>>()
    };
    let linked = |a: usize| kept.iter().any(|&link| pairs.links[link].attributes.contains(&a));
    let alone = pairs.one_way.iter().filter(|(a, _)| !linked(**a));
    let alone = alone.map(|(&a, shares)| Part { attributes: vec![a], shares: shares.clone() });
    let tables = tree.iter().flat_map(of_link).chain(alone).collect();
    Recipe { public: pairs.public.clone(), steps, kept, tables, fit: Some(fit) }
}
