//! Tests of records from two-way tables, compared with explicit tables of all attributes.

use std::collections::BTreeMap;

use candor_analysis::adjust::Options;
use candor_analysis::synthesize::{Link, PairTables, Part, Recipe, entropy, systematic_counts, tree};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_base::shape::Shape;
use candor_runtime::progress::ProgressSink;

const SIZES: [usize; 5] = [2, 3, 2, 4, 3];

/// Returns a schema in which the first and the fourth attributes are public.
fn schema() -> Schema {
    let one = |(at, &size): (usize, &usize)| {
        let categories: Vec<String> = (0..size).map(|code| format!("\"{code}\"")).collect();
        let public = if at == 0 || at == 3 { "public = true\n" } else { "" };
        format!("[[attribute]]\nname = \"a{at}\"\n{public}categories = [{}]\n", categories.join(", "))
    };
    Schema::from_toml(&SIZES.iter().enumerate().map(one).collect::<String>()).unwrap()
}

/// Returns a distribution over all combinations in which all attributes are associated.
fn joint() -> Vec<f64> {
    let shape = Shape::new(SIZES.to_vec());
    let weight = |cell: usize| {
        let codes = shape.codes(cell);
        let pulls: usize = codes.iter().enumerate().map(|(at, code)| (at + 2) * code).sum();
        let together = f64::from(u8::from(codes[0] == codes[2])) + f64::from(u8::from(codes[1] == codes[4]));
        (1.0 + (pulls as f64 * 1.7).sin().abs()) * (together + 0.3 * (codes[3] * codes[1]) as f64).exp()
    };
    let weights: Vec<f64> = (0..shape.cells()).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn margin(joint: &[f64], attributes: &[usize]) -> Vec<f64> {
    let shape = Shape::new(SIZES.to_vec());
    let mut sums = vec![0.0; shape.project(attributes).cells()];
    shape.project_all(attributes).zip(joint).for_each(|(cell, share)| sums[cell] += share);
    sums
}

/// Returns the tables of these pairs, listed from the strongest down.
fn pair_tables(joint: &[f64], pairs: &[[usize; 2]]) -> PairTables {
    let link = |(at, &attributes): (usize, &[usize; 2])| Link {
        attributes,
        information: 1.0 / (at + 1) as f64,
        shares: margin(joint, &attributes),
    };
    PairTables {
        public: Some(Part { attributes: vec![0, 3], shares: margin(joint, &[0, 3]) }),
        one_way: BTreeMap::from([1, 2, 4].map(|a| (a, margin(joint, &[a])))),
        links: pairs.iter().enumerate().map(link).collect(),
        untold: Vec::new(),
    }
}

/// Returns the distribution of the records of a recipe.
fn implied(recipe: &Recipe) -> Vec<f64> {
    let shape = Shape::new(SIZES.to_vec());
    let public = recipe.public.as_ref().unwrap();
    let share = |cell: usize| {
        let steps = recipe.steps.iter().map(|step| {
            let all = [&step.given[..], &step.drawn].concat();
            let width = shape.project(&step.drawn).cells();
            let at = shape.project_cell(cell, &all);
            step.shares[at] / step.shares[at / width * width..][..width].iter().sum::<f64>()
        });
        public.shares[shape.project_cell(cell, &public.attributes)] * steps.product::<f64>()
    };
    (0..shape.cells()).map(share).collect()
}

fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn trees_have_their_links_and_all_one_way_shares() {
    let joint = joint();
    // The fourth would close a cycle, because the two public attributes are connected.
    let pairs = pair_tables(&joint, &[[1, 4], [3, 1], [0, 2], [0, 1], [2, 4]]);
    let recipe = tree(&schema(), &pairs);
    assert_eq!(recipe.kept, [0, 1, 2]);
    let implied = implied(&recipe);
    for table in [&[1, 4][..], &[3, 1], &[0, 2], &[0, 3], &[1], &[2], &[4]] {
        let apart = largest_difference(&margin(&implied, table), &margin(&joint, table));
        assert!(apart < 1e-12, "{table:?}: {apart}");
    }
    assert!(largest_difference(&margin(&implied, &[2, 4]), &margin(&joint, &[2, 4])) > 1e-3);
}

/// Returns the distribution of maximum entropy over all cells, by fitting one table after another.
fn written_out(joint: &[f64], tables: &[&[usize]]) -> Vec<f64> {
    let shape = Shape::new(SIZES.to_vec());
    let mut shares = vec![1.0 / joint.len() as f64; joint.len()];
    for _ in 0..2000 {
        for &table in tables {
            let (now, wanted) = (margin(&shares, table), margin(joint, table));
            let cells = shape.project_all(table);
            shares.iter_mut().zip(cells).for_each(|(share, cell)| *share *= wanted[cell] / now[cell]);
        }
    }
    shares
}

#[test]
fn maximum_entropy_is_that_of_all_cells_written_out() {
    let joint = joint();
    let cases: [&[[usize; 2]]; 3] = [&[[1, 4], [1, 2], [2, 4], [0, 1], [3, 2]], &[[1, 4], [3, 1], [0, 2]], &[[1, 2]]];
    for links in cases {
        let options = Options::default().tolerance(1e-11).max_iterations(10_000);
        let recipe = entropy(&schema(), &pair_tables(&joint, links), &options, ProgressSink::none()).unwrap();
        assert!(recipe.fit.unwrap().converged && recipe.kept.len() == links.len());
        let mut tables: Vec<&[usize]> = links.iter().map(|link| &link[..]).collect();
        tables.extend([&[0usize, 3][..], &[1], &[2], &[4]]);
        let apart = largest_difference(&implied(&recipe), &written_out(&joint, &tables));
        assert!(apart < 1e-8, "{links:?}: {apart}");
        for part in &recipe.tables {
            let apart = largest_difference(&part.shares, &margin(&joint, &part.attributes));
            assert!(apart < 1e-9, "{:?}: {apart}", part.attributes);
        }
    }
}

/// Any two of three attributes differ, so no distribution has all three tables. Fitting ends and reports the
/// difference.
#[test]
fn tables_that_contradict_each_other_are_told() {
    let schema = Schema::with_sizes(&[2, 2, 2]).unwrap();
    let link = |attributes| Link { attributes, information: 1.0, shares: vec![0.01, 0.49, 0.49, 0.01] };
    let pairs = PairTables {
        public: None,
        one_way: BTreeMap::from([0, 1, 2].map(|a| (a, vec![0.5, 0.5]))),
        links: [[0, 1], [1, 2], [0, 2]].map(link).to_vec(),
        untold: Vec::new(),
    };
    let fit = entropy(&schema, &pairs, &Options::default(), ProgressSink::none()).unwrap().fit.unwrap();
    assert!(!fit.converged && fit.sweeps < 1000, "{fit:?}");
    assert!((0.05..0.5).contains(&fit.largest_margin_error), "{fit:?}");
}

/// All pairs of four attributes with 40 categories would need a table of 2,560,000 cells.
#[test]
fn links_beyond_the_bound_are_left_out() {
    let schema = Schema::with_sizes(&[40, 40, 40, 40]).unwrap();
    let all = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let link = |attributes| Link { attributes, information: 1.0, shares: vec![1.0 / 1600.0; 1600] };
    let pairs = PairTables {
        public: None,
        one_way: BTreeMap::from([0, 1, 2, 3].map(|a| (a, vec![0.025; 40]))),
        links: all.map(link).to_vec(),
        untold: Vec::new(),
    };
    let recipe = entropy(&schema, &pairs, &Options::default(), ProgressSink::none()).unwrap();
    assert_eq!(recipe.kept, [0, 1, 2, 3, 4]);
    assert!(recipe.steps.iter().all(|step| step.shares.len() == 64_000));
}

#[test]
fn drawn_records_have_the_shares_and_public_attributes_stay() {
    let schema = schema();
    let records = 20_000u64;
    // Public shares of integer counts, as in responses.
    let shares = margin(&joint(), &[0, 3]);
    let people = systematic_counts(&shares, records);
    let whole = |(share, cell): (&f64, usize)| share * people[cell] as f64 / records as f64 / shares[cell];
    let joint: Vec<f64> = joint().iter().zip(Shape::new(SIZES.to_vec()).project_all(&[0, 3])).map(whole).collect();
    let pairs = pair_tables(&joint, &[[1, 4], [3, 1], [0, 2], [2, 4]]);
    for recipe in [tree(&schema, &pairs), entropy(&schema, &pairs, &Options::default(), ProgressSink::none()).unwrap()]
    {
        let columns = recipe.draw(&schema, records, &mut Source::from_seed(1).stream(0));
        let shape = Shape::new(SIZES.to_vec());
        let mut found = vec![0.0; joint.len()];
        let rows: Vec<&[u16]> = columns.iter().map(Vec::as_slice).collect();
        (0..records as usize).for_each(|row| found[shape.cell_at(&rows, row)] += 1.0);
        let counts = margin(&found, &[0, 3]);
        assert_eq!(counts, people.iter().map(|&count| count as f64).collect::<Vec<f64>>());
        // Each group is rounded by less than one, and a step has at most 24 groups.
        for &[a, b] in recipe.kept.iter().map(|&at| &pairs.links[at].attributes) {
            let wanted = margin(&implied(&recipe), &[a, b]);
            let apart =
                largest_difference(&margin(&found, &[a, b]), &wanted.iter().map(|s| s * 2e4).collect::<Vec<_>>());
            assert!(apart < 24.0, "{a}, {b}: {apart}");
        }
        let (distinct, raked) = recipe.weigh(&schema, &columns, &Options::default(), ProgressSink::none()).unwrap();
        assert!(raked.converged && raked.unattainable.is_empty(), "{}", raked.largest_margin_error);
        assert_eq!(distinct.total(), records);
    }
}

/// One record at a time: rounding without a random start would always give the same category.
#[test]
fn small_groups_are_right_on_average() {
    let schema = Schema::with_sizes(&[2, 3]).unwrap();
    let pairs = PairTables {
        public: None,
        one_way: BTreeMap::from([(0, vec![0.5, 0.5]), (1, vec![0.2, 0.5, 0.3])]),
        links: vec![Link { attributes: [0, 1], information: 1.0, shares: vec![0.0, 0.3, 0.2, 0.2, 0.2, 0.1] }],
        untold: Vec::new(),
    };
    let recipe = tree(&schema, &pairs);
    let mut counts = [0.0; 3];
    let mut rng = Source::from_seed(2).stream(0);
    for _ in 0..20_000 {
        counts[usize::from(recipe.draw(&schema, 1, &mut rng)[1][0])] += 1.0;
    }
    // The first attribute of a single record is always the same by its own rounding; with a random start it varies.
    for (count, share) in counts.iter().zip([0.2, 0.5, 0.3]) {
        let spread = (20_000.0f64 * share * (1.0 - share)).sqrt();
        assert!((count - 20_000.0 * share).abs() < 5.5 * spread, "{count} {share}");
    }
}
