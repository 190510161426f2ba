//! `request`: the body behind one attempt.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::archive::{ArchiveReader, Limits};
use crate::cli::args::{RequestArgs, RequestShape};
use crate::cli::exit::Exit;
use crate::cli::output::emit_to;
use crate::discover::{self, Archive};
use crate::pipeline::{ReadOptions, read_one};
use crate::request::{Wanted, hide_contents, parse_lossy, rebuild};
use crate::session::{AttemptRow, SessionRows};

pub(super) fn run(args: &RequestArgs) -> Result<Exit> {
    let limits = Limits::default();
    let mut paths = args.paths.clone();
    if paths.is_empty() {
        paths.push(discover::default_root().context("no --in PATH given and neither DSH_HOME nor HOME is set")?);
    }
    let discovery = discover::discover(&paths, limits);
    if discovery.archives.is_empty() {
        eprintln!("dsh-forensics: no session log found; name a sessions root, a log file or a zip with --in");
        return Ok(Exit::NoInput);
    }
    let archive = find_session(&discovery.archives, &args.session)?;
    let (rows, _) = rebuild(archive, limits, Wanted::Attempt(u64::MAX))?;
    let attempt = find_attempt(&rows, args.seq)?;
    if !(attempt.first_seq..=attempt.seq).contains(&args.seq) {
        eprintln!(
            "dsh-forensics: seq {} is no event of an attempt; this is attempt {} of step {} in turn {}, seq {} to {}",
            args.seq, attempt.attempt, attempt.step, attempt.turn, attempt.first_seq, attempt.seq
        );
    }
    let (_, rebuilt) = rebuild(archive, limits, Wanted::Attempt(attempt.ordinal))?;
    let request =
        rebuilt.last().context("no request header stands before this attempt: its request is not in the log")?;
    if attempt.request.as_ref().is_none_or(|r| r.body_bytes.is_none()) {
        eprintln!(
            "dsh-forensics: parts of this request are not in the log (images, files, blocks of plugins); left out"
        );
    }
    let json = match args.shape {
        RequestShape::Openai => request.body.clone(),
        RequestShape::Harness => request.harness.clone().into_bytes(),
    };
    let mut text = if args.show_content {
        json
    } else {
        let mut value = parse_lossy(&json).context("the rebuilt request is no JSON")?;
        hide_contents(&mut value);
        serde_json::to_vec_pretty(&value)?
    };
    text.push(b'\n');
    emit_to(&text, args.output.as_deref())?;
    Ok(Exit::Clean)
}

/// The archive of the session that `wanted` names: an id, or the beginning of exactly one.
fn find_session<'a>(archives: &'a [Archive], wanted: &str) -> Result<&'a Archive> {
    let mut by_id: BTreeMap<String, &'a Archive> = BTreeMap::new();
    let mut unnamed = Vec::new();
    for archive in archives {
        match &archive.id_from_path {
            Some(id) => keep_best(&mut by_id, id.clone(), archive),
            None => unnamed.push(archive),
        }
    }
    // Logs outside a session directory bear their id inside; they are read only when no directory fits.
    if !by_id.keys().any(|id| id.starts_with(wanted)) {
        let mut reader = ArchiveReader::new().context("zstd context cannot be allocated")?;
        for archive in unnamed.into_iter().chain(archives) {
            if let Some(rows) = read_one(&mut reader, archive, ReadOptions::default()).rows {
                keep_best(&mut by_id, rows.id, archive);
            }
        }
    }
    if let Some(archive) = by_id.get(wanted) {
        return Ok(archive);
    }
    let fitting: Vec<(&String, &&Archive)> = by_id.iter().filter(|(id, _)| id.starts_with(wanted)).collect();
    match fitting.as_slice() {
        [(_, archive)] => Ok(archive),
        [] => bail!("no session id begins with {wanted:?}; did you mean {}?", nearest(by_id.keys(), wanted)),
        several => {
            let ids: Vec<&str> = several.iter().take(5).map(|(id, _)| id.as_str()).collect();
            bail!("{} session ids begin with {wanted:?}, give more of it: {}", several.len(), ids.join(", "))
        }
    }
}

/// Of several logs of one session, the newest generation, then the largest.
fn keep_best<'a>(by_id: &mut BTreeMap<String, &'a Archive>, id: String, archive: &'a Archive) {
    let slot = by_id.entry(id).or_insert(archive);
    if (archive.generation, archive.bytes) > (slot.generation, slot.bytes) {
        *slot = archive;
    }
}

/// Up to three ids that share most with what was typed: the longest common beginning, then its occurrence anywhere.
fn nearest<'a>(ids: impl Iterator<Item = &'a String>, wanted: &str) -> String {
    let shared = |id: &str| id.chars().zip(wanted.chars()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let mut ranked: Vec<(usize, &String)> =
        ids.map(|id| (shared(id) + if id.contains(wanted) { wanted.len() } else { 0 }, id)).collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.iter().take(3).map(|(_, id)| id.as_str()).collect::<Vec<_>>().join(" or ")
}

/// The attempt at a seq; else the last one that began before it.
fn find_attempt(rows: &SessionRows, seq: u64) -> Result<&AttemptRow> {
    let last = rows.last_seq.unwrap_or(0);
    if seq > last {
        bail!("session {} has no seq {seq}: its last one is {last}", rows.id);
    }
    let at = rows.attempts.iter().rfind(|a| (a.first_seq..=a.seq).contains(&seq));
    at.or_else(|| rows.attempts.iter().filter(|a| a.first_seq <= seq).max_by_key(|a| a.first_seq)).with_context(|| {
        match rows.attempts.first() {
            Some(first) => {
                format!("no attempt stands at or before seq {seq}; the first begins at seq {}", first.first_seq)
            }
            None => format!("session {} has no attempt", rows.id),
        }
    })
}
