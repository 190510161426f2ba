//! The hot path: packed rows and plain deltas of v0 and v1 are 85 % of all lines. They are recognised by their leading
//! bytes and their payload is not looked at; any deviation from what the harness writes gives up, and the full parser
//! takes the line.

use super::stream::StreamSummary;
use super::{Body, Event};

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn literal(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// An integer as JavaScript prints it, at most 18 digits.
    fn integer(&mut self) -> Option<i64> {
        let negative = self.rest.first() == Some(&b'-');
        let digits = &self.rest[usize::from(negative)..];
        let mut value = 0i64;
        let mut count = 0;
        while let Some(digit) = digits.get(count).filter(|b| b.is_ascii_digit()) {
            value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            count += 1;
        }
        if count == 0 || count > 18 || (count > 1 && digits[0] == b'0') {
            return None;
        }
        self.rest = &digits[count..];
        Some(if negative { -value } else { value })
    }

    fn unsigned(&mut self) -> Option<u64> {
        u64::try_from(self.integer()?).ok()
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
    let skippable =
        [&b"text-delta\""[..], b"reasoning-delta\"", b"tool-call-delta\"", b"block-start\"", b"block-end\""];
    if !skippable.iter().any(|kind| cursor.rest.starts_with(kind)) || !line.ends_with(b"}}}") {
        return None;
    }
    let stream = StreamSummary::single(Some(time));
    Some(Event { seq, time: Some(time), members: 1, body: Body::Deltas { turn, step, stream } })
}

const REPLACE: &[u8] = b",\"surfaceOp\":{";

/// Where a flat `surfaceOp` object begins that is the last thing before the line's closing brace.
fn replace_op(data: &[u8]) -> Option<usize> {
    let tail = data.len().saturating_sub(128);
    let at = tail + memchr::memmem::rfind(&data[tail..], REPLACE)?;
    let inside = data[at + REPLACE.len()..].strip_suffix(b"}")?;
    (!inside.iter().any(|b| matches!(b, b'{' | b'}'))).then_some(at)
}

/// The envelope of an event line in exactly the shape the harness writes, taken apart without reading its data: the
/// front is literal, and what follows the data is read from the line's end. That is sound because an unescaped quote
/// never stands inside a JSON string, so the last tokens of a line are those of the outermost object.
pub(super) struct FastEnvelope<'a> {
    pub(super) kind: &'a str,
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
        let end = memchr::memchr2(b'"', b'\\', cursor.rest)?;
        let kind = std::str::from_utf8(&cursor.rest[..end]).ok()?;
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
            if let Some(head) = data.strip_suffix(b",\"surfaceOp\":\"append\"") {
                (data, surface_op) = (head, Some("\"append\""));
            } else if let Some(at) = replace_op(data) {
                surface_op = Some(std::str::from_utf8(&data[at + REPLACE.len() - 1..]).ok()?);
                data = &data[..at];
            } else if data.ends_with(b"]") {
                let array = memchr::memrchr(b':', data)?;
                let inside = &data[array + 1..data.len() - 1];
                if !inside.iter().all(|b| b.is_ascii_digit() || matches!(b, b'[' | b']' | b',')) {
                    return None;
                }
                data = data[..array].strip_suffix(b",\"sourceEventSeqs\"")?;
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
