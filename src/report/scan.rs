//! The page of `scan`: what a person wants to know first, from the top down.

use jiff::tz::TimeZone;

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::failures::shorten;
use super::lang::Language;
use super::numbers::{bytes, counted, grouped, moment, optional, percent, span};
use crate::evidence::Verdict;
use crate::message;
use crate::notice;
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::session::{CompactionOutcome, OVERFLOW, Trigger};
use crate::summary::Summary;

/// Builds the page.
pub fn page(dataset: &Dataset, summary: &Summary, zone: &TimeZone, narrowed: bool, language: Language) -> Page {
    let mut page = Page::default();
    let inputs = &dataset.inputs;
    let counts = &summary.counts;
    page.blocks.push(Block::Title(format!(
        "{}, {}, {} failed ({})",
        counted(inputs.sessions, "session"),
        counted(counts.steps, "step"),
        grouped(counts.failed_steps),
        percent(counts.failed_steps, counts.steps)
    )));
    page.text(Cell::toned(span_line(summary, zone), Tone::Faint));
    page.text(Cell::toned(
        format!(
            "{}, {} stored, {} of JSONL, {}",
            counted(inputs.archives, "archive"),
            bytes(inputs.bytes_compressed),
            bytes(inputs.bytes_logical),
            counted(inputs.frames, "frame")
        ),
        Tone::Faint,
    ));
    if narrowed {
        page.text(Cell::toned("Filtered: attempts, steps, turns and retries are those within the filters; events are those of the whole sessions.", Tone::Warn));
    }
    if dataset.is_partial() {
        page.text(Cell::toned(format!("Partial: {} of the inputs could not be read, in whole or in part. The numbers below leave that out; the notices name the places.", grouped(inputs.unreadable_archives)), Tone::Warn));
    }
    page.blocks.push(Block::Table(levels(summary)));
    page.blocks.push(Block::Table(codes(summary)));
    if let Some(sentence) = bodyless(summary) {
        page.text(sentence);
    }
    page.blocks.push(Block::Table(routes(summary)));
    page.blocks.push(Block::Table(super::sizes::table(&summary.sizes)));
    page.blocks.push(Block::Table(retries(summary)));
    if let Some(sentence) = chains(summary) {
        if counts.retries_scheduled == 0 {
            page.blocks.push(Block::Heading("Retries: none scheduled".to_owned()));
        }
        page.text(Cell::toned(sentence, Tone::Faint));
    }
    page.blocks.push(Block::Table(compactions(summary)));
    page.blocks.push(Block::Table(windows(summary)));
    page.blocks.push(Block::Table(sessions(summary)));
    if !summary.unknown_types.is_empty() {
        let list: Vec<String> = summary
            .unknown_types
            .iter()
            .take(8)
            .map(|(kind, n)| format!("{} ×{}", redact(kind), grouped(*n)))
            .collect();
        page.blocks.push(Block::Heading("Event types of plugins, counted and kept".to_owned()));
        page.text(list.join(", "));
    }
    let groups = notice::group(&dataset.notices);
    if !groups.is_empty() {
        page.blocks.push(Block::Heading("Notices".to_owned()));
        let line = |g: &notice::NoticeGroup| {
            let more = message!("common.and-more", n = grouped(g.count - 1));
            let more = if g.count > 1 { format!(" {}", language.render(&more)) } else { String::new() };
            Cell::from(format!("{}: {}{more}", g.kind, redact(&g.message)))
        };
        page.blocks.push(Block::List(groups.iter().map(line).collect()));
    }
    page
}

fn span_line(summary: &Summary, zone: &TimeZone) -> String {
    let length = summary
        .first_time
        .zip(summary.last_time)
        .map_or_else(String::new, |(a, b)| format!(" ({})", span(b.saturating_sub(a))));
    let name = zone.iana_name().unwrap_or("UTC");
    format!("{} to {}{length}, {name}", moment(summary.first_time, zone), moment(summary.last_time, zone))
}

fn levels(summary: &Summary) -> Table {
    let c = &summary.counts;
    let row = |name: &str, total: u64, failed: u64, other: String| {
        let tone = if failed > 0 { Tone::Bad } else { Tone::Good };
        vec![
            name.into(),
            grouped(total).into(),
            Cell::toned(grouped(failed), tone),
            percent(failed, total).into(),
            other.into(),
        ]
    };
    Table {
        title: String::new(),
        columns: vec![
            Column::text("level", 0),
            Column::number("total", 0),
            Column::number("failed", 0),
            Column::number("rate", 0),
            Column::text("besides", 1),
        ],
        rows: vec![
            row("attempts", c.attempts, c.failed_attempts, format!("{} unfinished", grouped(c.unfinished_attempts))),
            row("steps", c.steps, c.failed_steps, "no attempt of the step succeeded".to_owned()),
            row("turns", c.turns, c.failed_turns, format!("{} cancelled by the user", grouped(c.cancelled_turns))),
        ],
        note: None,
    }
}

fn codes(summary: &Summary) -> Table {
    let c = &summary.counts;
    let verdict = |code: &str, verdict: Verdict| {
        let count = summary.verdicts_by_code.get(&(code.to_owned(), verdict)).copied().unwrap_or(0);
        let tone = if verdict == Verdict::Contradicted && count > 0 { Tone::Warn } else { Tone::Plain };
        Cell::toned(grouped(count), tone)
    };
    Table {
        title: "Failures by code".to_owned(),
        columns: vec![
            Column::text("code", 0),
            Column::number("attempts", 0),
            Column::number("share", 3),
            Column::number("steps", 0),
            Column::number("share of failed steps", 1),
            Column::number("turns", 2),
            Column::number("contradicted", 1),
            Column::number("supported", 3),
        ],
        rows: summary
            .by_code
            .iter()
            .map(|(code, n)| {
                vec![
                    Cell::toned(redact(code).into_owned(), Tone::Strong),
                    grouped(n.failed_attempts).into(),
                    percent(n.failed_attempts, c.failed_attempts).into(),
                    grouped(n.failed_steps).into(),
                    percent(n.failed_steps, c.failed_steps).into(),
                    grouped(n.failed_turns).into(),
                    verdict(code, Verdict::Contradicted),
                    verdict(code, Verdict::Supported),
                ]
            })
            .collect(),
        note: Some("contradicted, supported: failed attempts whose code the evidence of this archive speaks against, or agrees with; `failures` shows the facts".to_owned()),
    }
}

fn bodyless(summary: &Summary) -> Option<Cell> {
    let overflow = summary.by_code.iter().find(|(code, _)| code == OVERFLOW).map_or(0, |(_, n)| n.failed_attempts);
    let contradicted =
        summary.verdicts_by_code.get(&(OVERFLOW.to_owned(), Verdict::Contradicted)).copied().unwrap_or(0);
    (summary.bodyless_failures > 0).then(|| {
        Cell::toned(
            format!(
                "{} of {} ({}) came back without a body: such an answer says nothing about its cause. {OVERFLOW} is the code of {overflow}; the evidence contradicts {contradicted} of them.",
                grouped(summary.bodyless_failures),
                counted(summary.counts.failed_attempts, "failed attempt"),
                percent(summary.bodyless_failures, summary.counts.failed_attempts),
                overflow = counted(overflow, "attempt"),
                contradicted = grouped(contradicted),
            ),
            Tone::Warn,
        )
    })
}

fn routes(summary: &Summary) -> Table {
    Table {
        title: "By provider and model".to_owned(),
        columns: vec![
            Column::text("provider", 0),
            Column::text("model", 0),
            Column::number("attempts", 0),
            Column::number("failed", 0),
            Column::number("rate", 0),
            Column::number("failed steps", 3),
            Column::number("largest success", 1),
            Column::number("window", 2),
        ],
        rows: summary
            .by_route
            .iter()
            .map(|(route, n)| {
                vec![
                    redact(&route.provider).into_owned().into(),
                    redact(&route.model).into_owned().into(),
                    grouped(n.attempts).into(),
                    grouped(n.failed_attempts).into(),
                    percent(n.failed_attempts, n.attempts).into(),
                    grouped(n.failed_steps).into(),
                    optional(n.largest_success_tokens).into(),
                    optional(n.window).into(),
                ]
            })
            .collect(),
        note: Some(
            "largest success: largest prompt in tokens, as reported, of an attempt that succeeded; window as logged"
                .to_owned(),
        ),
    }
}

fn retries(summary: &Summary) -> Table {
    let (c, r) = (&summary.counts, &summary.retries);
    let row = |name: &str, count: u64, tone: Tone| {
        vec![name.into(), Cell::toned(grouped(count), tone), percent(count, c.retries_scheduled).into()]
    };
    let rows = vec![
        row("next attempt succeeded", r.succeeded, Tone::Good),
        row("next attempt failed", r.failed, Tone::Bad),
        row("wait cancelled or cut off", r.not_started, Tone::Plain),
        row("next attempt has no finish", r.unfinished, Tone::Plain),
    ];
    Table {
        title: format!("Retries: {} scheduled, {} started", grouped(c.retries_scheduled), grouped(c.retries_started)),
        columns: vec![Column::text("how they ended", 0), Column::number("retries", 0), Column::number("share", 0)],
        rows: if c.retries_scheduled > 0 { rows } else { Vec::new() },
        note: None,
    }
}

fn chains(summary: &Summary) -> Option<String> {
    let fates: Vec<String> =
        summary.fates.iter().map(|(fate, n)| format!("{} {}", grouped(*n), fate.replace('_', " "))).collect();
    (!fates.is_empty())
        .then(|| format!("failure chains (the attempts of a step from its first failure on): {}", fates.join(", ")))
}

fn compactions(summary: &Summary) -> Table {
    let trigger = |t: Trigger| summary.triggers.get(&t).copied().unwrap_or(0);
    let outcome = |o: CompactionOutcome| summary.outcomes.get(&o).copied().unwrap_or(0);
    let total = summary.counts.compactions;
    Table {
        title: format!("Compactions: {}", grouped(total)),
        columns: ["pressure", "overflow", "manual", "done", "failed", "open", "prunes"].iter().map(|t| Column::number(*t, 0)).collect(),
        rows: if total + summary.prunes > 0 {
            vec![
                [
                    trigger(Trigger::Pressure),
                    trigger(Trigger::Overflow),
                    trigger(Trigger::Manual),
                    outcome(CompactionOutcome::Done),
                    outcome(CompactionOutcome::Failed),
                    outcome(CompactionOutcome::Open),
                    summary.prunes,
                ]
                .into_iter()
                .map(|n| grouped(n).into())
                .collect(),
            ]
        } else {
            Vec::new()
        },
        note: Some("the trigger is not logged, it is inferred from where the compaction stands; prunes cut tool results without a model call".to_owned()),
    }
}

fn windows(summary: &Summary) -> Table {
    Table {
        title: "Failed steps soon after a compaction".to_owned(),
        columns: vec![
            Column::text("window", 0),
            Column::number("failed steps inside", 0),
            Column::number("of all", 0),
            Column::number("share", 0),
        ],
        rows: if summary.counts.compactions > 0 && summary.counts.failed_steps > 0 {
            summary
                .windows
                .iter()
                .map(|w| {
                    vec![
                        w.window.to_string().into(),
                        grouped(w.inside).into(),
                        grouped(w.total).into(),
                        percent(w.inside, w.total).into(),
                    ]
                })
                .collect()
        } else {
            Vec::new()
        },
        note: Some(
            "compactions that an overflow failure caused are left out: they come after a failure, not before one"
                .to_owned(),
        ),
    }
}

fn sessions(summary: &Summary) -> Table {
    const SHOWN: usize = 10;
    let more = summary.failing_sessions.len().saturating_sub(SHOWN);
    Table {
        title: "Sessions that failed most".to_owned(),
        columns: vec![
            Column::text("session", 0),
            Column::text("project", 3),
            Column::number("steps", 1),
            Column::number("failed steps", 0),
            Column::number("rate", 4),
            Column::number("attempts", 2),
            Column::number("turns", 2),
            Column::text("main code", 0),
        ],
        rows: summary
            .failing_sessions
            .iter()
            .take(SHOWN)
            .map(|s| {
                vec![
                    shorten(&redact(&s.id), 20).into(),
                    shorten(&redact(s.project.as_deref().unwrap_or("–")), 32).into(),
                    grouped(s.steps).into(),
                    Cell::toned(grouped(s.failed_steps), Tone::Bad),
                    percent(s.failed_steps, s.steps).into(),
                    grouped(s.failed_attempts).into(),
                    grouped(s.failed_turns).into(),
                    redact(&s.main_code).into_owned().into(),
                ]
            })
            .collect(),
        note: Some(if more > 0 {
            format!("attempts and turns: failed ones; {} with failures", counted(more as u64, "more session"))
        } else {
            "attempts and turns: failed ones".to_owned()
        }),
    }
}
