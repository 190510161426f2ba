//! A logged message, taken apart into the blocks that adapters turn into wire messages.

use serde::Deserialize;

use super::json_text::decode;
use crate::event::MessageKind;
use crate::event::walk::Walk;

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

/// Who wrote a message, and what its adapter noted about the blocks.
#[derive(Default)]
struct Source<'a> {
    provider: Option<&'a str>,
    model: Option<&'a str>,
    replay_state: Option<&'a str>,
}

#[derive(Deserialize)]
struct ReplayState {
    blocks: Option<Vec<serde_json::Value>>,
}

impl<'a> Source<'a> {
    fn parse(raw: &'a str) -> Option<Self> {
        let mut source = Self::default();
        Walk::new(raw).object(&mut |key, walk| {
            let value = walk.value()?;
            match key {
                "\"provider\"" => source.provider = Some(value),
                "\"model\"" => source.model = Some(value),
                "\"replayState\"" => source.replay_state = Some(value),
                _ => {}
            }
            Some(())
        })?;
        Some(source)
    }

    /// Notes the wire field of each reasoning block; only messages with reasoning are looked at.
    fn sign(&self, blocks: &mut [Block<'a>]) {
        if !blocks.iter().any(|block| matches!(block, Block::Reasoning { .. })) {
            return;
        }
        let state = self.replay_state.and_then(|raw| serde_json::from_str::<ReplayState>(raw).ok());
        let notes = state.and_then(|state| state.blocks).unwrap_or_default();
        for (block, note) in blocks.iter_mut().zip(notes) {
            if let Block::Reasoning { signature, .. } = block {
                *signature = note.get("thinkingSignature").and_then(|s| s.as_str()).map(str::to_owned);
            }
        }
    }
}

const EMPTY: &str = "\"\"";

/// The value of a raw JSON string, empty where it is none.
fn text_of(raw: Option<&str>) -> String {
    decode(raw.filter(|raw| raw.starts_with('"')).unwrap_or(EMPTY))
}

/// The parts of a message, wherever they stand: a user message is the event's data itself, the others stand beside turn
/// and step.
#[derive(Default)]
struct Parts<'a> {
    content: Content<'a>,
    source: Option<&'a str>,
    tool_call_id: Option<&'a str>,
}

#[derive(Default)]
enum Content<'a> {
    #[default]
    None,
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

impl<'a> Content<'a> {
    fn into_blocks(self) -> Vec<Block<'a>> {
        match self {
            Self::None => Vec::new(),
            Self::Text(raw) => vec![Block::Text(raw)],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl<'a> LoggedMessage<'a> {
    /// Takes apart the `data` of a message event in one pass; `None` when it is not a message as the harness writes it.
    /// The data must be JSON, which the decoder has checked.
    pub fn parse(kind: MessageKind, data: &'a str) -> Option<Self> {
        let (mut outer, mut inner) = (Parts::default(), None);
        Walk::new(data).object(&mut |key, walk| match key {
            "\"message\"" if walk.peek() == Some(b'{') => {
                inner = Some(parts_of(walk)?);
                Some(())
            }
            "\"message\"" => (walk.value()? == "null").then_some(()),
            _ => outer.take(key, walk),
        })?;
        // Beside a message, `source` and the rest of the data are the event's own.
        let parts = inner.unwrap_or(Parts { content: outer.content, ..Parts::default() });
        let source = parts.source.filter(|_| kind == MessageKind::Assistant).and_then(Source::parse);
        let mut blocks = parts.content.into_blocks();
        if let Some(source) = &source {
            source.sign(&mut blocks);
        }
        if let (MessageKind::ToolResult, Some(id)) = (kind, parts.tool_call_id) {
            blocks = vec![tool_result(id, blocks)];
        }
        let source = source.map(|s| (text_of(s.provider), text_of(s.model)));
        Some(Self { kind, blocks, source })
    }
}

fn parts_of<'a>(walk: &mut Walk<'a>) -> Option<Parts<'a>> {
    let mut parts = Parts::default();
    walk.object(&mut |key, walk| parts.take(key, walk))?;
    Some(parts)
}

impl<'a> Parts<'a> {
    fn take(&mut self, key: &str, walk: &mut Walk<'a>) -> Option<()> {
        match key {
            "\"content\"" => self.content = content(walk, 0)?,
            "\"source\"" => self.source = known(walk.value()?),
            "\"toolCallId\"" => self.tool_call_id = known(walk.value()?),
            _ => drop(walk.value()?),
        }
        Some(())
    }
}

fn known(raw: &str) -> Option<&str> {
    Some(raw).filter(|raw| *raw != "null")
}

/// Results inside results mean nothing to an adapter: deeper content is not looked at.
const DEEPEST_CONTENT: usize = 1;

fn content<'a>(walk: &mut Walk<'a>, depth: usize) -> Option<Content<'a>> {
    if walk.peek()? != b'[' {
        let raw = walk.value()?;
        return match raw.as_bytes().first() {
            Some(b'"') => Some(Content::Text(raw)),
            _ => (raw == "null").then_some(Content::None),
        };
    }
    let mut blocks: Vec<(&'a str, Block<'a>)> = Vec::new();
    let mut all_objects = true;
    walk.array(&mut |walk| {
        if walk.peek()? == b'{' {
            let start = *walk;
            let block = block(walk, depth)?;
            let raw = walk.since(start)?;
            blocks.push((raw, block.unwrap_or(Block::Other(raw))));
        } else {
            all_objects = false;
            let raw = walk.value()?;
            blocks.push((raw, Block::Other(raw)));
        }
        Some(())
    })?;
    // Blocks that are no objects: all are kept as what they are.
    let keep = |(raw, block)| if all_objects { block } else { Block::Other(raw) };
    Some(Content::Blocks(blocks.into_iter().map(keep).collect()))
}

#[derive(Default)]
struct BlockParts<'a> {
    kind: &'a str,
    text: Option<&'a str>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: Option<&'a str>,
    tool_call_id: Option<&'a str>,
    content: Content<'a>,
}

/// A block, or `None` inside where its type is not one that adapters send.
fn block<'a>(walk: &mut Walk<'a>, depth: usize) -> Option<Option<Block<'a>>> {
    let mut parts = BlockParts::default();
    walk.object(&mut |key, walk| {
        if key == "\"content\"" && depth < DEEPEST_CONTENT && matches!(walk.peek()?, b'[' | b'"' | b'n') {
            parts.content = content(walk, depth + 1)?;
            return Some(());
        }
        let raw = walk.value()?;
        let text = Some(raw).filter(|raw| raw.starts_with('"'));
        match key {
            "\"type\"" => parts.kind = raw,
            "\"text\"" => parts.text = text,
            "\"id\"" => parts.id = text,
            "\"name\"" => parts.name = text,
            "\"arguments\"" => parts.arguments = text,
            "\"toolCallId\"" => parts.tool_call_id = text,
            _ => {}
        }
        Some(())
    })?;
    let or_empty = |raw: Option<&'a str>| raw.unwrap_or(EMPTY);
    Some(match parts.kind {
        "\"text\"" => Some(Block::Text(or_empty(parts.text))),
        "\"reasoning\"" => Some(Block::Reasoning { text: or_empty(parts.text), signature: None }),
        "\"tool-call\"" => Some(Block::ToolCall {
            id: or_empty(parts.id),
            name: or_empty(parts.name),
            arguments: or_empty(parts.arguments),
        }),
        "\"tool-result\"" => Some(tool_result(or_empty(parts.tool_call_id), parts.content.into_blocks())),
        _ => None,
    })
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
