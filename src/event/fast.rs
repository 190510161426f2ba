//! The hot path: packed rows and plain deltas of v0 and v1 are 85 % of all lines. They are recognised by their leading
//! bytes and their payload is not looked at; any deviation from what the harness writes gives up, and the full parser
//! takes the line. The other frequent lines are read the same way, all of them.

use super::stream::{Finish, FinishKind, StreamSummary};
use super::walk::is_sound;
use super::{Body, Event, TurnEndKind, Usage};

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline]
    fn literal(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// An integer as JavaScript prints it, at most 18 digits.
    #[inline]
    fn integer(&mut self) -> Option<i64> {
        let negative = self.rest.first() == Some(&b'-');
        if negative {
            self.rest = &self.rest[1..];
        }
        let value = self.unsigned()? as i64;
        Some(if negative { -value } else { value })
    }

    /// At most 18 digits (19 fit a word), without leading zeros. What stands before a `None` is used up: every caller
    /// gives up then.
    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        const MOST: usize = 18;
        let (mut value, mut count) = (0u64, 0);
        while let Some(digit) = self.rest.get(count).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            count += 1;
            if count > MOST {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        if count == 0 || (count > 1 && self.rest[0] == b'0') {
            return None;
        }
        self.rest = &self.rest[count..];
        Some(value)
    }

    fn at_end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

/// Decodes a packed row or a content-free chunk line without looking at its payload.
pub(super) fn decode_fast(line: &[u8]) -> Option<Event<'static>> {
    let mut cursor = Cursor { rest: line };
    cursor.literal(b"{\"type\":\"")?;
    match cursor.rest.first()? {
        b't' | b'r' => packed_row(cursor, line),
        b'a' => plain_delta(cursor, line),
        _ => None,
    }
}

fn packed_row(mut cursor: Cursor<'_>, line: &[u8]) -> Option<Event<'static>> {
    let tool = cursor.literal(b"tool-call-chunks").is_some();
    if !tool && cursor.literal(b"text-chunks").is_none() {
        cursor.literal(b"reasoning-chunks")?;
    }
    cursor.literal(b"\",\"seq0\":")?;
    let seq = cursor.unsigned()?;
    cursor.literal(b",\"time0\":")?;
    let time0 = cursor.integer()?;
    cursor.literal(b",\"data\":{\"turn\":")?;
    let turn = cursor.unsigned()?;
    cursor.literal(b",\"step\":")?;
    let step = cursor.unsigned()?;
    cursor.literal(b",\"index\":")?;
    cursor.unsigned()?;
    cursor.literal(b",\"dt\":[")?;
    let mut stream = StreamSummary::single(Some(time0));
    let mut elapsed = 0i64;
    if cursor.literal(b"]").is_none() {
        loop {
            let gap = cursor.integer()?;
            elapsed = elapsed.checked_add(gap)?;
            stream.chunks += 1;
            stream.longest_gap_ms = stream.longest_gap_ms.max(gap);
            stream.time_back += u64::from(gap < 0);
            if cursor.literal(b",").is_none() {
                cursor.literal(b"]")?;
                break;
            }
        }
    }
    cursor.literal(if tool { b",\"id\":\"" } else { b",\"texts\":[" })?;
    if !line.ends_with(b"\"]}}") {
        return None;
    }
    let last = time0.checked_add(elapsed)?;
    stream.last_time = Some(last);
    Some(Event { seq, time: Some(last), members: stream.chunks, body: Body::Deltas { turn, step, stream } })
}

fn plain_delta(mut cursor: Cursor<'_>, line: &[u8]) -> Option<Event<'static>> {
    cursor.literal(b"assistant/chunk\",\"seq\":")?;
    let seq = cursor.unsigned()?;
    cursor.literal(b",\"time\":")?;
    let time = cursor.integer()?;
    cursor.literal(b",\"data\":{\"turn\":")?;
    let turn = cursor.unsigned()?;
    cursor.literal(b",\"step\":")?;
    let step = cursor.unsigned()?;
    cursor.literal(b",\"chunk\":{\"type\":\"")?;
    let mut stream = StreamSummary::single(Some(time));
    if cursor.literal(b"usage\",\"usage\":").is_some() {
        stream.usage = Some(usage(&mut cursor)?).filter(|usage| usage.is_report());
        cursor.literal(b"}}}")?;
        cursor.at_end()?;
    } else if cursor.literal(b"finish\",\"reason\":{\"kind\":\"").is_some() {
        stream.finish = Some(Box::new(Finish { kind: good_finish(&mut cursor)?, failure: None }));
    } else {
        let skippable =
            [&b"text-delta\""[..], b"reasoning-delta\"", b"tool-call-delta\"", b"block-start\"", b"block-end\""];
        if !skippable.iter().any(|kind| cursor.rest.starts_with(kind)) || !line.ends_with(b"}}}") {
            return None;
        }
    }
    Some(Event { seq, time: Some(time), members: 1, body: Body::Deltas { turn, step, stream } })
}

/// The rest of a finish that is no failure; what the adapter noted with it must be JSON.
fn good_finish(cursor: &mut Cursor<'_>) -> Option<FinishKind> {
    const KINDS: [(&[u8], FinishKind); 3] = [
        (b"tool-calls\"}", FinishKind::ToolCalls),
        (b"stop\"}", FinishKind::Stop),
        (b"max-tokens\"}", FinishKind::MaxTokens),
    ];
    const DEEPEST: usize = 16;
    let kind = KINDS.iter().find(|(text, _)| cursor.literal(text).is_some())?.1;
    let rest = cursor.rest.strip_suffix(b"}}}")?;
    if !rest.is_empty() {
        let noted = rest.strip_prefix(b",\"replayState\":")?;
        (is_sound(noted, DEEPEST) && simdutf8::basic::from_utf8(noted).is_ok()).then_some(())?;
    }
    Some(kind)
}

/// A usage object of whole numbers that a float holds exactly.
fn usage(cursor: &mut Cursor<'_>) -> Option<Usage> {
    const MOST: u64 = 1 << 53;
    let mut usage = Usage::default();
    cursor.literal(b"{")?;
    loop {
        let field = if cursor.literal(b"\"inputTokens\":").is_some() {
            &mut usage.input
        } else if cursor.literal(b"\"outputTokens\":").is_some() {
            &mut usage.output
        } else if cursor.literal(b"\"cacheReadTokens\":").is_some() {
            &mut usage.cache_read
        } else if cursor.literal(b"\"cacheWriteTokens\":").is_some() {
            &mut usage.cache_write
        } else {
            let unread = [&b"\"reasoningTokens\":"[..], b"\"totalTokens\":"];
            unread.iter().find_map(|key| cursor.literal(key))?;
            &mut 0
        };
        *field = cursor.unsigned().filter(|count| *count <= MOST)?;
        if cursor.literal(b",").is_none() {
            cursor.literal(b"}")?;
            return Some(usage);
        }
    }
}

/// [`usage`] of a whole text.
pub(super) fn usage_of(raw: &str) -> Option<Usage> {
    let mut cursor = Cursor { rest: raw.as_bytes() };
    let usage = usage(&mut cursor)?;
    cursor.at_end().map(|()| usage)
}

/// Steps and turns as nearly all are logged: the place and nothing else.
pub(super) fn bare_place(envelope: &FastEnvelope<'_>) -> Option<Body<'static>> {
    let mut cursor = Cursor { rest: envelope.data };
    cursor.literal(b"{\"turn\":")?;
    let turn = cursor.unsigned()?;
    if cursor.rest == b",\"reason\":{\"kind\":\"completed\"}}" && envelope.kind == b"turn/end" {
        return Some(Body::TurnEnd { turn, kind: TurnEndKind::Completed, failure: None });
    }
    let step = cursor.literal(b",\"step\":").map(|()| cursor.unsigned());
    cursor.literal(b"}")?;
    cursor.at_end()?;
    match (envelope.kind, step) {
        (b"turn/start", None) => Some(Body::TurnStart { turn }),
        (b"step/start", Some(step)) => Some(Body::StepStart { turn, step: step? }),
        (b"step/end", Some(step)) => Some(Body::StepEnd { turn, step: step? }),
        _ => None,
    }
}

const REPLACE: &[u8] = b",\"surfaceOp\":{";

/// Where a flat `surfaceOp` object begins that is the last thing before the line's closing brace.
fn replace_op(data: &[u8]) -> Option<usize> {
    let tail = data.len().saturating_sub(128);
    let at = tail + memchr::memmem::rfind(&data[tail..], REPLACE)?;
    let inside = data[at + REPLACE.len()..].strip_suffix(b"}")?;
    (!inside.iter().any(|b| matches!(b, b'{' | b'}'))).then_some(at)
}

/// Types that stand on the surface: only these have a `surfaceOp`.
fn is_message(kind: &[u8]) -> bool {
    kind.ends_with(b"/message") || kind == b"tool/result"
}

/// The envelope of an event line in exactly the shape the harness writes, taken apart without reading its data: the
/// front is literal, and what follows the data is read from the line's end. That is sound because an unescaped quote
/// never stands inside a JSON string, so the last tokens of a line are those of the outermost object.
pub(super) struct FastEnvelope<'a> {
    pub(super) kind: &'a [u8],
    pub(super) seq: u64,
    pub(super) time: i64,
    pub(super) data: &'a [u8],
    pub(super) surface_op: Option<&'a str>,
}

impl<'a> FastEnvelope<'a> {
    /// `None` on any deviation; the caller then takes the full parser.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor { rest: line };
        cursor.literal(b"{\"type\":\"")?;
        let end = cursor.rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let kind = &cursor.rest[..end];
        cursor.rest = &cursor.rest[end..];
        cursor.literal(b"\",\"seq\":")?;
        let seq = cursor.unsigned()?;
        cursor.literal(b",\"time\":")?;
        let time = cursor.integer()?;
        cursor.literal(b",\"data\":")?;
        let mut data = cursor.rest.strip_suffix(b"}")?;
        let mut surface_op = None;
        // The two fields behind the data come in either order.
        for _ in 0..2 {
            match data.last()? {
                b'"' => {
                    data = data.strip_suffix(b",\"surfaceOp\":\"append\"")?;
                    surface_op = Some("\"append\"");
                }
                b']' => {
                    let array = memchr::memrchr(b':', data)?;
                    let inside = &data[array + 1..data.len() - 1];
                    if !inside.iter().all(|b| b.is_ascii_digit() || matches!(b, b'[' | b']' | b',')) {
                        return None;
                    }
                    data = data[..array].strip_suffix(b",\"sourceEventSeqs\"")?;
                }
                _ if surface_op.is_none() && is_message(kind) => {
                    let Some(at) = replace_op(data) else { break };
                    surface_op = Some(std::str::from_utf8(&data[at + REPLACE.len() - 1..]).ok()?);
                    data = &data[..at];
                }
                _ => break,
            }
        }
        // `ignorable` or a foreign field would stand here in place of the data's closing brace; where it ends in a
        // brace of its own, the data is no JSON and the caller's parse of it fails.
        (data.first() == Some(&b'{') && data.last() == Some(&b'}')).then_some(Self {
            kind,
            seq,
            time,
            data,
            surface_op,
        })
    }
}
