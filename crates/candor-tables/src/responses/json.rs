//! One response as JSON: reads and checks it, and writes it as a line.

use candor_base::channel::{Answer, Channel};
use candor_base::plan::{Content, Plan};
use candor_base::randomize::BlockAnswer;
use candor_bulk::{AnswerColumn, UNANSWERED};
use serde_json::{Map, Value};

use super::decode::{Decoder, ResponseBatch};
use crate::TableError;
use crate::input::{Batch, batch_of};
use crate::metadata_keys::FINGERPRINT_FIELD;
use candor_runtime::escape_control::is_hidden;

/// Reader of single responses to a plan, as clients send them.
///
/// A response is an object with the plan's fingerprint and every column.
pub struct ResponseReader {
    decoder: Decoder,
    names: Vec<String>,
    fingerprint: String,
}

impl ResponseReader {
    /// Creates a reader of responses to this plan.
    pub fn new(plan: &Plan) -> ResponseReader {
        let names = plan.columns().iter().map(|column| column.name.clone()).collect();
        ResponseReader { decoder: Decoder::new(plan, None), names, fingerprint: plan.fingerprint().to_string() }
    }

    /// Reads a response as a batch with one row.
    ///
    /// # Errors
    /// Returns [`TableError`] if the fingerprint differs or is missing, a column is missing or unknown, or a value
    /// is not a valid answer.
    pub fn read(&self, response: Map<String, Value>) -> Result<ResponseBatch, TableError> {
        const NAME: &str = "the response";
        let found = response.get(FINGERPRINT_FIELD).and_then(Value::as_str).unwrap_or("no fingerprint");
        if found != self.fingerprint {
            let (found, expected) = (found.to_owned(), self.fingerprint.clone());
            return Err(TableError::Fingerprint { file: NAME.to_owned(), found, expected });
        }
        if let Some(column) = self.names.iter().find(|name| !response.contains_key(*name)) {
            let column = column.clone();
            return Err(TableError::MissingColumn { file: NAME.to_owned(), column, nearest: None });
        }
        let known = |name: &String| name == FINGERPRINT_FIELD || self.names.contains(name);
        // All columns and the fingerprint are present; if there is nothing else, the names need no check.
        let others = response.len() > self.names.len() + 1;
        if let Some(column) = response.keys().find(|name| others && !known(name)) {
            return Err(TableError::UnknownColumn { file: NAME.to_owned(), column: column.clone() });
        }
        if let Some(batch) = self.decoder.labels(|name| response.get(name)?.as_str()) {
            return Ok(batch);
        }
        let columns = batch_of(&self.names, &[response]).map_err(|column| {
            let found = "an object, or a list of lists".to_owned();
            TableError::Type { file: NAME.to_owned(), column: column.to_owned(), found }
        })?;
        self.decoder.decode(&Batch::of(NAME, columns))
    }
}

/// Formats a row of a batch as one line of JSON.
///
/// It contains the fingerprint and then the columns in order, with null where the assigned channel gives no answer.
pub fn response_line(plan: &Plan, batch: &ResponseBatch, row: usize) -> String {
    let tag = |block: usize| {
        let column = plan.columns().iter().position(|column| column.content == Content::Tag { block });
        match column.map(|at| &batch.columns[at]) {
            Some(AnswerColumn::One(tags)) => usize::from(tags[row]),
            _ => 0,
        }
    };
    let mut line = b"{".to_vec();
    push(&mut line, FINGERPRINT_FIELD);
    line.push(b':');
    push(&mut line, plan.fingerprint().as_str());
    for (column, codes) in plan.columns().iter().zip(&batch.columns) {
        let cells;
        let labels: &[String] = match &column.content {
            Content::Tag { .. } => &[],
            Content::Public { attribute } => plan.schema().attributes()[*attribute].categories(),
            Content::Answer { labels, .. } => labels,
            Content::Cells { block } => match &plan.blocks()[*block].channels()[tag(*block)].1 {
                Channel::Strip(strip) => {
                    cells = plan.cell_labels(*block, strip);
                    &cells
                }
                _ => &[],
            },
        };
        let label = |line: &mut Vec<u8>, code: u16| match labels.get(usize::from(code)) {
            Some(label) => push(line, label),
            None => push(line, &code),
        };
        line.push(b',');
        push(&mut line, &column.name);
        line.push(b':');
        match codes {
            AnswerColumn::One(codes) if codes[row] == UNANSWERED => push(&mut line, &()),
            AnswerColumn::One(codes) => label(&mut line, codes[row]),
            AnswerColumn::Set(sets) if sets.get(row).is_empty() => push(&mut line, &()),
            AnswerColumn::Set(sets) => {
                for (place, &code) in sets.get(row).iter().enumerate() {
                    line.push(if place == 0 { b'[' } else { b',' });
                    label(&mut line, code);
                }
                line.push(b']');
            }
        }
    }
    line.push(b'}');
    visible(String::from_utf8(line).expect("JSON is text"))
}

/// Writes a value as JSON.
fn push<T: serde::Serialize + ?Sized>(line: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(line, value).expect("text and numbers are JSON");
}

/// Escapes hidden characters in a line of JSON.
fn visible(line: String) -> String {
    if !line.contains(is_hidden) {
        return line;
    }
    let escape = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    line.chars().map(escape).collect()
}

/// Returns the response of one record as a batch with one row. `record` has the codes of public attributes.
pub fn one_response(plan: &Plan, record: &[u16], answers: &[BlockAnswer]) -> ResponseBatch {
    let strip = |block: usize| {
        let drawn = answers[block].tag.unwrap_or(0);
        matches!(plan.blocks()[block].channels()[drawn].1, Channel::Strip(_))
    };
    let none: &[u16] = &[];
    let codes = |answer: &Answer| match answer {
        Answer::One(code) => vec![*code],
        Answer::Set(codes) => codes.clone(),
    };
    let sets = |set: &[u16]| AnswerColumn::Set([set].into_iter().collect());
    let column = |content: &Content| match *content {
        Content::Public { attribute } => AnswerColumn::One(vec![record[attribute]]),
        Content::Tag { block } => AnswerColumn::One(vec![answers[block].tag.unwrap_or(0) as u16]),
        Content::Cells { block } if strip(block) => sets(&codes(&answers[block].answers[0])),
        Content::Cells { .. } => sets(none),
        Content::Answer { block, set: true, .. } if strip(block) => sets(none),
        Content::Answer { block, .. } if strip(block) => AnswerColumn::One(vec![UNANSWERED]),
        Content::Answer { block, place, set: true, .. } => sets(&codes(&answers[block].answers[place])),
        Content::Answer { block, place, .. } => AnswerColumn::One(codes(&answers[block].answers[place])),
    };
    let columns = plan.columns().iter().map(|described| column(&described.content)).collect();
    ResponseBatch { columns, weights: None, rows: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::{Axis, Part, Pattern, PatternSet};
    use candor_base::plan::Block;
    use candor_base::schema::{Attribute, Schema};
    use serde_json::json;

    /// A public region, a set of two of three, and a block with several channels.
    fn plan() -> Plan {
        let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<String>>();
        let schema = Schema::new(vec![
            Attribute::new("region", labels(&["north", "south"])).unwrap().public(),
            Attribute::new("diet", labels(&["meat", "fish", "plants"])).unwrap(),
            Attribute::new("smokes", labels(&["no", "yes", ""])).unwrap(),
        ]);
        let parts = vec![Part { set: PatternSet::no_miss(), weight: 1 }, Part { set: PatternSet::All, weight: 1 }];
        let sets = Pattern::new(vec![Axis::set(3, 2)], parts.clone()).unwrap();
        let ticket = |weight| (weight, Pattern::new(vec![Axis::single(3)], parts.clone()).unwrap().into());
        let blocks = vec![Block::new(vec![1], sets), Block::lottery(vec![2], vec![ticket(1), ticket(2)])];
        Plan::new(schema.unwrap(), blocks).unwrap()
    }

    fn read(plan: &Plan, fields: Value) -> Result<String, String> {
        let fields = fields.as_object().cloned().unwrap();
        let batch = ResponseReader::new(plan).read(fields).map_err(|error| error.to_string())?;
        assert_eq!(batch.rows, 1);
        Ok(response_line(plan, &batch, 0))
    }

    #[test]
    fn a_response_is_read_and_written_in_one_form() {
        let plan = plan();
        let print = plan.fingerprint().as_str();
        let given = json!({"candor_tag": 1, "smokes": null, "diet": ["plants", "meat"], "region": "south",
            "candor_fingerprint": print});
        let line = read(&plan, given).unwrap();
        let expected = r#""region":"south","diet":["meat","plants"],"smokes":"","candor_tag":1}"#;
        assert_eq!(line, format!("{{\"candor_fingerprint\":\"{print}\",{expected}"));
        assert_eq!(read(&plan, serde_json::from_str(&line).unwrap()).unwrap(), line);
    }

    #[test]
    fn each_fault_has_its_own_message() {
        let plan = plan();
        let print = plan.fingerprint().as_str();
        let good = json!({"candor_fingerprint": print, "region": "south", "diet": ["meat", "fish"], "smokes": "no",
            "candor_tag": 0});
        let with = |name: &str, value: Value| {
            let mut fields = good.clone();
            fields[name] = value;
            read(&plan, fields).unwrap_err()
        };
        assert!(with("candor_fingerprint", json!("sha256:1")).contains("sha256:1"));
        assert!(with("candor_fingerprint", json!(7)).contains("no fingerprint"));
        assert!(with("age", json!(41)).contains("\"age\""));
        assert!(with("region", json!("east")).contains("cannot be answered"));
        assert!(with("diet", json!(["meat"])).contains("sets of 2 different categories"));
        assert!(with("diet", json!(["meat", "meat"])).contains("sets of 2 different categories"));
        assert!(with("diet", json!({"meat": 1})).contains("\"diet\" holds an object"));
        assert!(with("smokes", json!(["no"])).contains("cannot be answered"));
        for tag in [json!(2), json!(-1), json!(0.5), json!("x"), json!(null)] {
            assert!(with("candor_tag", tag).contains("tags are whole numbers from 0 to 1"));
        }
        let mut missing = good.clone();
        missing.as_object_mut().unwrap().remove("smokes");
        assert!(read(&plan, missing).unwrap_err().contains("no column \"smokes\""));
    }
}
