//! The tables of `scan`.

use crate::context_window::WindowSource;
use crate::evidence::Verdict;
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::report::definitions::Term;
use crate::report::document::{Cell, Column, Table, Tone};
use crate::report::failures::shorten;
use crate::report::lang::Language;
use crate::report::numbers::{grouped, optional, percent};
use crate::session::{CompactionOutcome, Route, Trigger};
use crate::summary::Summary;

pub(super) fn levels(summary: &Summary, language: Language) -> Table {
    let c = &summary.counts;
    let say = |key| language.say(key);
    let row = |name: Cell, total: u64, failed: u64, besides: String| {
        let tone = if failed > 0 { Tone::Bad } else { Tone::Good };
        vec![
            name,
            grouped(total).into(),
            Cell::toned(grouped(failed), tone),
            percent(failed, total).into(),
            besides.into(),
        ]
    };
    let name = |key, term| Cell::from(language.say(key)).means(term);
    let unfinished = language.render(&message!("scan.unfinished", n = grouped(c.unfinished_attempts)));
    let by_user = language.render(&message!("scan.by-user", n = grouped(c.cancelled_turns)));
    Table {
        title: String::new(),
        columns: vec![
            Column::text(say("scan.level"), 0),
            Column::number(say("scan.total"), 0),
            Column::number(say("scan.failed"), 0),
            Column::number(say("scan.rate"), 0).means(Term::Share),
            Column::text(say("scan.besides"), 1),
        ],
        rows: vec![
            row(name("scan.attempts", Term::Attempt), c.attempts, c.failed_attempts, unfinished),
            row(name("scan.steps-level", Term::Step), c.steps, c.failed_steps, say("scan.no-success")),
            row(name("scan.turns", Term::Turn), c.turns, c.failed_turns, by_user),
        ],
        note: None,
    }
}

pub(super) fn codes(summary: &Summary, language: Language) -> Table {
    let c = &summary.counts;
    let say = |key| language.say(key);
    let verdict = |code: &str, verdict: Verdict| {
        let count = summary.verdicts_by_code.get(&(code.to_owned(), verdict)).copied().unwrap_or(0);
        let tone = if verdict == Verdict::Contradicted && count > 0 { Tone::Warn } else { Tone::Plain };
        Cell::toned(grouped(count), tone)
    };
    Table {
        title: say("scan.by-code"),
        columns: vec![
            Column::text(say("scan.code"), 0).means(Term::Code),
            Column::number(say("scan.attempts"), 0).means(Term::Attempt),
            Column::number(say("scan.share"), 3).means(Term::Share),
            Column::number(say("scan.steps-level"), 0).means(Term::Step),
            Column::number(say("scan.share-of-failed-steps"), 1).means(Term::Share),
            Column::number(say("scan.turns"), 2).means(Term::Turn),
            Column::number(say("scan.contradicted"), 1).means(Term::Verdict),
            Column::number(say("scan.supported"), 3).means(Term::Verdict),
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
        note: Some(say("scan.by-code-note")),
    }
}

pub(super) fn routes(summary: &Summary, language: Language) -> Table {
    let say = |key| language.say(key);
    Table {
        title: say("scan.by-route"),
        columns: vec![
            Column::text(say("scan.provider"), 0).means(Term::Route),
            Column::text(say("scan.model"), 0).means(Term::Route),
            Column::number(say("scan.attempts"), 0).means(Term::Attempt),
            Column::number(say("scan.failed"), 0).means(Term::Attempt),
            Column::number(say("scan.rate"), 0).means(Term::Share),
            Column::number(say("scan.failed-steps"), 3).means(Term::Step),
            Column::number(say("scan.largest-success"), 1).means(Term::LargestSuccess),
            Column::number(say("scan.window"), 2).means(Term::ContextWindow),
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
                    optional(n.window.map(|window| window.tokens)).into(),
                ]
            })
            .collect(),
        note: Some(routes_note(summary, language)),
    }
}

/// Where the windows come from: once where all have one source, else route by route.
fn routes_note(summary: &Summary, language: Language) -> String {
    let known: Vec<(&Route, WindowSource)> =
        summary.by_route.iter().filter_map(|(route, n)| Some((route, n.window?.source))).collect();
    let says = |source: WindowSource| match source {
        WindowSource::Logged => message!("scan.window-logged"),
        WindowSource::Settings => message!("scan.window-settings"),
        WindowSource::ErrorMessage => message!("scan.window-from-text"),
        WindowSource::Typed => message!("scan.window-typed"),
    };
    let sources: Vec<Message> = match known.as_slice() {
        [] => return language.say("scan.by-route-note-unknown"),
        [(_, first), others @ ..] if others.iter().all(|(_, source)| source == first) => vec![says(*first)],
        several => {
            let of_route = |(route, source): &(&Route, WindowSource)| {
                let route = redact(&format!("{}/{}", route.provider, route.model)).into_owned();
                message!("scan.window-of-route", route = route).with_message("source", says(*source))
            };
            several.iter().map(of_route).collect()
        }
    };
    language.render(&Message::new("scan.by-route-note").with_list("sources", sources))
}

pub(super) fn retries(summary: &Summary, language: Language) -> Table {
    let (c, r) = (&summary.counts, &summary.retries);
    let say = |key| language.say(key);
    let row = |name: String, count: u64, tone: Tone| {
        vec![name.into(), Cell::toned(grouped(count), tone), percent(count, c.retries_scheduled).into()]
    };
    let rows = vec![
        row(say("scan.next-succeeded"), r.succeeded, Tone::Good),
        row(say("scan.next-failed"), r.failed, Tone::Bad),
        row(say("scan.not-started"), r.not_started, Tone::Plain),
        row(say("scan.next-unfinished"), r.unfinished, Tone::Plain),
    ];
    let (scheduled, started) = (grouped(c.retries_scheduled), grouped(c.retries_started));
    Table {
        title: language.render(&message!("scan.retries", scheduled = scheduled, started = started)),
        columns: vec![
            Column::text(say("scan.how-ended"), 0),
            Column::number(say("scan.retries-column"), 0).means(Term::Retry),
            Column::number(say("scan.share"), 0).means(Term::Share),
        ],
        rows: if c.retries_scheduled > 0 { rows } else { Vec::new() },
        ..Table::default()
    }
}

pub(super) fn compactions(summary: &Summary, language: Language) -> Table {
    let say = |key| language.say(key);
    let trigger = |t: Trigger| summary.triggers.get(&t).copied().unwrap_or(0);
    let outcome = |o: CompactionOutcome| summary.outcomes.get(&o).copied().unwrap_or(0);
    let columns = [
        (say("scan.pressure"), trigger(Trigger::Pressure)),
        (say("scan.overflow"), trigger(Trigger::Overflow)),
        (say("scan.manual"), trigger(Trigger::Manual)),
        (say("scan.done"), outcome(CompactionOutcome::Done)),
        (say("scan.failed"), outcome(CompactionOutcome::Failed)),
        (say("scan.open"), outcome(CompactionOutcome::Open)),
        (say("scan.prunes"), summary.prunes),
    ];
    let total = summary.counts.compactions;
    let row: Vec<Cell> = columns.iter().map(|(_, count)| grouped(*count).into()).collect();
    Table {
        title: language.render(&message!("scan.compactions", n = grouped(total))),
        columns: columns.into_iter().map(|(title, _)| Column::number(title, 0).means(Term::Compaction)).collect(),
        rows: if total + summary.prunes > 0 { vec![row] } else { Vec::new() },
        note: Some(say("scan.compactions-note")),
    }
}

pub(super) fn sessions(summary: &Summary, language: Language) -> Table {
    const SHOWN: usize = 10;
    let say = |key| language.say(key);
    let more = summary.failing_sessions.len().saturating_sub(SHOWN) as u64;
    let rows = summary.failing_sessions.iter().take(SHOWN).map(|s| {
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
    });
    Table {
        title: say("scan.top-sessions"),
        columns: vec![
            Column::text(say("scan.session"), 0).means(Term::Session),
            Column::text(say("scan.project"), 3),
            Column::number(say("scan.steps-level"), 1).means(Term::Step),
            Column::number(say("scan.failed-steps"), 0).means(Term::Step),
            Column::number(say("scan.rate"), 4).means(Term::Share),
            Column::number(say("scan.attempts"), 2).means(Term::Attempt),
            Column::number(say("scan.turns"), 2).means(Term::Turn),
            Column::text(say("scan.main-code-column"), 0).means(Term::Code),
        ],
        rows: rows.collect(),
        note: Some(if more > 0 {
            language.render(&message!("scan.top-sessions-more", n = grouped(more)))
        } else {
            say("scan.top-sessions-note")
        }),
    }
}
