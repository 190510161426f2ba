//! What adapters put on the wire (`docs/format.md`, "The request behind an attempt"): key order and all. Bodies rebuilt
//! by these rules equal the recorded ones byte for byte.

use std::io::Write;

use crate::event::json_text::{RawText, Sink, utf16_units, write_compact};
use crate::event::walk::Walk;
use crate::event::{Block, LoggedMessage, MessageKind};

/// The adapter of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// pi-ai, `openai-completions`.
    PiAi,
    /// `llm-deepseek`.
    DeepSeek,
}

impl Adapter {
    /// The adapter that serves a provider.
    pub fn of(provider: &str) -> Self {
        if provider == "deepseek-official" { Self::DeepSeek } else { Self::PiAi }
    }
}

/// How a message is written: pi-ai treats reasoning of the requested model unlike that of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// pi-ai, the message is of the requested provider and model (or no assistant message at all).
    PiAiOwn,
    /// pi-ai, the message is another model's.
    PiAiForeign,
    /// `llm-deepseek`.
    DeepSeek,
}

/// Writes the wire messages of a logged message, each with a comma behind it, and returns how many there are.
pub fn write_messages(message: &LoggedMessage<'_>, variant: Variant, out: &mut impl Sink) -> u64 {
    let role: &[u8] = match message.kind {
        MessageKind::Assistant => return write_assistant(message, variant, out),
        MessageKind::System => b"system",
        MessageKind::Developer => b"developer",
        MessageKind::User | MessageKind::ToolResult => b"user",
    };
    let mut count = 0;
    let mut texts = message.blocks.iter().filter_map(|b| if let Block::Text(text) = b { Some(*text) } else { None });
    let has_results = message.blocks.iter().any(|b| matches!(b, Block::ToolResult { .. }));
    // An empty system node is a place holder; an empty user message is a message.
    let sends = match message.kind {
        MessageKind::System | MessageKind::Developer => texts.clone().any(|t| !t.is_empty()),
        _ => !has_results || texts.clone().next().is_some(),
    };
    if sends {
        out.put(b"{\"role\":\"");
        out.put(role);
        out.put(b"\",\"content\":\"");
        texts.by_ref().for_each(|text| text.write_inside(out));
        out.put(b"\"},");
        count += 1;
    }
    for block in &message.blocks {
        let Block::ToolResult { id, texts, .. } = block else { continue };
        out.put(b"{\"role\":\"tool\",");
        if variant == Variant::DeepSeek {
            write_field(b"tool_call_id", *id, out);
            out.put(b",");
        }
        out.put(b"\"content\":\"");
        write_joined(texts, out);
        out.put(b"\"");
        if variant != Variant::DeepSeek {
            out.put(b",");
            write_field(b"tool_call_id", *id, out);
        }
        out.put(b"},");
        count += 1;
    }
    count
}

fn write_field(name: &[u8], text: RawText<'_>, out: &mut impl Sink) {
    out.put(b"\"");
    out.put(name);
    out.put(b"\":\"");
    text.write_inside(out);
    out.put(b"\"");
}

/// The texts of one tool result. Several are joined by a line break, none reads `(no output)`: assumed, no recording has it.
fn write_joined(texts: &[RawText<'_>], out: &mut impl Sink) {
    let before = out.length();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.put(b"\\n");
        }
        text.write_inside(out);
    }
    if out.length() == before {
        out.put(b"(no output)");
    }
}

fn write_assistant(message: &LoggedMessage<'_>, variant: Variant, out: &mut impl Sink) -> u64 {
    let start = out.length();
    out.put(b"{\"role\":\"assistant\",\"content\":\"");
    let content_start = out.length();
    const REASONING_CONTENT: RawText<'static> = RawText::plain("\"reasoning_content\"");
    let mut reasoning: Vec<RawText<'_>> = Vec::new();
    let mut field: Option<RawText<'_>> = (variant == Variant::DeepSeek).then_some(REASONING_CONTENT);
    for block in &message.blocks {
        match block {
            Block::Text(text) if variant == Variant::DeepSeek || !is_blank(*text) => text.write_inside(out),
            Block::Reasoning { text, signature } if !is_blank(*text) => match variant {
                Variant::PiAiForeign => text.write_inside(out),
                _ => {
                    reasoning.push(*text);
                    field = field.or(signature.filter(|s| !s.is_empty()));
                }
            },
            _ => {}
        }
    }
    let has_text = out.length() > content_start;
    if has_text || variant == Variant::DeepSeek {
        out.put(b"\"");
    } else {
        out.cut(content_start - 1);
        out.put(b"null");
    }
    if let Some(field) = field.filter(|_| !reasoning.is_empty()) {
        out.put(b",\"");
        field.write_inside(out);
        out.put(b"\":\"");
        for (index, text) in reasoning.iter().enumerate() {
            if index > 0 {
                out.put(b"\\n");
            }
            text.write_inside(out);
        }
        out.put(b"\"");
    }
    let mut calls = 0;
    for block in &message.blocks {
        let Block::ToolCall { id, name, arguments, compact } = block else { continue };
        out.put(if calls == 0 { b",\"tool_calls\":[{" } else { b",{" });
        write_field(b"id", *id, out);
        out.put(b",\"type\":\"function\",\"function\":{");
        write_field(b"name", *name, out);
        out.put(b",");
        // pi-ai parses the arguments and writes them again; `llm-deepseek` passes the text on.
        match compact.as_deref().filter(|_| variant != Variant::DeepSeek) {
            None => write_field(b"arguments", *arguments, out),
            Some(text) => {
                out.put(b"\"arguments\":");
                out.put(serde_json::Value::from(text).to_string().as_bytes());
            }
        }
        out.put(b"}}");
        calls += 1;
    }
    if calls > 0 {
        out.put(b"]");
    }
    // pi-ai drops a message of reasoning alone when it goes into a field of its own.
    let empty = !has_text && calls == 0 && (variant != Variant::DeepSeek || reasoning.is_empty());
    if empty {
        out.cut(start);
        return 0;
    }
    out.put(b"},");
    1
}

/// Whether a text is white space alone, as JavaScript's `trim` sees it.
fn is_blank(text: RawText<'_>) -> bool {
    let mut rest = text.inside().trim_start();
    while let Some(escape) = rest.strip_prefix('\\') {
        match escape.as_bytes().first() {
            Some(b'n' | b't' | b'r' | b'f') => rest = escape[1..].trim_start(),
            Some(b'u') => return text.decode().trim().is_empty(),
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Writes a text as a JSON string.
pub fn write_json_string(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
    }
}

/// The tools of a header.
#[derive(Debug, Default, Clone)]
pub struct WireTools {
    /// Compact JSON, `[{name,description,parameters}]`.
    pub plain: String,
    /// UTF-16 units of it; 0 where there are no tools.
    pub units: u64,
    /// Tools.
    pub count: u32,
    /// Where each tool begins and ends in `plain`.
    places: Vec<(usize, usize)>,
}

const TOOL_HEAD: &str = "{\"type\":\"function\",\"function\":";
const PI_AI_TOOL_TAIL: &str = ",\"strict\":false}}";
const DEEPSEEK_TOOL_TAIL: &str = "}}";

impl WireTools {
    /// From `header.tools`; `None` when it is not an array of objects.
    pub fn parse(raw: &str) -> Option<Self> {
        let (mut plain, mut places) = (Vec::with_capacity(raw.len()), Vec::new());
        plain.push(b'[');
        let mut walk = Walk::new(raw, usize::MAX);
        walk.array(|walk| {
            let mut parts = [None; 3];
            walk.object(|key, walk| {
                let value = walk.value()?.raw();
                if let Some(index) = TOOL_KEYS.iter().position(|wanted| *wanted == key) {
                    parts[index] = Some(value);
                }
                Some(())
            })?;
            if plain.len() > 1 {
                plain.push(b',');
            }
            let start = plain.len();
            plain.push(b'{');
            for (key, value) in TOOL_KEYS.iter().zip(parts) {
                let Some(value) = value.filter(|raw| *raw != "null") else { continue };
                if plain.len() > start + 1 {
                    plain.push(b',');
                }
                plain.extend_from_slice(key.as_bytes());
                plain.push(b':');
                write_compact(value, &mut plain);
            }
            plain.push(b'}');
            places.push((start, plain.len()));
            Some(())
        })?;
        plain.push(b']');
        let plain = String::from_utf8(plain).ok()?;
        let units = if places.is_empty() { 0 } else { utf16_units(&plain) };
        Some(Self { units, count: places.len() as u32, plain, places })
    }

    /// Bytes of the array's inside in the form of an adapter.
    pub fn length(&self, adapter: Adapter) -> usize {
        let around = TOOL_HEAD.len() + Self::tail(adapter).len() - 1;
        if self.places.is_empty() { 0 } else { self.plain.len() - 2 + around * self.places.len() }
    }

    /// The array's inside in the form of an adapter.
    pub fn written(&self, adapter: Adapter) -> String {
        let tool = |(start, end): &(usize, usize)| {
            format!("{TOOL_HEAD}{}{}", self.plain.get(*start..end - 1).unwrap_or(""), Self::tail(adapter))
        };
        self.places.iter().map(tool).collect::<Vec<_>>().join(",")
    }

    fn tail(adapter: Adapter) -> &'static str {
        match adapter {
            Adapter::PiAi => PI_AI_TOOL_TAIL,
            Adapter::DeepSeek => DEEPSEEK_TOOL_TAIL,
        }
    }
}

const TOOL_KEYS: [&str; 3] = ["\"name\"", "\"description\"", "\"parameters\""];

/// Writes everything behind the messages. `tools`: in wire form, `None` when there are none.
pub fn write_tail(
    adapter: Adapter,
    max_tokens: Option<u64>,
    effort: Option<&str>,
    tools: Option<&str>,
    out: &mut Vec<u8>,
) {
    let limit = |out: &mut Vec<u8>| {
        if let Some(limit) = max_tokens {
            out.extend_from_slice(b",\"max_tokens\":");
            // Writing into a vector does not fail.
            let _ = write!(out, "{limit}");
        }
    };
    let tools = |out: &mut Vec<u8>| {
        if let Some(tools) = tools {
            out.extend_from_slice(b",\"tools\":[");
            out.extend_from_slice(tools.as_bytes());
            out.push(b']');
        }
    };
    out.extend_from_slice(b"],\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    match adapter {
        Adapter::PiAi => {
            out.extend_from_slice(b",\"store\":false");
            limit(out);
            tools(out);
        }
        Adapter::DeepSeek => {
            out.extend_from_slice(b",\"thinking\":{\"type\":\"enabled\"}");
            if let Some(effort) = effort {
                out.extend_from_slice(b",\"reasoning_effort\":");
                write_json_string(effort, out);
            }
            tools(out);
            limit(out);
        }
    }
    out.push(b'}');
}
