//! Follows the surface of a session and keeps running sums, so that the size of a request costs the same whatever its
//! context.

use super::sums::{Sums, image_tokens};
use super::surface::Surface;
use super::wire::{Adapter, Variant, WireTools, write_json_string, write_messages, write_tail};
use crate::event::json_text::{Length, RawText, Sink, utf16_units};
use crate::event::{Block, LoggedMessage, Message, MessageKind, RequestHeader, SurfaceOp};
use crate::session::RequestSize;
use crate::tokens::{TextPiece, TokenLog};

/// What is sent beside the surface.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// Provider of the route.
    pub provider: &'a str,
    /// Model of the route.
    pub model: &'a str,
    /// Context window in force, tokens.
    pub window: Option<u64>,
    /// Output limit of the header, tokens.
    pub max_tokens: Option<u64>,
    /// Reasoning effort of the header.
    pub effort: Option<&'a str>,
}

#[derive(Debug)]
struct Node {
    sums: Sums,
    /// Index into `sources` for assistant messages.
    source: Option<usize>,
    /// Index into the token log.
    text: u32,
    kind: MessageKind,
    /// `data` as logged, where bodies are wanted.
    raw: Option<Box<str>>,
}

/// What pi-ai sends of a model's own messages, beyond what it sends of another model's.
#[derive(Debug)]
struct Source {
    provider: String,
    model: String,
    /// Both as logged.
    raw: (String, String),
    own: Sums,
}

/// Follows headers and messages; see the module.
#[derive(Debug, Default)]
pub struct RequestSizer {
    surface: Surface<Node>,
    totals: Sums,
    sources: Vec<Source>,
    header_raw: String,
    header_sums: Sums,
    /// Pieces of the header in the token log.
    system_text: Option<u32>,
    tools_text: Option<u32>,
    tools: WireTools,
    system_raw: Option<String>,
    identity: u64,
    scratch: Vec<u8>,
    keep_raw: bool,
    tokens: TokenLog,
}

fn quarter(units: u64) -> u64 {
    units.div_ceil(4)
}

impl RequestSizer {
    /// A sizer; `keep_raw`: keeps what [`Self::body`] needs.
    pub fn new(keep_raw: bool) -> Self {
        Self { keep_raw, ..Self::default() }
    }

    /// Texts and surface changes so far.
    pub fn tokens(&self) -> &TokenLog {
        &self.tokens
    }

    /// Gives the token log away.
    pub fn take_tokens(&mut self) -> TokenLog {
        std::mem::take(&mut self.tokens)
    }

    /// Takes a request header; the same header again changes nothing.
    pub fn header(&mut self, header: &RequestHeader<'_>) {
        if self.header_raw == header.raw {
            return;
        }
        header.raw.clone_into(&mut self.header_raw);
        self.identity += 1;
        let tools = header.tools.and_then(WireTools::parse).unwrap_or_default();
        let system = header.system.filter(|text| !text.is_empty()).map(RawText::raw);
        self.header_texts(system, &tools);
        self.tools = tools;
        self.system_raw = system.map(str::to_owned);
        let sums = self.measure_header();
        self.totals.subtract(&self.header_sums);
        self.totals.add(&sums);
        self.header_sums = sums;
    }

    /// System text and tools are texts of their own, as in the formats in which the system text is a message. One that
    /// stays the same does not leave.
    fn header_texts(&mut self, system: Option<&str>, tools: &WireTools) {
        if system != self.system_raw.as_deref() {
            self.system_text.take().into_iter().for_each(|old| self.tokens.remove(old));
            self.system_text = system.map(|raw| {
                self.tokens.begin();
                self.tokens.text(raw);
                self.tokens.add(TextPiece { messages: 1, ..TextPiece::default() })
            });
        }
        if tools.plain != self.tools.plain {
            self.tools_text.take().into_iter().for_each(|old| self.tokens.remove(old));
            self.tools_text = (tools.count > 0).then(|| {
                self.tokens.begin();
                self.tokens.plain_text(&tools.plain);
                // A tool has a frame of its own, as a call has.
                self.tokens.add(TextPiece { calls: tools.count, ..TextPiece::default() })
            });
        }
    }

    fn measure_header(&self) -> Sums {
        let mut sums = Sums::default();
        if let Some(raw) = &self.system_raw {
            let mut length = Length::default();
            write_system(raw, &mut length);
            let units = RawText::of(raw).units();
            sums.bytes = [length.length() as u64; 3];
            sums.messages = [1; 3];
            sums.chars.system = units;
            sums.harness_tokens += quarter(units) + 4;
            sums.clamp_tokens += quarter(units);
        }
        if self.tools.units > 0 {
            sums.chars.tools = self.tools.units;
            sums.harness_tokens += quarter(self.tools.units) + 4;
            sums.clamp_tokens += quarter(self.tools.units);
        }
        sums
    }

    /// Takes a message event.
    pub fn message(&mut self, message: &Message<'_>, seq: u64) {
        let Some(op) = message.op else { return };
        self.identity += 1;
        let node = self.measure(message);
        self.enter(&node);
        let gone = match op {
            SurfaceOp::Append => {
                self.surface.append(seq, node);
                Vec::new()
            }
            SurfaceOp::Replace { start, end } => self.surface.replace(start, end, seq, node),
        };
        self.leave(&gone);
    }

    /// Another writer continued the log from `seq`: what this one wrote from there on is not in its requests.
    pub fn rewind(&mut self, seq: u64) {
        self.identity += 1;
        let gone = self.surface.rewind(seq);
        self.leave(&gone);
    }

    fn enter(&mut self, node: &Node) {
        self.totals.add(&node.sums);
        if let Some(source) = node.source.and_then(|i| self.sources.get_mut(i)) {
            source.own.add(&node.sums);
        }
    }

    fn leave(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.totals.subtract(&node.sums);
            if let Some(source) = node.source.and_then(|i| self.sources.get_mut(i)) {
                source.own.subtract(&node.sums);
            }
            self.tokens.remove(node.text);
        }
    }

    fn measure(&mut self, message: &Message<'_>) -> Node {
        let raw = self.keep_raw.then(|| message.raw.into());
        let Some(logged) = &message.logged else {
            let sums = Sums { opaque: 1, ..Sums::default() };
            self.tokens.begin();
            return Node { sums, source: None, text: self.tokens.add(TextPiece::default()), kind: message.kind, raw };
        };
        let mut sums = Sums::default();
        let assistant = message.kind == MessageKind::Assistant;
        let has_reasoning = logged.blocks.iter().any(|b| matches!(b, Block::Reasoning { .. }));
        for (index, variant) in [Variant::PiAiOwn, Variant::PiAiForeign, Variant::DeepSeek].into_iter().enumerate() {
            // Only assistant messages differ in length between variants, and between pi-ai's two only by reasoning.
            if index > 0 && (!assistant || (index == 1 && !has_reasoning)) {
                sums.bytes[index] = sums.bytes[0];
                sums.messages[index] = sums.messages[0];
                continue;
            }
            let mut length = Length::default();
            sums.messages[index] = write_messages(logged, variant, &mut length);
            sums.bytes[index] = length.length() as u64;
        }
        let piece = Self::estimate(logged, &mut sums, &mut self.tokens);
        let source = logged.source.map(|(provider, model)| self.source(provider, model));
        Node { sums, source, text: self.tokens.add(piece), kind: message.kind, raw }
    }

    fn source(&mut self, provider: RawText<'_>, model: RawText<'_>) -> usize {
        let known = self.sources.iter().position(|s| s.raw.0 == provider.raw() && s.raw.1 == model.raw());
        known.unwrap_or_else(|| {
            let raw = (provider.raw().to_owned(), model.raw().to_owned());
            self.sources.push(Source { provider: provider.decode(), model: model.decode(), raw, own: Sums::default() });
            self.sources.len() - 1
        })
    }

    /// Characters, the harness's own meter and pi-ai's clamp meter (`docs/format.md`); gathers the text for the tokenizer.
    fn estimate(message: &LoggedMessage<'_>, sums: &mut Sums, tokens: &mut TokenLog) -> TextPiece {
        tokens.begin();
        let mut piece = TextPiece { messages: sums.messages[1].max(sums.messages[2]) as u32, ..TextPiece::default() };
        let (mut own, mut tool, mut blocks) = (0u64, 0u64, 0u64);
        let mut clamp_units = 0u64;
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Reasoning { text, .. } => {
                    let units = text.units();
                    own += units;
                    clamp_units += units;
                    blocks += quarter(units) + 4;
                    tokens.text(text.raw());
                }
                Block::ToolCall { name, arguments, compact, .. } => {
                    let (name_units, units) = (name.units(), arguments.units());
                    own += name_units + units;
                    blocks += quarter(name_units) + quarter(units) + 4;
                    clamp_units += name_units + compact.as_deref().map_or(units, utf16_units);
                    tokens.text(name.raw());
                    tokens.text(arguments.raw());
                    piece.calls += 1;
                }
                Block::ToolResult { texts, others, .. } => {
                    let mut result_units = 0;
                    for text in texts {
                        let units = text.units();
                        result_units += units;
                        blocks += quarter(units) + 4;
                        tokens.text(text.raw());
                    }
                    for other in others {
                        blocks += 4 + quarter(utf16_units(other));
                    }
                    blocks += 4;
                    tool += result_units;
                    sums.clamp_tokens += quarter(result_units);
                }
                Block::Other(raw) => {
                    blocks += 4 + quarter(utf16_units(raw));
                    sums.opaque = 1;
                    piece.image_tokens += image_tokens(raw);
                }
            }
        }
        sums.chars.tool = tool;
        sums.clamp_tokens += quarter(clamp_units);
        match message.kind {
            MessageKind::System | MessageKind::Developer => {
                sums.chars.system = own;
                // An empty node sends nothing and counts nothing.
                sums.harness_tokens = if own > 0 { quarter(own) + 4 } else { 0 };
                return piece;
            }
            MessageKind::User | MessageKind::ToolResult => sums.chars.user = own,
            MessageKind::Assistant => sums.chars.assistant = own,
        }
        sums.harness_tokens = blocks + 4;
        piece
    }

    /// The size of the request that would be sent now.
    pub fn size(&mut self, sending: Sending<'_>) -> RequestSize {
        let adapter = Adapter::of(sending.provider);
        let pick = |sums: &Sums, index: usize| (sums.bytes[index], sums.messages[index]);
        let (mut bytes, mut messages) = pick(&self.totals, if adapter == Adapter::PiAi { 1 } else { 2 });
        let is_own = |s: &&Source| s.provider == sending.provider && s.model == sending.model;
        for source in self.sources.iter().filter(is_own).filter(|_| adapter == Adapter::PiAi) {
            let (own, foreign) = (pick(&source.own, 0), pick(&source.own, 1));
            bytes = bytes + own.0 - foreign.0;
            messages = messages + own.1 - foreign.1;
        }
        let reserved = self.reserved_output(adapter, sending);
        self.scratch.clear();
        self.scratch.extend_from_slice(b"{\"model\":");
        write_json_string(sending.model, &mut self.scratch);
        self.scratch.extend_from_slice(b",\"messages\":[");
        let tools = self.tools.length(adapter);
        let has_tools = (tools > 0).then_some("");
        write_tail(adapter, reserved, sending.effort, has_tools, &mut self.scratch);
        // Each message was measured with a comma behind it; the last one has none.
        let body = self.scratch.len() as u64 + tools as u64 + bytes.saturating_sub(1);
        RequestSize {
            messages,
            body_bytes: (self.totals.opaque == 0 && !self.header_raw.is_empty()).then_some(body),
            chars: self.totals.chars,
            harness_tokens: self.totals.harness_tokens,
            reserved_output: reserved,
            identity: self.identity,
            tokens: None,
        }
    }

    /// pi-ai lowers `max_tokens` to what its own meter leaves of the window.
    fn reserved_output(&self, adapter: Adapter, sending: Sending<'_>) -> Option<u64> {
        const MARGIN: u64 = 4096;
        let asked = sending.max_tokens?;
        match (adapter, sending.window) {
            (Adapter::PiAi, Some(window)) => {
                let left = window.saturating_sub(self.totals.clamp_tokens).saturating_sub(MARGIN);
                Some(asked.min(left.max(1)))
            }
            _ => Some(asked),
        }
    }

    /// The body that would be sent now, as the adapter writes it; empty unless the sizer keeps what is logged.
    pub fn body(&self, sending: Sending<'_>) -> Vec<u8> {
        let adapter = Adapter::of(sending.provider);
        let mut out = b"{\"model\":".to_vec();
        write_json_string(sending.model, &mut out);
        out.extend_from_slice(b",\"messages\":[");
        let before = out.len();
        if let Some(raw) = &self.system_raw {
            write_system(raw, &mut out);
        }
        for node in self.surface.nodes() {
            let Some(logged) = node.raw.as_deref().and_then(|raw| LoggedMessage::parse(node.kind, raw)) else {
                continue;
            };
            let own = logged
                .source
                .as_ref()
                .is_some_and(|(p, m)| p.decode() == sending.provider && m.decode() == sending.model);
            let variant = match (adapter, own) {
                (Adapter::DeepSeek, _) => Variant::DeepSeek,
                (Adapter::PiAi, true) => Variant::PiAiOwn,
                (Adapter::PiAi, false) => Variant::PiAiForeign,
            };
            write_messages(&logged, variant, &mut out);
        }
        if out.len() > before {
            out.pop();
        }
        let tools = self.tools.written(adapter);
        let reserved = self.reserved_output(adapter, sending);
        write_tail(adapter, reserved, sending.effort, (!tools.is_empty()).then_some(&*tools), &mut out);
        out
    }

    /// The same request in the harness's own shape: header and messages as logged.
    pub fn harness_shape(&self) -> String {
        let messages: Vec<&str> = self.surface.nodes().filter_map(|n| n.raw.as_deref()).collect();
        format!(
            "{{\"header\":{},\"surface\":[{}]}}",
            if self.header_raw.is_empty() { "null" } else { &self.header_raw },
            messages.join(",")
        )
    }
}

fn write_system(raw: &str, out: &mut impl Sink) {
    out.put(b"{\"role\":\"system\",\"content\":\"");
    RawText::of(raw).write_inside(out);
    out.put(b"\"},");
}
