//! The session around the failure, one line a moment.

use super::super::definitions::Term;
use super::super::document::{Block, Cell, Column, Table, Tone};
use super::super::numbers::{grouped, optional, span};
use super::Writer;
use crate::event::TurnEndKind;
use crate::explain::{Moment, MomentKind};
use crate::message;
use crate::message::Message;
use crate::report::lang::Language;
use crate::session::{CompactionOutcome, Outcome, Trigger};

impl Writer {
    pub(super) fn timeline(&mut self, moments: &[Moment]) {
        self.heading("explain.heading-timeline");
        let language = self.language;
        let rows = moments.iter().map(|moment| {
            let offset = moment.offset_ms.map_or_else(|| "–".to_owned(), |ms| offset(ms, language));
            let mark = if moment.here { "▶" } else { "" };
            let seq = moment.seq.map_or_else(String::new, |seq| seq.to_string());
            let text = language.render(&sentence(&moment.kind));
            let tone = if moment.here { Tone::Strong } else { tone(&moment.kind) };
            vec![Cell::from(mark), offset.into(), seq.into(), Cell::toned(text, tone)]
        });
        let table = Table {
            title: String::new(),
            columns: vec![
                Column::text("", 0),
                Column::number(language.say("explain.column-offset"), 0).means(Term::Offset),
                Column::number("seq", 1).means(Term::Seq),
                Column::text(language.say("explain.column-moment"), 0).means(Term::Place),
            ],
            rows: rows.collect(),
            note: None,
        };
        self.page.blocks.push(Block::Table(table));
    }
}

/// `+1.2 s`, `−350 ms`, `0`
fn offset(ms: i64, language: Language) -> String {
    match ms {
        0 => "0".to_owned(),
        later if later > 0 => format!("+{}", language.render(&span(later))),
        earlier => language.render(&span(earlier)),
    }
}

fn tone(kind: &MomentKind) -> Tone {
    match kind {
        MomentKind::Attempt { outcome: Outcome::Succeeded, .. } => Tone::Good,
        MomentKind::Attempt { outcome: Outcome::Failed, .. } | MomentKind::TurnEnd { end: TurnEndKind::Error, .. } => {
            Tone::Bad
        }
        MomentKind::Compaction { .. } | MomentKind::Prunes { .. } => Tone::Warn,
        _ => Tone::Plain,
    }
}

pub(super) fn sentence(kind: &MomentKind) -> Message {
    match kind {
        MomentKind::Attempt { place: (turn, step, attempt), outcome, code, tokens, duration_ms } => {
            let place = format!("{turn}.{step}.{attempt}");
            let duration = duration_ms.map_or_else(|| Message::verbatim("–"), span);
            let tokens = optional(*tokens);
            match (outcome, code) {
                (Outcome::Failed, Some(code)) => {
                    message!("explain.moment-failed", place = place, code = code, tokens = tokens, duration = duration)
                }
                (Outcome::Succeeded, _) => {
                    message!("explain.moment-succeeded", place = place, tokens = tokens, duration = duration)
                }
                (Outcome::Aborted, _) => message!("explain.moment-aborted", place = place),
                _ => message!("explain.moment-unfinished", place = place),
            }
        }
        MomentKind::Retry { retry, delay_ms, started } => {
            let wait = span(delay_ms.round() as i64);
            if *started {
                message!("explain.moment-retry", retry = retry, wait = wait)
            } else {
                message!("explain.moment-retry-cut", retry = retry, wait = wait)
            }
        }
        MomentKind::Compaction { trigger, outcome, tokens } => compaction(*trigger, *outcome, *tokens),
        MomentKind::Prunes { count, tokens } => {
            message!("explain.moment-prunes", n = count, tokens = grouped(*tokens))
        }
        MomentKind::TurnEnd { turn, end } => turn_end(*turn, *end),
    }
}

fn compaction(trigger: Trigger, outcome: CompactionOutcome, tokens: Option<u64>) -> Message {
    let trigger = match trigger {
        Trigger::Pressure => message!("explain.trigger-pressure"),
        Trigger::Overflow => message!("explain.trigger-overflow"),
        Trigger::Manual => message!("explain.trigger-manual"),
    };
    let message = match outcome {
        CompactionOutcome::Done => message!("explain.moment-compacted", tokens = optional(tokens)),
        CompactionOutcome::Failed => message!("explain.moment-compaction-failed"),
        CompactionOutcome::Open => message!("explain.moment-compaction-open"),
    };
    message.with_message("trigger", trigger)
}

fn turn_end(turn: u64, end: TurnEndKind) -> Message {
    match end {
        TurnEndKind::Error => message!("explain.moment-turn-error", turn = turn),
        TurnEndKind::Completed => message!("explain.moment-turn-completed", turn = turn),
        TurnEndKind::Aborted => message!("explain.moment-turn-aborted", turn = turn),
        other => message!("explain.moment-turn-other", turn = turn, kind = other.name()),
    }
}
