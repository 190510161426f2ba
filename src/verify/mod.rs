//! In: archives, older generations included.
//! Out: one [`Verified`] per archive: what was read, what is lost, and what the harness would do with the file.
//! Always: an archive is judged as its owner would judge it; the verdict quotes the harness's own words where it refuses.

mod deep;
mod harness;
mod row;

use std::collections::BTreeMap;
use std::io::Read;

use rayon::prelude::*;

pub use deep::DeepReport;
pub use harness::Verdict;

use crate::archive::{ArchiveReader, FrameExtent, FrameFault, Limits, frame_extent};
use crate::discover::{Archive, ArchiveSource, is_called_like_a_log};
use crate::event::NEWEST_FORMAT;
use crate::message;
use crate::message::Message;
use crate::pipeline::{ReadOptions, ReadSession, open, read_one_observed};
use deep::DeepCheck;
use harness::HarnessJudge;

/// Larger archives are streamed, without the structural walk over the whole file.
const WHOLE_FILE_BYTES: u64 = 1 << 30;

/// What a frame-by-frame reader that never resumes meets, as the harness does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameStructure {
    /// Every frame is whole.
    Whole,
    /// The bytes end inside the frame that begins here: a torn tail to the harness, whatever stands behind.
    TornAt(u64),
    /// No frame begins here, or its header breaks the format.
    Broken(u64, FrameFault),
}

/// One place where something is wrong or odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Kind, one of the ids of `docs/damage.md`.
    pub kind: &'static str,
    /// Byte offset as stored, where one is known.
    pub offset: Option<u64>,
    /// Line from 1, where one is known.
    pub line: Option<u64>,
    /// Seq, where one is known.
    pub seq: Option<u64>,
    /// What was seen.
    pub detail: Message,
}

/// A corrupt frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptFrame {
    /// Byte offset as stored.
    pub offset: u64,
    /// Why it was not read.
    pub reason: Message,
}

/// A place where seqs go back: two writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fork {
    /// Last seq before it.
    pub at_seq: u64,
    /// First seq of the second branch.
    pub resumes_from_seq: u64,
    /// Line of that event, from 1.
    pub line: u64,
}

/// Missing events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Last seq before it.
    pub after_seq: u64,
    /// How many are missing.
    pub missing: u64,
}

/// What became of one archive.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Path as found.
    pub path: String,
    /// Session id of the header, else of the path; `None` where nothing was read.
    pub session_id: Option<String>,
    /// Format version of the header.
    pub format_version: Option<u32>,
    /// Generation in the file name.
    pub generation: u32,
    /// A newer generation of the same session lies beside it.
    pub superseded: bool,
    /// Complete frames decoded.
    pub frames: u64,
    /// Events read, packed rows expanded, inherited ones included.
    pub events: u64,
    /// Events that belong to the parent's log.
    pub inherited_events: u64,
    /// Smallest seq read.
    pub first_seq: Option<u64>,
    /// Largest seq read.
    pub last_seq: Option<u64>,
    /// Bytes of a torn last frame or line.
    pub torn_bytes: u64,
    /// Events read out of a torn last frame.
    pub recovered_events: u64,
    /// Frames that could not be read.
    pub corrupt_frames: Vec<CorruptFrame>,
    /// Sequence forks.
    pub forks: Vec<Fork>,
    /// Missing events.
    pub holes: Vec<Hole>,
    /// Types that are not the harness's, with their counts.
    pub unknown_types: BTreeMap<String, u64>,
    /// What the harness would do with the file.
    pub verdict: Verdict,
    /// What it would say, or what it would write.
    pub message: Option<Message>,
    /// Everything damaged or odd, with its place.
    pub problems: Vec<Problem>,
    /// Result of `--deep`.
    pub deep: Option<DeepReport>,
}

impl Verified {
    /// Whether somebody named a file that neither is a session log nor is called like one.
    pub fn is_no_log(&self) -> bool {
        self.events == 0
            && self.session_id.is_none()
            && self.corrupt_frames.is_empty()
            && !is_called_like_a_log(&self.path)
            && self.problems.iter().any(|problem| problem.kind == "not-a-log")
    }

    /// Whether the file is not as the harness wrote it, or the harness would not load it as it stands.
    pub fn is_damaged(&self) -> bool {
        self.verdict != Verdict::Loads
            || !self.forks.is_empty()
            || !self.holes.is_empty()
            || self.problems.iter().any(|p| !HARMLESS.contains(&p.kind))
            || self.deep.as_ref().is_some_and(|d| !d.disagreements.is_empty())
    }
}

/// Kinds that are reported and cost nothing: nothing is lost and the harness does not mind.
const HARMLESS: [&str; 5] = ["crlf", "duplicate-id", "time-back", "open-turn", "open-compaction"];

/// Verifies all archives in parallel; the result is in the order of the input.
pub fn verify_all(archives: &[(Archive, bool)], options: ReadOptions, deep: bool) -> Vec<Verified> {
    let mut verified: Vec<Verified> = archives
        .par_iter()
        .with_max_len(1)
        .map_init(
            || ArchiveReader::new().ok(),
            |reader, (archive, superseded)| {
                let mut verified = verify_one(reader.as_mut()?, archive, options, deep)?;
                verified.superseded = *superseded;
                Some(verified)
            },
        )
        .flatten()
        .collect();
    name_doubles(&mut verified);
    verified
}

/// One session at two paths: copies are named; both encodings of one generation in a directory are refused there.
fn name_doubles(verified: &mut [Verified]) {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, v) in verified.iter().enumerate().filter(|(_, v)| !v.superseded) {
        if let Some(id) = &v.session_id {
            places.entry(id.clone()).or_default().push(index);
        }
    }
    let plain_name = |path: &str| path.strip_suffix(".zstd").unwrap_or(path).to_owned();
    for indices in places.into_values().filter(|indices| indices.len() > 1) {
        for index in &indices {
            for other in indices.iter().filter(|other| *other != index) {
                let (path, other) = (verified[*index].path.clone(), verified[*other].path.clone());
                let same_place = plain_name(&path) == plain_name(&other);
                let kind = if same_place { "mixed-encodings" } else { "duplicate-id" };
                let detail = message!("notices.also-at", other = other);
                let v = &mut verified[*index];
                v.problems.push(Problem { kind, offset: None, line: None, seq: None, detail });
                if same_place && v.verdict != Verdict::Refuses {
                    v.verdict = Verdict::Refuses;
                    let plain = plain_name(&v.path);
                    v.message = Some(Message::verbatim(format!(
                        "session artifact \"{plain}\" uses .jsonl, but this backend is configured for compression \"zstd\"; use a separate root or select the matching compression mode"
                    )));
                }
            }
        }
    }
}

/// Verifies one archive; `None` when it was only found by a walk and is no session log.
pub fn verify_one(reader: &mut ArchiveReader, archive: &Archive, options: ReadOptions, deep: bool) -> Option<Verified> {
    let mut archive = archive.clone();
    let mut structure = None;
    if let Some(bytes) = whole_file(&archive, options.limits) {
        structure = frame_structure(&bytes);
        archive.source = ArchiveSource::Memory(bytes.into());
    }
    let named_zstd = archive.display.ends_with(".zstd");
    let mut judge = HarnessJudge::new(structure, named_zstd);
    let mut check = deep.then(DeepCheck::default);
    let session = read_one_observed(reader, &archive, options, &mut |line| {
        judge.line(line);
        if let Some(check) = &mut check {
            check.line(line);
        }
    });
    if session.rows.is_none() && !session.unreadable {
        return None;
    }
    Some(assemble(&archive, session, judge, check.map(DeepCheck::finish)))
}

fn whole_file(archive: &Archive, limits: Limits) -> Option<Vec<u8>> {
    if archive.bytes > WHOLE_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    open(archive, limits).ok()?.take(limits.buffered_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Walks the frames as the harness does, which knows no skippable frames and resumes nowhere. `None` for plain logs.
pub fn frame_structure(bytes: &[u8]) -> Option<FrameStructure> {
    if !matches!(frame_extent(bytes), FrameExtent::Complete { .. }) && !bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return None;
    }
    let mut at = 0;
    while at < bytes.len() {
        match frame_extent(&bytes[at..]) {
            FrameExtent::Complete { stored, .. } => at += stored,
            FrameExtent::Incomplete => return Some(FrameStructure::TornAt(at as u64)),
            FrameExtent::Skippable { .. } => {
                return Some(FrameStructure::Broken(at as u64, FrameFault::NoFrame));
            }
            FrameExtent::Invalid(reason) => {
                // Fewer bytes than a magic number are a torn tail to the harness, whatever they are.
                let at = at as u64;
                let torn = bytes.len() as u64 - at < 4;
                return Some(if torn { FrameStructure::TornAt(at) } else { FrameStructure::Broken(at, reason) });
            }
        }
    }
    Some(FrameStructure::Whole)
}

fn assemble(archive: &Archive, session: ReadSession, judge: HarnessJudge, deep: Option<DeepReport>) -> Verified {
    let ReadSession { rows, report, .. } = session;
    let rows = rows.unwrap_or_default();
    let mut problems: Vec<Problem> = report
        .damage
        .iter()
        .map(|d| Problem {
            kind: d.kind,
            offset: Some(d.offset),
            line: d.line,
            seq: None,
            detail: match d.frame {
                Some(n) => {
                    message!("notices.at", place = message!("notices.frame", n = n), what = d.detail.clone())
                }
                None => d.detail.clone(),
            },
        })
        .collect();
    problems.extend(rows.anomalies.iter().map(|a| Problem {
        kind: a.kind,
        offset: None,
        line: (a.line > 0).then_some(a.line),
        seq: Some(a.seq),
        detail: a.detail.clone(),
    }));
    problems.extend(header_problem(rows.format_version, archive.generation, rows.events > 0));
    let numbers = judge.numbers(&report);
    let corrupt_frames = report
        .damage
        .iter()
        .filter(|d| d.kind == "corrupt-frame")
        .map(|d| CorruptFrame { offset: d.offset, reason: d.detail.clone() })
        .collect();
    let of_kind = |kind| rows.anomalies.iter().filter(move |a| a.kind == kind);
    let forks = of_kind("seq-fork")
        .map(|a| Fork { at_seq: a.seq, resumes_from_seq: (a.seq + 1).saturating_sub(a.amount), line: a.line })
        .collect();
    let holes = of_kind("holes").map(|a| Hole { after_seq: a.seq, missing: a.amount }).collect();
    let (verdict, message) = judge.verdict(&report);
    Verified {
        path: archive.display.clone(),
        session_id: Some(rows.id).filter(|id| !id.is_empty()),
        format_version: rows.format_version,
        generation: archive.generation,
        superseded: false,
        frames: report.frames,
        events: rows.events + rows.inherited_events,
        inherited_events: rows.inherited_events,
        first_seq: numbers.first_seq,
        last_seq: numbers.last_seq,
        torn_bytes: report.torn_bytes,
        recovered_events: numbers.recovered_events,
        corrupt_frames,
        forks,
        holes,
        unknown_types: rows.unknown_types,
        verdict,
        message,
        problems,
        deep,
    }
}

fn header_problem(version: Option<u32>, generation: u32, has_events: bool) -> Option<Problem> {
    let problem = |kind, detail| Problem { kind, offset: None, line: Some(1), seq: None, detail };
    match version {
        None if has_events => Some(problem("no-header", Message::new("notices.no-header"))),
        Some(version) if version > NEWEST_FORMAT => Some(problem(
            "foreign-version",
            message!("notices.foreign-version", version = version, newest = NEWEST_FORMAT),
        )),
        Some(version) if generation > 0 && version != generation => Some(problem(
            "generation-mismatch",
            message!("notices.generation-mismatch", generation = generation, version = version),
        )),
        _ => None,
    }
}
