//! Test vectors of the single-record sampler: plan, record and bytes give an answer.
//!
//! docs/reference/sampling-algorithm.md specifies the sampler. Set `CANDOR_WRITE_VECTORS` to rewrite the vectors, and
//! review the difference before committing it: other clients rely on them.

use std::fs;
use std::path::PathBuf;

use candor_base::channel::{Answer, Axis, Bitmap, Cells, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomize::{Client, RandomizeError};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use rand_core::{Rng, TryCryptoRng, TryRng};
use serde_json::{Value, json};

/// A generator that returns given bytes, counts them, and fails when they run out.
struct Given<'a> {
    bytes: &'a [u8],
    used: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("no more bytes")]
struct NoMoreBytes;

impl TryRng for Given<'_> {
    type Error = NoMoreBytes;
    fn try_next_u32(&mut self) -> Result<u32, NoMoreBytes> {
        unreachable!("the sampler reads bytes only")
    }
    fn try_next_u64(&mut self) -> Result<u64, NoMoreBytes> {
        unreachable!("the sampler reads bytes only")
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoMoreBytes> {
        let given = self.bytes.get(self.used..self.used + out.len()).ok_or(NoMoreBytes)?;
        out.copy_from_slice(given);
        self.used += out.len();
        Ok(())
    }
}

impl TryCryptoRng for Given<'_> {}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn part(set: PatternSet, weight: u64) -> Part {
    Part { set, weight }
}

fn plan(sizes: &[usize], blocks: Vec<Block>) -> Plan {
    Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap()
}

fn strip(places: &[usize], sizes: &[usize], cells: impl Into<Cells>, weights: [u64; 2]) -> Strip {
    Strip::new(places.to_vec(), sizes.to_vec(), cells, weights).unwrap()
}

/// Plans with strips: over one, two and three attributes, next to patterns, in several blocks.
fn strips() -> Vec<(&'static str, Plan)> {
    let parts = || vec![part(PatternSet::Hits(vec![1]), 3), part(PatternSet::All, 4)];
    let pattern = |axes: [Axis; 3]| Pattern::new(axes.to_vec(), parts()).unwrap();
    let mixed = vec![
        (3, strip(&[0, 1], &[7, 4], 5, [2, 3]).into()),
        (2, pattern([7, 4, 2].map(Axis::single)).into()),
        (1, strip(&[0, 2], &[7, 2], 3, [1, 6]).into()),
        (1, pattern([Axis::set(7, 3), Axis::single(4), Axis::single(2)]).into()),
        (4, strip(&[1], &[4], 1, [5, 4]).into()),
    ];
    let large = Strip::within(vec![0, 1], vec![300, 200], 40, 4.0).unwrap();
    let small = vec![(1, strip(&[0], &[3], 2, [1, 1]).into()), (1, strip(&[0], &[3], 1, [1, 2]).into())];
    let blocks = vec![Block::new(vec![2, 0], large), Block::lottery(vec![1], small)];
    vec![
        ("strip", plan(&[9], vec![Block::new(vec![0], Strip::within(vec![0], vec![9], 2, 1.0).unwrap())])),
        ("strip-pair", plan(&[3, 4], vec![Block::new(vec![0, 1], strip(&[0, 1], &[3, 4], 3, [7, 5]))])),
        ("strip-triple", plan(&[4, 5, 3], vec![Block::new(vec![0, 1, 2], strip(&[0, 1, 2], &[4, 5, 3], 7, [3, 8]))])),
        (
            "box",
            plan(
                &[3, 4, 5],
                vec![Block::new(vec![0, 1, 2], strip(&[0, 1, 2], &[3, 4, 5], Cells::Box(vec![1, 3, 2]), [7, 5]))],
            ),
        ),
        (
            "listed-cells",
            plan(
                &[2, 4],
                vec![Block::new(vec![0, 1], strip(&[0, 1], &[2, 4], Cells::Listed { listed: vec![0, 1, 4] }, [7, 5]))],
            ),
        ),
        ("strips-and-patterns", plan(&[4, 2, 7], vec![Block::lottery(vec![2, 0, 1], mixed)])),
        ("strips-in-blocks", plan(&[200, 3, 300], blocks)),
    ]
}

/// Devices whose number of outcomes is not a power of two: a die, a lottery with unequal weights, and more than 2^53.
fn devices() -> Vec<(&'static str, Plan)> {
    let labels = |n: usize| (0..n).map(|z| format!("z{z}")).collect::<Vec<String>>();
    let matrix = |sizes: &[usize], total: u128, columns: &[&[u64]]| -> Channel {
        let columns: Vec<Vec<u64>> = columns.iter().map(|column| column.to_vec()).collect();
        Matrix::with_total(sizes.to_vec(), labels(columns[0].len()), total, columns).unwrap().into()
    };
    let die = matrix(&[3], 6, &[&[4, 1, 1], &[1, 4, 1], &[1, 1, 4]]);
    let lottery = vec![
        (2, matrix(&[2], 36, &[&[30, 6], &[3, 33]])),
        (1, matrix(&[2], 100, &[&[20, 80], &[65, 35]])),
        (1, matrix(&[2], 8, &[&[7, 1], &[1, 7]])),
    ];
    let large = (1u64 << 60) + 1;
    let crossed: Vec<Vec<u64>> =
        (0..4).map(|x| (0..4).map(|z| if x == z { 3 * large } else { large }).collect()).collect();
    let crossed: Vec<&[u64]> = crossed.iter().map(Vec::as_slice).collect();
    let blocks = vec![
        Block::lottery(vec![1], lottery),
        Block::lottery(vec![0], vec![(1, die)]),
        Block::lottery(vec![2, 3], vec![(1, matrix(&[2, 2], 6 * u128::from(large), &crossed))]),
    ];
    vec![("totals", plan(&[3, 2, 2, 2], blocks))]
}

/// The plans of the vectors, by name: every kind of channel and set, several blocks and a lottery.
fn plans() -> Vec<(&'static str, Plan)> {
    let k_ary =
        |sizes: &[usize], epsilon| Pattern::k_ary(sizes.iter().copied().map(Axis::single).collect(), epsilon).unwrap();
    let labels = ["yes", "no", "no answer"].map(String::from).to_vec();
    let matrix = Matrix::rounded(vec![2], labels, &[vec![0.5, 0.125, 0.375], vec![0.125, 0.5, 0.375]]).unwrap();
    let guessed = ["o1", "o2", "o3"].map(String::from).to_vec();
    let guessed = Matrix::new(vec![2], guessed, 4, vec![vec![12, 2, 2], vec![1, 13, 2]]).unwrap();
    let crossed: Vec<Vec<u64>> = (0..6).map(|x| (0..6).map(|z| if x == z { 11 } else { 1 }).collect()).collect();
    let crossed = Matrix::new(vec![2, 3], (0..6).map(|z| format!("z{z}")).collect(), 4, crossed).unwrap();
    let asked = "[[attribute]]\nname = \"Smokes\"\ncategories = [\"no\", \"yes\", \"former\"]\n\
                 [[attribute]]\nname = \"Daily\"\nasked_if = \"Smokes in (yes, former)\"\ncategories = \
                 [\"few\", \"many\"]\n";
    let asked = Schema::from_toml(asked).unwrap();
    let threshold = PatternSet::Threshold { weights: vec![3, 1, 2, 1], limit: 3 };
    let bitmap = PatternSet::Bitmap(Bitmap::new(4, |p| p.count_ones() != 2));
    let axes = || [4, 3, 2, 5].map(Axis::single).to_vec();
    let general = Pattern::new(
        axes(),
        vec![part(threshold, 5), part(bitmap, 6), part(PatternSet::Only(vec![1, 3]), 4), part(PatternSet::All, 3)],
    );
    // More than 20 attributes: the first threshold is drawn by rejection, the second by rank.
    let many: Vec<Axis> = (0..22).map(|i| Axis::single(2 + i % 3)).collect();
    let weights: Vec<u64> = (0..22).map(|i| 1 + i * 7 % 5).collect();
    let at_most = |limit| PatternSet::Threshold { weights: weights.clone(), limit };
    let many = Pattern::new(many, vec![part(at_most(38), 3), part(at_most(2), 2), part(PatternSet::All, 3)]).unwrap();
    let resampled = general.clone().unwrap().resampled(vec![0, 1 << 63, 3 << 62, 0]);
    let hits = |hits: Vec<usize>| -> Channel {
        Pattern::new(axes(), vec![part(PatternSet::Hits(hits), 3), part(PatternSet::All, 4)]).unwrap().into()
    };
    let reversed = |hit: usize| -> Channel {
        let axes = [5, 2, 3, 4].map(Axis::single).to_vec();
        Pattern::new(axes, vec![part(PatternSet::Hits(vec![hit]), 1), part(PatternSet::no_miss(), 1)]).unwrap().into()
    };
    let sets = Pattern::new(
        vec![Axis::set(9, 4), Axis::single(3), Axis::set(300, 150), Axis::set(3, 3)],
        vec![part(PatternSet::no_miss(), 2), part(PatternSet::Hits(vec![0]), 1), part(PatternSet::All, 1)],
    );
    let with_public = Schema::new(vec![
        Attribute::new("region", ["north", "south"].map(String::from).to_vec()).unwrap().public(),
        Attribute::new("answer", ["no", "yes"].map(String::from).to_vec()).unwrap(),
    ])
    .unwrap();
    vec![
        ("k-ary", plan(&[5], vec![Block::new(vec![0], k_ary(&[5], 1.0))])),
        (
            "independent",
            plan(&[2, 17], vec![Block::new(vec![0], k_ary(&[2], 0.5)), Block::new(vec![1], k_ary(&[17], 3.0))]),
        ),
        ("joint", plan(&[9, 16, 7], vec![Block::new(vec![2, 0, 1], k_ary(&[7, 9, 16], 4.0))])),
        ("matrix", plan(&[2], vec![Block::new(vec![0], matrix)])),
        ("prior", plan(&[2], vec![Block::new(vec![0], guessed)]).with_prior(0, vec![0.75, 0.25]).unwrap()),
        ("crossed-matrix", plan(&[2, 3], vec![Block::new(vec![0, 1], crossed)])),
        (
            "many-attributes",
            plan(&(0..22).map(|i| 2 + i % 3).collect::<Vec<_>>(), vec![Block::new((0..22).collect(), many)]),
        ),
        ("resampled", plan(&[4, 3, 2, 5], vec![Block::new(vec![0, 1, 2, 3], resampled)])),
        ("general-patterns", plan(&[4, 3, 2, 5], vec![Block::new(vec![0, 1, 2, 3], general.unwrap())])),
        (
            "lottery",
            plan(
                &[4, 3, 2, 5],
                vec![Block::lottery(
                    vec![0, 1, 2, 3],
                    vec![(7, hits(vec![0, 1])), (2, hits(vec![2])), (1, hits(vec![]))],
                )],
            ),
        ),
        (
            "lotteries",
            plan(
                &[4, 3, 2, 5, 2],
                vec![
                    Block::lottery(vec![4], vec![(1, k_ary(&[2], 1.0).into()), (1, k_ary(&[2], 2.0).into())]),
                    Block::lottery(vec![3, 2, 1, 0], vec![(1, reversed(0)), (1, reversed(3))]),
                ],
            ),
        ),
        ("sets", plan(&[9, 3, 300, 3], vec![Block::new(vec![0, 1, 2, 3], sets.unwrap())])),
        ("asked", Plan::new(asked, vec![Block::new(vec![0, 1], k_ary(&[3, 3], 1.5))]).unwrap()),
        ("public", Plan::new(with_public, vec![Block::new(vec![1], k_ary(&[2], 1.0))]).unwrap()),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Returns the sampler's answer as JSON, and the number of bytes it reads.
fn answer(plan: &Plan, record: &[u16], bytes: &[u8]) -> (Value, usize) {
    let mut rng = Given { bytes, used: 0 };
    let blocks = Client::new(plan).answer(record, &mut rng).unwrap();
    let one = |answer: &Answer| match answer {
        Answer::One(code) => json!(code),
        Answer::Set(codes) => json!(codes),
    };
    let block = |block: candor_base::randomize::BlockAnswer| {
        let answers: Vec<_> = block.answers.iter().map(one).collect();
        json!({"tag": block.tag, "answers": answers})
    };
    (Value::Array(blocks.into_iter().map(block).collect()), rng.used)
}

fn write(name: &str, plan: &Plan) {
    fs::write(folder("plans/good").join(format!("{name}.json")), plan.to_json()).unwrap();
    let sizes = plan.schema().sizes();
    let mut rng = Source::from_seed(2026).stream(0);
    let case = |case: usize| {
        let record: Vec<u16> = sizes.iter().map(|&size| (rng.next_u32() as usize % size) as u16).collect();
        let mut bytes = vec![0u8; 4000];
        rng.fill_bytes(&mut bytes);
        match case {
            // The ends of every range, and rejection: 0xff.. is at or above most bounds.
            0 => bytes.fill(0),
            1 => bytes[..8].fill(0xff),
            2 => bytes[8..24].fill(0xff),
            _ => {}
        }
        let (answers, used) = answer(plan, &record, &bytes);
        json!({"record": record, "bytes": hex(&bytes[..used]), "blocks": answers})
    };
    let cases: Vec<String> = (0..40).map(case).map(|case| format!("    {case}")).collect();
    let text =
        format!("{{\n  \"plan\": \"../plans/good/{name}.json\",\n  \"cases\": [\n{}\n  ]\n}}\n", cases.join(",\n"));
    fs::write(folder("vectors").join(format!("{name}.json")), text).unwrap();
}

#[test]
fn the_sampler_reproduces_its_vectors() {
    for (name, made) in plans().into_iter().chain(strips()).chain(devices()) {
        if std::env::var_os("CANDOR_WRITE_VECTORS").is_some() {
            write(name, &made);
        }
        let text = fs::read_to_string(folder("vectors").join(format!("{name}.json"))).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let path = folder("vectors").join(file["plan"].as_str().unwrap());
        let plan = Plan::from_json(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(plan, made, "{name}: the committed plan is no longer what its constructor makes");
        let cases = file["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 40);
        for case in cases {
            let record: Vec<u16> = serde_json::from_value(case["record"].clone()).unwrap();
            let bytes = unhex(case["bytes"].as_str().unwrap());
            let (answers, used) = answer(&plan, &record, &bytes);
            assert_eq!(answers, case["blocks"], "{name}: {case}");
            assert_eq!(used, bytes.len(), "{name}: {case}");
        }
    }
}

#[test]
fn failing_randomness_is_an_error_and_no_answer() {
    let (_, plan) = plans().remove(0);
    let client = Client::new(&plan);
    let failed = client.answer(&[0], &mut Given { bytes: &[1, 2, 3], used: 0 });
    assert_eq!(failed, Err(RandomizeError::Randomness("no more bytes".to_owned())));
    assert!(failed.unwrap_err().to_string().contains("nothing was answered"));
    assert!(matches!(
        client.answer(&[5], &mut Given { bytes: &[0; 99], used: 0 }),
        Err(RandomizeError::Category { attribute: 0, categories: 5 })
    ));
    assert!(matches!(
        client.answer(&[1, 1], &mut Given { bytes: &[0; 99], used: 0 }),
        Err(RandomizeError::Columns { found: 2, expected: 1 })
    ));
}
