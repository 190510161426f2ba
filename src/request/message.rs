//! A logged message, taken apart into the blocks that adapters turn into wire messages.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json_text::decode;
use crate::event::MessageKind;

/// A content block; texts are raw JSON strings.
#[derive(Debug)]
pub enum Block<'a> {
    /// `text`
    Text(&'a str),
    /// `reasoning`
    Reasoning {
        /// Its text.
        text: &'a str,
        /// The wire field it came in, where the adapter noted it (`replayState.blocks[].thinkingSignature`).
        signature: Option<String>,
    },
    /// `tool-call`
    ToolCall {
        /// Call id.
        id: &'a str,
        /// Tool name.
        name: &'a str,
        /// Arguments: JSON text inside a JSON string.
        arguments: &'a str,
    },
    /// `tool-result`: the one of a message up to v3, or the whole message from v4 on.
    ToolResult {
        /// Call id.
        id: &'a str,
        /// Its text blocks.
        texts: Vec<&'a str>,
        /// Blocks that are not text, as JSON.
        others: Vec<&'a str>,
    },
    /// Anything else (images, files, plugins' blocks), as JSON.
    Other(&'a str),
}

/// A logged message.
#[derive(Debug)]
pub struct LoggedMessage<'a> {
    /// Which event it came from.
    pub kind: MessageKind,
    /// Its blocks.
    pub blocks: Vec<Block<'a>>,
    /// Provider and model that wrote it.
    pub source: Option<(String, String)>,
}

/// A user message is the event's data itself; the others stand beside turn and step.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventData<'a> {
    #[serde(borrow)]
    message: Option<MessageWire<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageWire<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockWire<'a> {
    #[serde(borrow)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SourceWire<'a> {
    #[serde(borrow)]
    provider: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    replay_state: Option<ReplayWire>,
}

#[derive(Deserialize)]
struct ReplayWire {
    blocks: Option<Vec<serde_json::Value>>,
}

const EMPTY: &str = "\"\"";

fn text_of(raw: Option<&RawValue>) -> &str {
    raw.map(RawValue::get).filter(|r| r.starts_with('"')).unwrap_or(EMPTY)
}

impl<'a> LoggedMessage<'a> {
    /// Takes apart the `data` of a message event.
    ///
    /// # Errors
    /// When it is not a message as the harness writes it.
    pub fn parse(kind: MessageKind, data: &'a str) -> Result<Self, serde_json::Error> {
        let event: EventData<'a> = serde_json::from_str(data)?;
        let wire = event.message.unwrap_or(MessageWire { content: event.content, source: None, tool_call_id: None });
        let source: Option<SourceWire<'a>> = match (kind, wire.source) {
            (MessageKind::Assistant, Some(raw)) => serde_json::from_str(raw.get()).ok(),
            _ => None,
        };
        let signatures = source.as_ref().and_then(|s| s.replay_state.as_ref()).and_then(|r| r.blocks.as_deref());
        let mut blocks = blocks_of(wire.content, signatures)?;
        if let (MessageKind::ToolResult, Some(id)) = (kind, wire.tool_call_id) {
            blocks = vec![tool_result(id.get(), blocks)];
        }
        let source = source.map(|s| (decode(text_of(s.provider)), decode(text_of(s.model))));
        Ok(Self { kind, blocks, source })
    }
}

fn blocks_of<'a>(
    content: Option<&'a RawValue>,
    replay: Option<&[serde_json::Value]>,
) -> Result<Vec<Block<'a>>, serde_json::Error> {
    let Some(raw) = content.map(RawValue::get) else { return Ok(Vec::new()) };
    if raw.starts_with('"') {
        return Ok(vec![Block::Text(raw)]);
    }
    let Ok(wires) = serde_json::from_str::<Vec<BlockWire<'a>>>(raw) else {
        // Blocks that are no objects: kept as what they are.
        return Ok(raw_blocks(raw)?.into_iter().map(Block::Other).collect());
    };
    let mut raws: Option<Vec<&'a str>> = None;
    let mut blocks = Vec::with_capacity(wires.len());
    for (index, wire) in wires.into_iter().enumerate() {
        blocks.push(match wire.r#type.map(RawValue::get) {
            Some("\"text\"") => Block::Text(text_of(wire.text)),
            Some("\"reasoning\"") => Block::Reasoning {
                text: text_of(wire.text),
                signature: replay
                    .and_then(|blocks| blocks.get(index)?.get("thinkingSignature")?.as_str())
                    .map(str::to_owned),
            },
            Some("\"tool-call\"") => {
                Block::ToolCall { id: text_of(wire.id), name: text_of(wire.name), arguments: text_of(wire.arguments) }
            }
            Some("\"tool-result\"") => tool_result(text_of(wire.tool_call_id), blocks_of(wire.content, None)?),
            // Only unknown blocks are looked at as a whole, so only they cost a second pass.
            _ => {
                if raws.is_none() {
                    raws = Some(raw_blocks(raw)?);
                }
                Block::Other(raws.as_ref().and_then(|r| r.get(index)).copied().unwrap_or("null"))
            }
        });
    }
    Ok(blocks)
}

fn raw_blocks(raw: &str) -> Result<Vec<&str>, serde_json::Error> {
    Ok(serde_json::from_str::<Vec<&RawValue>>(raw)?.into_iter().map(RawValue::get).collect())
}

fn tool_result<'a>(id: &'a str, content: Vec<Block<'a>>) -> Block<'a> {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for block in content {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Other(raw) => others.push(raw),
            // Nested calls and results have no meaning inside a result; adapters drop them.
            _ => {}
        }
    }
    Block::ToolResult { id, texts, others }
}
