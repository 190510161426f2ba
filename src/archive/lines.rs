//! Splits decompressed bytes into JSONL lines, over frame borders where a writer cut them so.

use memchr::{memchr, memchr2, memrchr};

use super::{ArchiveReport, Damage, Limits};
use crate::message;
use crate::message::Message;

/// Where a line stands, for errors and notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinePlace {
    /// Line number from 1.
    pub line: u64,
    /// Frame number from 0 (the frame in which the line ends), `None` in plain logs.
    pub frame: Option<u64>,
    /// Byte offset in the archive as stored: of the frame, or of the line in plain logs.
    pub offset: u64,
}

/// One complete line without its line end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The bytes, not yet checked to be UTF-8 or JSON.
    pub bytes: &'a [u8],
    /// The line as stored, with what was cleaned off (CR, NUL bytes), for a judgement of the file as it stands.
    pub raw: &'a [u8],
    /// Where it stands.
    pub place: LinePlace,
}

/// Takes decompressed bytes piece by piece and hands on whole lines.
pub(super) struct LineSplitter<'r> {
    limits: Limits,
    report: &'r mut ArchiveReport,
    carry: Vec<u8>,
    overlong: u64,
    line: u64,
    /// Bytes of the logical stream before the current piece.
    position: u64,
    started: bool,
    crlf_seen: bool,
}

impl<'r> LineSplitter<'r> {
    pub(super) fn new(limits: Limits, report: &'r mut ArchiveReport) -> Self {
        Self { limits, report, carry: Vec::new(), overlong: 0, line: 0, position: 0, started: false, crlf_seen: false }
    }

    pub(super) fn report(&mut self) -> &mut ArchiveReport {
        self.report
    }

    pub(super) fn lines_so_far(&self) -> u64 {
        self.line
    }

    /// Feeds one piece; `frame` and `offset` say where it comes from (`frame` is `None` in plain logs).
    pub(super) fn feed(&mut self, piece: &[u8], frame: Option<u64>, offset: u64, sink: &mut dyn FnMut(Line<'_>)) {
        let mut rest = piece;
        if !self.started && !rest.is_empty() {
            self.started = true;
            if let Some(stripped) = rest.strip_prefix(b"\xEF\xBB\xBF") {
                self.note("bom", frame, offset, 3, Message::new("notices.bom"));
                rest = stripped;
            }
        }
        self.report.bytes_logical += piece.len() as u64;
        let piece_start = self.position;
        self.position += piece.len() as u64;
        // One search for line ends and for NUL bytes, which no line should have.
        while let Some(hit) = memchr2(b'\n', 0, rest) {
            let at_end = rest[hit] == b'\n';
            let clean = at_end && self.carry.is_empty();
            let Some(end) = (if at_end { Some(hit) } else { memchr(b'\n', &rest[hit..]).map(|end| hit + end) }) else {
                break;
            };
            let line_start = piece_start + (piece.len() - rest.len()) as u64;
            let place_offset =
                if frame.is_some() { offset } else { line_start - self.carry.len() as u64 - self.overlong };
            let (bytes, tail) = (&rest[..end], &rest[end + 1..]);
            rest = tail;
            self.line += 1;
            if self.overlong > 0 || self.carry.len() + bytes.len() > self.limits.line_bytes {
                let length = self.overlong + (self.carry.len() + bytes.len()) as u64;
                self.overlong = 0;
                self.carry = Vec::new();
                self.note(
                    "limit",
                    frame,
                    place_offset,
                    length,
                    message!("notices.long-line", n = length, most = self.limits.line_bytes),
                );
            } else if self.carry.is_empty() {
                self.hand_on(bytes, clean, frame, place_offset, sink);
            } else {
                let mut whole = std::mem::take(&mut self.carry);
                whole.extend_from_slice(bytes);
                self.hand_on(&whole, false, frame, place_offset, sink);
                whole.clear();
                self.carry = whole;
            }
        }
        if self.overlong > 0 || self.carry.len() + rest.len() > self.limits.line_bytes {
            self.overlong += (self.carry.len() + rest.len()) as u64;
            self.carry.clear();
        } else {
            self.carry.extend_from_slice(rest);
        }
    }

    /// `clean`: no NUL byte is in it.
    fn hand_on(&mut self, bytes: &[u8], clean: bool, frame: Option<u64>, offset: u64, sink: &mut dyn FnMut(Line<'_>)) {
        let raw = bytes;
        let mut bytes = bytes;
        if let [head @ .., b'\r'] = bytes {
            bytes = head;
            if !self.crlf_seen {
                self.crlf_seen = true;
                self.note("crlf", frame, offset, 1, Message::new("notices.crlf"));
            }
        }
        let Some(first_zero) = (!clean).then(|| memchr(0, bytes)).flatten() else {
            self.emit(bytes, raw, frame, offset, sink);
            return;
        };
        let zeros = bytes.iter().filter(|b| **b == 0).count() as u64;
        let place = if frame.is_some() { offset } else { offset + first_zero as u64 };
        self.note("nul-run", frame, place, zeros, message!("notices.nul-bytes", n = zeros));
        // The text after the last NUL is a line of its own where the writer went on after the lost block; the text
        // before the first one only where it is whole.
        let before = &bytes[..first_zero];
        let after = memrchr(0, bytes).map_or(bytes, |at| &bytes[at + 1..]);
        if after.is_empty() || before.trim_ascii_end().ends_with(b"}") {
            self.emit(before, raw, frame, offset, sink);
        }
        self.emit(after, raw, frame, offset, sink);
    }

    fn emit(&self, bytes: &[u8], raw: &[u8], frame: Option<u64>, offset: u64, sink: &mut dyn FnMut(Line<'_>)) {
        if !bytes.iter().all(u8::is_ascii_whitespace) {
            sink(Line { bytes, raw, place: LinePlace { line: self.line, frame, offset } });
        }
    }

    /// What follows does not continue the line that is being gathered.
    pub(super) fn cut(&mut self, frame: Option<u64>, offset: u64) {
        let rest = self.overlong + self.carry.len() as u64;
        self.overlong = 0;
        self.carry.clear();
        if rest > 0 {
            self.note("bad-line", frame, offset, rest, message!("notices.line-cut", n = rest));
        }
    }

    /// The end of the archive: a rest without a newline is torn and not counted, as the harness drops it too.
    pub(super) fn finish(mut self, in_frame: Option<u64>, end_offset: u64) {
        let rest = self.overlong + self.carry.len() as u64;
        if rest == 0 {
            return;
        }
        let zeros = self.carry.iter().filter(|b| **b == 0).count() as u64;
        let offset = end_offset.saturating_sub(if in_frame.is_some() { 0 } else { rest });
        if zeros == rest {
            self.note("nul-run", in_frame, offset, zeros, message!("notices.nul-bytes-at-end", n = zeros));
        } else if self.report.is_torn() {
            // The rest of a torn frame's last line: already said with the frame.
        } else {
            self.report.torn_bytes += rest;
            self.line += 1;
            self.note("torn-line", in_frame, offset, rest, message!("notices.torn-line", n = rest));
        }
    }

    pub(super) fn note(&mut self, kind: &'static str, frame: Option<u64>, offset: u64, bytes: u64, detail: Message) {
        let line = (self.line > 0).then_some(self.line);
        self.report.damage.push(Damage { kind, offset, frame, line, bytes, detail });
    }
}
