//! Compares counting responses in groups of public attributes with counting them together.
//!
//! `cargo bench -p candor-tables --bench groups` counts a million responses for three two-way tables, or as many as
//! `CANDOR_BENCH_ROWS` specifies: together, and in 40 and 1,600 groups. The time should be proportional to the
//! number of rows, and not to that of groups times rows.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_runtime::progress::ProgressSink;
use candor_tables::BATCH_ROWS;
use candor_tables::input::{Input, Inputs};
use candor_tables::tally::{TallyJob, tally};

const SIZES: [usize; 5] = [40, 40, 5, 4, 3];

fn plan() -> Plan {
    let attribute = |(i, &size): (usize, &usize)| {
        let categories = (0..size).map(|code| code.to_string());
        let attribute = Attribute::new(format!("a{}", i + 1), categories).unwrap();
        if i < 2 { attribute.public() } else { attribute }
    };
    let schema = Schema::new(SIZES.iter().enumerate().map(attribute).collect()).unwrap();
    let block = |i: usize| Block::new(vec![i], Pattern::k_ary(vec![Axis::single(SIZES[i])], 1.0).unwrap());
    Plan::new(schema, (2..5).map(block).collect()).unwrap()
}

fn batch(schema: &Arc<ArrowSchema>, state: &mut u64) -> RecordBatch {
    let column = |size: &usize| -> ArrayRef {
        let mut code = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((*state >> 33) % *size as u64).to_string()
        };
        Arc::new(StringArray::from((0..BATCH_ROWS).map(|_| code()).collect::<Vec<String>>()))
    };
    RecordBatch::try_new(schema.clone(), SIZES.iter().map(column).collect()).unwrap()
}

fn main() {
    let rows: usize = std::env::var("CANDOR_BENCH_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let plan = plan();
    let tables = TableList::parse("a3,a4;a3,a5;a4,a5", plan.schema()).unwrap();
    let fields = (1..=SIZES.len()).map(|i| Field::new(format!("a{i}"), DataType::Utf8, false));
    let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<Field>>()));
    let mut state = 7;
    let batches: Vec<RecordBatch> = (0..rows.div_ceil(BATCH_ROWS)).map(|_| batch(&schema, &mut state)).collect();
    for by in [&[][..], &[0], &[0, 1]] {
        let input = Input::from_batches("responses", schema.clone(), batches.clone().into_iter().map(Ok)).unwrap();
        let inputs = Inputs::from(input).unmarked(true);
        let started = Instant::now();
        let job = TallyJob { plan: &plan, tables: &tables, by, weights: None };
        let counted = tally(&job, inputs, ProgressSink::none()).unwrap();
        println!("{} groups: {:.3} s", counted.groups.len(), started.elapsed().as_secs_f64());
    }
}
