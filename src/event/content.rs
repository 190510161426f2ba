//! A logged message, taken apart into the blocks that adapters turn into wire messages.

use super::MessageKind;
use super::json_text::RawText;
use super::walk::{Value, Walk};

/// A content block; texts are raw JSON strings.
#[derive(Debug)]
pub enum Block<'a> {
    /// `text`
    Text(RawText<'a>),
    /// `reasoning`
    Reasoning {
        /// Its text.
        text: RawText<'a>,
        /// The wire field it came in, where the adapter noted it (`replayState.blocks[].thinkingSignature`).
        signature: Option<RawText<'a>>,
    },
    /// `tool-call`
    ToolCall {
        /// Call id.
        id: RawText<'a>,
        /// Tool name.
        name: RawText<'a>,
        /// Arguments: JSON text inside a JSON string.
        arguments: RawText<'a>,
        /// The arguments in compact form, where they are JSON in another form.
        compact: Option<String>,
    },
    /// `tool-result`: the one of a message up to v3, or the whole message from v4 on.
    ToolResult {
        /// Call id.
        id: RawText<'a>,
        /// Its text blocks.
        texts: Vec<RawText<'a>>,
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
    pub source: Option<(RawText<'a>, RawText<'a>)>,
}

/// What stands in the `data` of a message event beside the message, raw.
#[derive(Debug, Default)]
pub(super) struct Beside<'a> {
    pub(super) turn: Option<Value<'a>>,
    pub(super) step: Option<Value<'a>>,
    pub(super) usage: Option<&'a str>,
    pub(super) interrupted: Option<&'a str>,
    pub(super) stream: Option<&'a str>,
}

/// Who wrote a message, and what its adapter noted about the blocks.
#[derive(Default)]
struct Source<'a> {
    provider: Option<RawText<'a>>,
    model: Option<RawText<'a>>,
    /// `replayState.blocks[].thinkingSignature`, an entry a block.
    signatures: Vec<Option<RawText<'a>>>,
}

impl<'a> Source<'a> {
    fn parse(walk: &mut Walk<'a>) -> Option<Self> {
        let mut source = Self::default();
        walk.object(|key, walk| {
            match key {
                "\"provider\"" => source.provider = walk.value()?.text(),
                "\"model\"" => source.model = walk.value()?.text(),
                "\"replayState\"" if walk.peek() == Some(b'{') => source.signatures = signatures(walk)?,
                _ => drop(walk.value()?),
            }
            Some(())
        })?;
        Some(source)
    }

    /// Notes the wire field of each reasoning block.
    fn sign(&self, blocks: &mut [Block<'a>]) {
        for (block, note) in blocks.iter_mut().zip(&self.signatures) {
            if let Block::Reasoning { signature, .. } = block {
                *signature = *note;
            }
        }
    }
}

fn signatures<'a>(walk: &mut Walk<'a>) -> Option<Vec<Option<RawText<'a>>>> {
    let mut found = Vec::new();
    walk.object(|key, walk| {
        if key != "\"blocks\"" || walk.peek() != Some(b'[') {
            return walk.value().map(drop);
        }
        found.clear();
        walk.array(|walk| {
            let mut signature = None;
            if walk.peek()? == b'{' {
                walk.object(|key, walk| {
                    let value = walk.value()?;
                    if key == "\"thinkingSignature\"" {
                        signature = value.text();
                    }
                    Some(())
                })?;
            } else {
                walk.value()?;
            }
            found.push(signature);
            Some(())
        })
    })?;
    Some(found)
}

/// The parts of a message, wherever they stand: a user message is the event's data itself, the others stand beside turn
/// and step.
#[derive(Default)]
struct Parts<'a> {
    content: Content<'a>,
    source: Option<Source<'a>>,
    tool_call_id: Option<Value<'a>>,
}

#[derive(Default)]
enum Content<'a> {
    #[default]
    None,
    Text(RawText<'a>),
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
    /// Takes apart the `data` of a message event; `None` when it is not a message as the harness writes it.
    pub fn parse(kind: MessageKind, data: &'a str) -> Option<Self> {
        take_apart(kind, data, usize::MAX).map(|(message, _)| message)
    }
}

/// Takes apart the `data` of a message event in one pass, nested at most `depth` deep; `None` when it is no JSON, or not
/// a message as the harness writes it.
pub(super) fn take_apart<'a>(
    kind: MessageKind,
    data: &'a str,
    depth: usize,
) -> Option<(LoggedMessage<'a>, Beside<'a>)> {
    let (mut outer, mut inner, mut beside) = (Parts::default(), None, Beside::default());
    let mut walk = Walk::new(data, depth);
    walk.object(|key, walk| {
        match key {
            "\"message\"" if walk.peek() == Some(b'{') => {
                let mut parts = Parts::default();
                walk.object(|key, walk| parts.take(kind, key, walk))?;
                inner = Some(parts);
            }
            "\"message\"" => return (walk.value()?.raw() == "null").then_some(()),
            "\"turn\"" => beside.turn = Some(walk.value()?),
            "\"step\"" => beside.step = Some(walk.value()?),
            "\"usage\"" => beside.usage = Some(walk.value()?.raw()),
            "\"interrupted\"" => beside.interrupted = Some(walk.value()?.raw()),
            "\"stream\"" => beside.stream = known(walk.value()?.raw()),
            _ => outer.take(kind, key, walk)?,
        }
        Some(())
    })?;
    if !walk.is_at_end() {
        return None;
    }
    // Beside a message, `source` and the rest of the data are the event's own.
    let parts = inner.unwrap_or(Parts { content: outer.content, ..Parts::default() });
    let mut blocks = parts.content.into_blocks();
    if let Some(source) = &parts.source {
        source.sign(&mut blocks);
    }
    if let (MessageKind::ToolResult, Some(id)) = (kind, parts.tool_call_id) {
        blocks = vec![tool_result(id.text().unwrap_or(RawText::EMPTY), blocks)];
    }
    let name = |text: Option<RawText<'a>>| text.unwrap_or(RawText::EMPTY);
    let source = parts.source.map(|s| (name(s.provider), name(s.model)));
    Some((LoggedMessage { kind, blocks, source }, beside))
}

impl<'a> Parts<'a> {
    fn take(&mut self, kind: MessageKind, key: &str, walk: &mut Walk<'a>) -> Option<()> {
        match key {
            "\"content\"" => self.content = content(walk, 0)?,
            "\"source\"" if kind == MessageKind::Assistant && walk.peek() == Some(b'{') => {
                self.source = Some(Source::parse(walk)?);
            }
            "\"toolCallId\"" => self.tool_call_id = Some(walk.value()?).filter(|value| value.raw() != "null"),
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
        return match walk.value()? {
            Value::Text(text) => Some(Content::Text(text)),
            Value::Other(raw) => (raw == "null").then_some(Content::None),
        };
    }
    let mut again = *walk;
    let (mut blocks, mut all_objects) = (Vec::with_capacity(1), true);
    walk.array(|walk| {
        if walk.peek()? == b'{' {
            let start = *walk;
            let block = block(walk, depth)?;
            blocks.push(block.unwrap_or(Block::Other(walk.since(start)?)));
        } else {
            all_objects = false;
            walk.value()?;
        }
        Some(())
    })?;
    if !all_objects {
        // Blocks that are no objects: all are kept as what they are.
        blocks.clear();
        again.array(|walk| {
            blocks.push(Block::Other(walk.value()?.raw()));
            Some(())
        })?;
    }
    Some(Content::Blocks(blocks))
}

#[derive(Default)]
struct BlockParts<'a> {
    kind: &'a str,
    text: Option<RawText<'a>>,
    id: Option<RawText<'a>>,
    name: Option<RawText<'a>>,
    arguments: Option<RawText<'a>>,
    tool_call_id: Option<RawText<'a>>,
    content: Content<'a>,
}

/// A block, or `None` inside where its type is not one that adapters send.
fn block<'a>(walk: &mut Walk<'a>, depth: usize) -> Option<Option<Block<'a>>> {
    let mut parts = BlockParts::default();
    walk.object(|key, walk| {
        if key == "\"content\"" && depth < DEEPEST_CONTENT && matches!(walk.peek()?, b'[' | b'"' | b'n') {
            parts.content = content(walk, depth + 1)?;
            return Some(());
        }
        let value = walk.value()?;
        match key {
            "\"type\"" => parts.kind = value.raw(),
            "\"text\"" => parts.text = value.text(),
            "\"id\"" => parts.id = value.text(),
            "\"name\"" => parts.name = value.text(),
            "\"arguments\"" => parts.arguments = value.text(),
            "\"toolCallId\"" => parts.tool_call_id = value.text(),
            _ => {}
        }
        Some(())
    })?;
    let or_empty = |text: Option<RawText<'a>>| text.unwrap_or(RawText::EMPTY);
    Some(match parts.kind {
        "\"text\"" => Some(Block::Text(or_empty(parts.text))),
        "\"reasoning\"" => Some(Block::Reasoning { text: or_empty(parts.text), signature: None }),
        "\"tool-call\"" => {
            let arguments = or_empty(parts.arguments);
            let (id, name) = (or_empty(parts.id), or_empty(parts.name));
            Some(Block::ToolCall { id, name, arguments, compact: arguments.compact_json() })
        }
        "\"tool-result\"" => Some(tool_result(or_empty(parts.tool_call_id), parts.content.into_blocks())),
        _ => None,
    })
}

fn tool_result<'a>(id: RawText<'a>, content: Vec<Block<'a>>) -> Block<'a> {
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
