//! `request`: the body behind one attempt.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::archive::{ArchiveReader, Limits};
use crate::cli::args::{Redact, RequestArgs, RequestShape};
use crate::cli::exit::Exit;
use crate::cli::output::emit_to;
use crate::cli::suggest::nearest;
use crate::demo;
use crate::discover::{self, Archive};
use crate::message;
use crate::message::Message;
use crate::pipeline::{ReadOptions, read_one};
use crate::pseudonym::Pseudonyms;
use crate::redact::redact;
use crate::report::lang::Said;
use crate::request::{Wanted, clean_contents, hide_contents, parse_lossy, rebuild};
use crate::session::{AttemptRow, SessionRows};

pub(super) fn run(args: &RequestArgs) -> Result<Exit> {
    let language = args.language();
    let limits = Limits::default();
    let discovery = if args.demo { demo::discovery() } else { discover::discover(&paths(args)?, limits) };
    if discovery.archives.is_empty() {
        eprintln!("dsh-forensics: {}", language.say("errors.no-log-in"));
        return Ok(Exit::NoInput);
    }
    let archive = find_session(&discovery.archives, &args.session)?;
    let (rows, _) = rebuild(archive, limits, Wanted::Attempt(u64::MAX))?;
    let attempt = find_attempt(&rows, args.seq)?;
    if !(attempt.first_seq..=attempt.seq).contains(&args.seq) {
        let remark = message!(
            "errors.no-attempt-at-seq",
            seq = args.seq,
            attempt = attempt.attempt,
            step = attempt.step,
            turn = attempt.turn,
            first = attempt.first_seq,
            last = attempt.seq
        );
        eprintln!("dsh-forensics: {}", language.render(&remark));
    }
    let (_, rebuilt) = rebuild(archive, limits, Wanted::Attempt(attempt.ordinal))?;
    let request = rebuilt.last().ok_or_else(|| Said(Message::new("errors.no-request-header")))?;
    if attempt.request.as_ref().is_none_or(|r| r.body_bytes.is_none()) {
        eprintln!("dsh-forensics: {}", language.say("errors.request-parts-missing"));
    }
    let json = match args.shape {
        RequestShape::Openai => request.body.clone(),
        RequestShape::Harness => request.harness.clone().into_bytes(),
    };
    let mut text = if args.show_content && args.redact.is_none() { json } else { without_secrets(&json, &rows, args)? };
    text.push(b'\n');
    emit_to(&text, args.output.as_deref())?;
    Ok(Exit::Clean)
}

fn paths(args: &RequestArgs) -> Result<Vec<PathBuf>> {
    let mut paths = [args.paths.as_slice(), args.in_paths.as_slice()].concat();
    if paths.is_empty() {
        paths.push(discover::default_root().ok_or_else(|| Said(Message::new("errors.no-home")))?);
    }
    Ok(paths)
}

/// The request with its texts hidden or, where they are asked for, redacted.
fn without_secrets(json: &[u8], rows: &SessionRows, args: &RequestArgs) -> Result<Vec<u8>> {
    let mut value = parse_lossy(json).context("the rebuilt request is no JSON")?;
    let mut names = Pseudonyms::default();
    let strict = args.redact == Some(Redact::Strict);
    if strict {
        names.session(&rows.id);
        rows.parent_session.iter().for_each(|id| drop(names.session(id)));
        rows.project.iter().for_each(|name| drop(names.project(name)));
    }
    let clean = |text: &str| {
        let clean = redact(text);
        if strict { names.text(&clean) } else { clean.into_owned() }
    };
    if args.show_content {
        clean_contents(&mut value, &clean);
    } else {
        hide_contents(&mut value, &clean);
    }
    Ok(serde_json::to_vec_pretty(&value)?)
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
        [] => bail!(unknown_session(by_id.keys().map(String::as_str), wanted)),
        several => {
            let ids = several.iter().take(5).map(|(id, _)| Message::verbatim(id));
            let said = message!("errors.ambiguous-session", n = several.len(), wanted = format!("{wanted:?}"));
            bail!(Said(said.with_list("ids", ids)))
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

fn unknown_session<'a>(known: impl Iterator<Item = &'a str>, wanted: &str) -> Said {
    let near = nearest(known, wanted);
    let wanted = format!("{wanted:?}");
    if near.is_empty() {
        return Said(message!("errors.unknown-session", wanted = wanted));
    }
    let ids = near.into_iter().map(Message::verbatim);
    Said(message!("errors.unknown-session-but", wanted = wanted).with_list("ids", ids))
}

/// The attempt at a seq; else the last one that began before it.
fn find_attempt(rows: &SessionRows, seq: u64) -> Result<&AttemptRow> {
    let last = rows.last_seq.unwrap_or(0);
    if seq > last {
        bail!(Said(message!("errors.no-such-seq", session = &rows.id, seq = seq, last = last)));
    }
    let at = rows.attempts.iter().rfind(|a| (a.first_seq..=a.seq).contains(&seq));
    at.or_else(|| rows.attempts.iter().filter(|a| a.first_seq <= seq).max_by_key(|a| a.first_seq)).ok_or_else(|| {
        let said = match rows.attempts.first() {
            Some(first) => message!("errors.no-attempt-before", seq = seq, first = first.first_seq),
            None => message!("errors.no-attempt", session = &rows.id),
        };
        Said(said).into()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::find_session;
    use crate::discover::{Archive, ArchiveSource};

    fn archive(id: &str, generation: u32, bytes: u64) -> Archive {
        Archive {
            source: ArchiveSource::Memory(Vec::new().into()),
            display: format!("{id}.v{generation}"),
            project: None,
            id_from_path: Some(id.to_owned()),
            generation,
            bytes,
            walked: false,
        }
    }

    fn found(wanted: &str) -> Result<String, String> {
        let archives = [
            archive("7431dfda", 0, 900),
            archive("7431dfda", 4, 100),
            archive("7431aaaa", 0, 1),
            archive("7431", 0, 1),
        ];
        find_session(&archives, wanted).map(|a| a.display.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_prefix_of_one_session_names_its_newest_generation() {
        assert_eq!(found("7431d").unwrap(), "7431dfda.v4");
    }

    #[test]
    fn a_whole_id_wins_over_longer_ones_that_begin_with_it() {
        assert_eq!(found("7431").unwrap(), "7431.v0");
    }

    #[test]
    fn a_prefix_of_several_sessions_is_refused_with_their_names() {
        let error = found("743").unwrap_err();
        assert!(error.contains("7431aaaa") && error.contains("7431dfda"), "{error}");
    }

    #[test]
    fn an_unknown_session_is_answered_with_what_looks_like_it() {
        let error = found("7431dfdb").unwrap_err();
        assert!(error.contains("7431dfda"), "{error}");
    }
}
