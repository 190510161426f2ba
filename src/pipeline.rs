//! In: archives from [`crate::discover`].
//! Out: [`Dataset`]: the rows of every session, each session once, in a fixed order whatever the thread count.
//! Always: one session in flight per worker; a broken archive is reported and the rest goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::archive::{ArchiveReader, ArchiveReport, Damage, Limits, Line};
use crate::discover::{Archive, ArchiveSource, Discovery, is_called_like_a_log};
use crate::event::{Decoder, LineError, NEWEST_FORMAT, SessionHeader};
use crate::message;
use crate::message::Message;
use crate::notice::Notice;
use crate::session::{SessionBuilder, SessionContext, SessionRows};

/// One archive as read.
#[derive(Debug)]
pub struct ReadSession {
    /// Its rows; `None` when the archive is no session log.
    pub rows: Option<SessionRows>,
    /// What reading came to.
    pub report: ArchiveReport,
    /// Path as shown.
    pub display: String,
    /// The archive could not be read at all, or parts of it are corrupt.
    pub unreadable: bool,
}

impl ReadSession {
    /// Whether somebody named a file that neither is a session log nor is called like one: then nothing is lost.
    fn is_no_log(&self) -> bool {
        let mut damage = self.report.damage.iter().map(|damage| damage.kind).peekable();
        let nothing = self.rows.is_none() && damage.peek().is_some() && damage.all(|kind| kind == "not-a-log");
        nothing && !is_called_like_a_log(&self.display)
    }
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Dataset {
    /// Sessions in order of project, id, path.
    pub sessions: Vec<SessionRows>,
    /// Inputs, as counted for the reports.
    pub inputs: Inputs,
    /// What a reader must know.
    pub notices: Vec<Notice>,
}

/// What was read, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Archives read (duplicates included).
    pub archives: u64,
    /// Sessions counted.
    pub sessions: u64,
    /// Older generations passed over.
    pub generations_skipped: u64,
    /// Events that belong to a parent's log.
    pub inherited_events_skipped: u64,
    /// Stored bytes.
    pub bytes_compressed: u64,
    /// Decompressed bytes.
    pub bytes_logical: u64,
    /// zstd frames.
    pub frames: u64,
    /// Archives with a torn end.
    pub torn_archives: u64,
    /// Archives that could not be read, in whole or in part.
    pub unreadable_archives: u64,
    /// Sessions found again under another path and not counted.
    pub duplicates_skipped: u64,
}

impl Dataset {
    /// Whether something of the input is missing from the numbers.
    pub fn is_partial(&self) -> bool {
        self.inputs.unreadable_archives > 0
    }
}

/// Options of reading.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// Bounds against hostile input.
    pub limits: Limits,
    /// Count sessions under every path they are found at.
    pub keep_duplicates: bool,
    /// Hash the stored bytes; only reports that name their inputs pay for it.
    pub hash: bool,
    /// Gather token evidence for successes as well, to check the estimates on them.
    pub evidence_for_all: bool,
}

/// Told about every archive read; used for the progress bar.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Reads all archives in parallel, the largest first so that no worker is left alone with it at the end.
pub fn read_all(discovery: Discovery, options: ReadOptions, progress: Progress<'_>) -> Dataset {
    let mut order: Vec<usize> = (0..discovery.archives.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(discovery.archives[*i].bytes), *i));
    let mut read: Vec<(usize, ReadSession)> = order
        .par_iter()
        .with_max_len(1)
        .map_init(
            || ArchiveReader::new().ok(),
            |reader, index| {
                let archive = &discovery.archives[*index];
                let session = match reader {
                    Some(reader) => read_one(reader, archive, options),
                    None => failed(archive, Message::new("notices.no-zstd-context")),
                };
                progress(archive.bytes);
                (*index, session)
            },
        )
        .collect();
    read.sort_by_key(|(index, _)| *index);
    let mut dataset = Dataset { notices: discovery.notices.clone(), ..Dataset::default() };
    dataset.inputs.generations_skipped = discovery.generations_skipped;
    dataset.inputs.unreadable_archives = discovery.unreadable;
    let mut candidates = Vec::new();
    let mut no_logs = 0;
    for (_, session) in read {
        no_logs += u64::from(session.is_no_log());
        collect_report(&mut dataset, &session);
        candidates.extend(session.rows);
    }
    if candidates.is_empty() && no_logs == dataset.inputs.archives {
        // Nothing but files that are no logs: there is no input, as in an empty directory.
        dataset.inputs.archives = 0;
        dataset.inputs.unreadable_archives -= no_logs;
    }
    dataset.sessions = if options.keep_duplicates { candidates } else { once_each(candidates, &mut dataset) };
    dataset.sessions.sort_by(|a, b| (&a.project, &a.id, &a.path).cmp(&(&b.project, &b.id, &b.path)));
    crate::tokens::resolve(&mut dataset.sessions, &mut dataset.notices);
    dataset.inputs.sessions = dataset.sessions.len() as u64;
    dataset.inputs.inherited_events_skipped = dataset.sessions.iter().map(|s| s.inherited_events).sum();
    dataset
}

fn collect_report(dataset: &mut Dataset, session: &ReadSession) {
    let Some(rows) = &session.rows else {
        if session.unreadable {
            dataset.inputs.archives += 1;
            dataset.inputs.unreadable_archives += 1;
            push_damage(dataset, session);
        }
        return;
    };
    let inputs = &mut dataset.inputs;
    inputs.archives += 1;
    inputs.bytes_compressed += session.report.bytes_compressed;
    inputs.bytes_logical += session.report.bytes_logical;
    inputs.frames += session.report.frames;
    inputs.torn_archives += u64::from(session.report.is_torn());
    inputs.unreadable_archives += u64::from(session.unreadable);
    push_damage(dataset, session);
    for anomaly in &rows.anomalies {
        // Every crashed or running session has an open turn; it is in the numbers already.
        if !matches!(anomaly.kind, "open-turn") {
            dataset.notices.push(Notice::at(
                anomaly.kind,
                &session.display,
                message!("notices.at-seq", seq = anomaly.seq, what = anomaly.detail.clone()),
            ));
        }
    }
    match rows.format_version {
        Some(version) if version > NEWEST_FORMAT => {
            dataset.notices.push(Notice::at(
                "foreign-version",
                &session.display,
                message!("notices.foreign-version", version = version, newest = NEWEST_FORMAT),
            ));
        }
        Some(version) if version != rows.generation && rows.generation > 0 => {
            dataset.notices.push(Notice::at(
                "generation-mismatch",
                &session.display,
                message!("notices.generation-mismatch", generation = rows.generation, version = version),
            ));
        }
        None => {
            dataset.notices.push(Notice::at("no-header", &session.display, Message::new("notices.no-header")));
        }
        Some(_) => {}
    }
}

fn push_damage(dataset: &mut Dataset, session: &ReadSession) {
    for damage in &session.report.damage {
        dataset.notices.push(Notice::at(damage.kind, &session.display, place_and_detail(damage)));
    }
}

/// `frame 3, byte 1234, line 17: what was seen`
pub fn place_and_detail(damage: &Damage) -> Message {
    let frame = damage.frame.map(|n| message!("notices.frame", n = n));
    let line = damage.line.map(|n| message!("notices.line", n = n));
    let place = frame.into_iter().chain([message!("notices.byte", n = damage.offset)]).chain(line);
    Message::new("notices.at").with_list("place", place).with("what", damage.detail.clone())
}

/// One session id under two paths is a backup or a copy: the highest format, then the most events, counts.
fn once_each(sessions: Vec<SessionRows>, dataset: &mut Dataset) -> Vec<SessionRows> {
    let mut best: BTreeMap<String, SessionRows> = BTreeMap::new();
    for session in sessions {
        let rank = |s: &SessionRows| (s.format_version.unwrap_or(0).max(s.generation), s.events + s.inherited_events);
        match best.get(&session.id) {
            None => {
                best.insert(session.id.clone(), session);
            }
            Some(kept) => {
                let (winner, loser) = if rank(&session) > rank(kept) {
                    (session.path.clone(), kept.path.clone())
                } else {
                    (kept.path.clone(), session.path.clone())
                };
                dataset.inputs.duplicates_skipped += 1;
                dataset.notices.push(Notice::new(
                    "duplicate-id",
                    message!("notices.duplicate-id", session = &session.id, other = loser, winner = &winner),
                ));
                if winner == session.path {
                    best.insert(session.id.clone(), session);
                }
            }
        }
    }
    best.into_values().collect()
}

fn failed(archive: &Archive, reason: Message) -> ReadSession {
    let mut report = ArchiveReport::default();
    report.damage.push(Damage { kind: "read-error", offset: 0, frame: None, line: None, bytes: 0, detail: reason });
    ReadSession { rows: None, report, display: archive.display.clone(), unreadable: true }
}

/// Opens the bytes of an archive.
///
/// # Errors
/// When the file, or the zip and its entry, cannot be opened.
pub fn open(archive: &Archive, limits: Limits) -> io::Result<Box<dyn Read>> {
    Ok(match &archive.source {
        ArchiveSource::File(path) => Box::new(File::open(path)?),
        ArchiveSource::Memory(bytes) => Box::new(Cursor::new(std::sync::Arc::clone(bytes))),
        ArchiveSource::ZipEntry { zip, index } => {
            let mut zip = zip::ZipArchive::new(File::open(zip)?).map_err(io::Error::other)?;
            let entry = zip.by_index(*index).map_err(io::Error::other)?;
            let mut bytes = Vec::new();
            entry.take(limits.buffered_bytes).read_to_end(&mut bytes)?;
            Box::new(Cursor::new(bytes))
        }
    })
}

/// Reads one archive into rows.
pub fn read_one(reader: &mut ArchiveReader, archive: &Archive, options: ReadOptions) -> ReadSession {
    read_one_observed(reader, archive, options, &mut |_| {})
}

/// [`read_one`] with an observer that sees every complete line before it is decoded.
pub fn read_one_observed(
    reader: &mut ArchiveReader,
    archive: &Archive,
    options: ReadOptions,
    observe: &mut dyn FnMut(&Line<'_>),
) -> ReadSession {
    let limits = options.limits;
    let input = match open(archive, limits) {
        Ok(input) => input,
        Err(error) => return failed(archive, Message::verbatim(error)),
    };
    let mut input = Hashing { input, hash: options.hash.then(Sha256::new) };
    let mut fold = Fold {
        builder: SessionBuilder::new(SessionContext {
            project: archive.project.clone(),
            path: archive.display.clone(),
            generation: archive.generation,
            id_from_path: archive.id_from_path.clone(),
            evidence_for_all: options.evidence_for_all,
        }),
        decoder: Decoder::new(limits.json_depth),
        lines: 0,
        events: 0,
        bad: Vec::new(),
    };
    let mut report = reader.read(&mut input, limits, &mut |line| {
        observe(&line);
        fold.line(line);
    });
    if fold.decoder.lines_without_seq > 0 {
        let count = fold.decoder.lines_without_seq;
        report.damage.push(Damage {
            kind: "no-seq",
            offset: 0,
            frame: None,
            line: None,
            bytes: 0,
            detail: message!("notices.no-seq", n = count),
        });
    }
    let has_header = fold.builder.has_header();
    if !has_header && fold.events == 0 {
        if archive.walked && !is_called_like_a_log(&archive.display) {
            return ReadSession {
                rows: None,
                report: ArchiveReport::default(),
                display: archive.display.clone(),
                unreadable: false,
            };
        }
        let detail =
            Message::new(if report.bytes_compressed == 0 { "notices.empty-file" } else { "notices.not-a-log" });
        report.damage.retain(|d| d.kind != "bad-line");
        report.damage.push(Damage {
            kind: "not-a-log",
            offset: 0,
            frame: None,
            line: None,
            bytes: report.bytes_compressed,
            detail,
        });
        return ReadSession { rows: None, report, display: archive.display.clone(), unreadable: true };
    }
    report.damage.extend(fold.bad);
    let mut rows = fold.builder.finish();
    rows.torn = report.is_torn();
    rows.sha256 = input.hash.map(|h| hex(&h.finalize()));
    let unreadable = report.is_corrupt();
    ReadSession { rows: Some(rows), report, display: archive.display.clone(), unreadable }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

struct Hashing<R> {
    input: R,
    hash: Option<Sha256>,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..count]);
        }
        Ok(count)
    }
}

struct Fold {
    builder: SessionBuilder,
    decoder: Decoder,
    lines: u64,
    events: u64,
    bad: Vec<Damage>,
}

impl Fold {
    fn line(&mut self, line: Line<'_>) {
        self.lines += 1;
        if !self.builder.has_header()
            && self.events == 0
            && let Some(header) = SessionHeader::parse(line.bytes)
        {
            self.builder.header(header);
            return;
        }
        if line.bytes.starts_with(b"{\"type\":\"session\"") {
            // A header that is none, or a second one: no event, whatever it says.
            self.bad.push(Damage {
                kind: "odd-header",
                offset: line.place.offset,
                frame: line.place.frame,
                line: Some(line.place.line),
                bytes: line.bytes.len() as u64,
                detail: Message::new("notices.odd-header"),
            });
            return;
        }
        match self.decoder.decode(line.bytes) {
            Ok(event) => {
                self.events += 1;
                self.builder.event(&event, line.place.line);
            }
            Err(error) => {
                let kind = match error {
                    LineError::NotAnEvent(_) => "bad-line",
                    LineError::TooDeep(_) => "limit",
                };
                self.bad.push(Damage {
                    kind,
                    offset: line.place.offset,
                    frame: line.place.frame,
                    line: Some(line.place.line),
                    bytes: line.bytes.len() as u64,
                    detail: error.message(),
                });
            }
        }
    }
}
