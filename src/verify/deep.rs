//! `--deep`: packed rows and embedded streams in full. Every text and every gap is read, and each block's closing text is
//! compared with what its deltas add up to.

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::archive::Line;
use crate::event::Text;
use crate::message;
use crate::message::Message;

/// Two places of a log that should say the same and do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// Line from 1.
    pub line: u64,
    /// Seq of the event, where it has one.
    pub seq: Option<u64>,
    /// What was seen.
    pub detail: Message,
}

/// What `--deep` looked at and found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeepReport {
    /// Packed rows, top-level and inside streams.
    pub packed_rows: u64,
    /// Embedded streams.
    pub streams: u64,
    /// Blocks whose closing text was compared with their deltas.
    pub blocks: u64,
    /// What does not agree.
    pub disagreements: Vec<Disagreement>,
}

/// Text of the blocks of one attempt that are still open, by block index.
type OpenBlocks = BTreeMap<u64, String>;

/// Takes the lines of one archive.
#[derive(Default)]
pub(super) struct DeepCheck {
    report: DeepReport,
    /// Turn, step and open blocks of the attempt whose deltas stand at the top level.
    open: BTreeMap<(u64, u64), OpenBlocks>,
}

#[derive(Deserialize)]
struct EventWire<'a> {
    r#type: Text,
    seq: Option<u64>,
    seq0: Option<u64>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct DataWire<'a> {
    turn: Option<u64>,
    step: Option<u64>,
    #[serde(borrow)]
    chunk: Option<&'a RawValue>,
    #[serde(borrow)]
    stream: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RowWire {
    index: Option<u64>,
    dt: Vec<f64>,
    texts: Option<Vec<Text>>,
    args: Option<Vec<Text>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChunkWire {
    r#type: Text,
    index: Option<u64>,
    text: Option<Text>,
    arguments_delta: Option<Text>,
    block: Option<BlockWire>,
}

#[derive(Deserialize)]
struct BlockWire {
    text: Option<Text>,
    arguments: Option<Text>,
}

#[derive(Deserialize)]
struct RecordWire<'a> {
    r#type: Text,
    #[serde(borrow)]
    chunk: Option<&'a RawValue>,
}

impl DeepCheck {
    pub(super) fn line(&mut self, line: &Line<'_>) {
        if !has_stream(line.bytes) {
            return;
        }
        let place = line.place.line;
        let Ok(event) = serde_json::from_slice::<EventWire<'_>>(line.bytes) else {
            // Not JSON at all: the scan says so.
            return;
        };
        let seq = event.seq.or(event.seq0);
        let kind = event.r#type.0.as_str();
        let raw = event.data.map_or("null", RawValue::get);
        let outcome = match kind {
            "text-chunks" | "reasoning-chunks" | "tool-call-chunks" => self.top_level_row(raw),
            "assistant/chunk" => self.top_level_chunk(raw),
            "assistant/message" | "assistant/attempt" => self.embedded(raw),
            _ => Ok(()),
        };
        if let Err(detail) = outcome {
            self.report.disagreements.push(Disagreement {
                line: place,
                seq,
                detail: message!("notices.at", place = kind, what = detail),
            });
        }
    }

    pub(super) fn finish(self) -> DeepReport {
        self.report
    }

    fn top_level_row(&mut self, raw: &str) -> Result<(), Message> {
        let place: DataWire<'_> = serde_json::from_str(raw).map_err(Message::verbatim)?;
        let blocks = self.open.entry((place.turn.unwrap_or(0), place.step.unwrap_or(0))).or_default();
        packed_row(raw, blocks, &mut self.report)
    }

    fn top_level_chunk(&mut self, raw: &str) -> Result<(), Message> {
        let data: DataWire<'_> = serde_json::from_str(raw).map_err(Message::verbatim)?;
        let chunk = data.chunk.ok_or_else(|| Message::new("verify.no-chunk"))?.get();
        let key = (data.turn.unwrap_or(0), data.step.unwrap_or(0));
        let finished = single_chunk(chunk, self.open.entry(key).or_default(), &mut self.report)?;
        if finished {
            self.open.remove(&key);
        }
        Ok(())
    }

    fn embedded(&mut self, raw: &str) -> Result<(), Message> {
        let data: DataWire<'_> = serde_json::from_str(raw).map_err(Message::verbatim)?;
        let Some(stream) = data.stream else { return Ok(()) };
        self.report.streams += 1;
        let records: Vec<&RawValue> = serde_json::from_str(stream.get()).map_err(Message::verbatim)?;
        let mut blocks = OpenBlocks::new();
        for record in records {
            let wire: RecordWire<'_> = serde_json::from_str(record.get()).map_err(Message::verbatim)?;
            match wire.chunk {
                Some(chunk) => {
                    single_chunk(chunk.get(), &mut blocks, &mut self.report)?;
                }
                None if wire.r#type.0.ends_with("-chunks") => {
                    packed_row(record.get(), &mut blocks, &mut self.report)?;
                }
                None => return Err(message!("verify.unknown-record", kind = wire.r#type.0)),
            }
        }
        Ok(())
    }
}

/// Only lines with one of these can hold deltas.
fn has_stream(line: &[u8]) -> bool {
    [&b"-chunks\""[..], b"\"assistant/"].iter().any(|tag| memmem::find(line, tag).is_some())
}

fn packed_row(raw: &str, blocks: &mut OpenBlocks, report: &mut DeepReport) -> Result<(), Message> {
    report.packed_rows += 1;
    let row: RowWire = serde_json::from_str(raw).map_err(Message::verbatim)?;
    let payload = row.texts.or(row.args).ok_or_else(|| Message::new("verify.no-texts"))?;
    if payload.len() != row.dt.len() + 1 {
        return Err(message!("verify.members-and-gaps", members = payload.len(), gaps = row.dt.len()));
    }
    // A block whose beginning was not read cannot be compared.
    if let Some(text) = row.index.and_then(|index| blocks.get_mut(&index)) {
        payload.iter().for_each(|piece| text.push_str(&piece.0));
    }
    Ok(())
}

/// Takes one chunk; true when it finishes the attempt.
fn single_chunk(raw: &str, blocks: &mut OpenBlocks, report: &mut DeepReport) -> Result<bool, Message> {
    let chunk: ChunkWire = serde_json::from_str(raw).map_err(Message::verbatim)?;
    let index = chunk.index.unwrap_or(0);
    match chunk.r#type.0.as_str() {
        "block-start" => {
            blocks.insert(index, String::new());
        }
        "text-delta" | "reasoning-delta" | "tool-call-delta" => {
            if let (Some(text), Some(piece)) = (blocks.get_mut(&index), chunk.text.or(chunk.arguments_delta)) {
                text.push_str(&piece.0);
            }
        }
        "block-end" => {
            let closing = chunk.block.and_then(|block| block.text.or(block.arguments));
            if let (Some(deltas), Some(closing)) = (blocks.remove(&index), closing) {
                report.blocks += 1;
                compare(index, &deltas, &closing.0)?;
            }
        }
        "finish" => return Ok(true),
        _ => {}
    }
    Ok(false)
}

fn compare(index: u64, deltas: &str, closing: &str) -> Result<(), Message> {
    // A surrogate pair cut between two deltas is replaced in both halves here, and whole in the closing text.
    if deltas == closing || deltas.contains('\u{FFFD}') {
        return Ok(());
    }
    let same = deltas.bytes().zip(closing.bytes()).take_while(|(a, b)| a == b).count();
    Err(message!("verify.block-parts", index = index, deltas = deltas.len(), closing = closing.len(), same = same))
}
