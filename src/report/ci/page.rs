//! The page of `check`, for terminals, step summaries and browsers.

use super::words;
use crate::check::{Accepted, CheckResult, GateState, Outcome, Problem, RateComparison, RateState};
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::report::definitions::Term;
use crate::report::document::{Block, Cell, Column, Page, Table, Tone};
use crate::report::failures::short_ids;
use crate::report::findings::severity;
use crate::report::lang::Language;
use crate::report::numbers::{grouped, percent, ratio};

/// Problems shown on a terminal.
pub const MOST_ON_TERMINAL: usize = 20;
/// Problems shown in a step summary; GitHub takes 1 MiB.
pub const MOST_IN_SUMMARY: usize = 100;
/// Problems shown in a file.
pub const MOST_IN_FILE: usize = 1000;

/// Builds the page; `most` problems and stale entries are shown, the rest is counted.
pub fn page(result: &CheckResult, most: usize, language: Language) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(language.say("check.title")));
    page.text(Cell::toned(language.render(&verdict(result)), verdict_tone(result)));
    for notice in &result.notices {
        page.text(Cell::toned(words(notice, language), Tone::Warn));
    }
    page.blocks.push(Block::Table(gates(result, language)));
    page.blocks.push(Block::Table(problems(&result.problems, most, language)));
    page.blocks.push(Block::Table(stale(&result.stale, most, language)));
    page.blocks.push(Block::Table(rates(&result.rates, language)));
    if result.fired() {
        page.text(Cell::toned(language.say("check.what-next"), Tone::Faint));
    }
    page
}

/// Which gate fired and why, in two lines.
pub fn explain(result: &CheckResult, language: Language) -> String {
    let names = |state: GateState| {
        result.in_state(state).map(|o| message!("common.verbatim", words = o.gate.name())).collect::<Vec<_>>()
    };
    let of = |state: GateState| result.in_state(state).next();
    let (first, second) = match (of(GateState::Fired), of(GateState::Inconclusive)) {
        (Some(outcome), _) => {
            (Message::new("check.explain-fired").with_list("gates", names(GateState::Fired)), outcome.why.clone())
        }
        (None, Some(outcome)) => (
            Message::new("check.explain-inconclusive").with_list("gates", names(GateState::Inconclusive)),
            outcome.why.clone(),
        ),
        (None, None) => {
            let n = grouped(names(GateState::Passed).len() as u64);
            (message!("check.explain-passed", n = n), counts(result))
        }
    };
    let why = Message::new("check.explain-why").with_message("why", second);
    format!("{}\n{}\n", words(&first, language), words(&why, language))
}

fn counts(result: &CheckResult) -> Message {
    message!(
        "check.counts",
        known = grouped(result.known.len() as u64),
        failures = grouped(result.observed.failed_attempts),
        routes = grouped(result.observed.rates.len() as u64),
    )
}

/// One sentence: how many gates fired, or that none did.
pub fn verdict(result: &CheckResult) -> Message {
    let count = |state: GateState| grouped(result.in_state(state).count() as u64);
    if result.fired() {
        let gates = result.in_state(GateState::Fired);
        let list = gates.map(|outcome| message!("common.verbatim", words = outcome.gate.name()));
        return message!("check.verdict-fired", n = count(GateState::Fired)).with_list("gates", list);
    }
    let inconclusive = result.in_state(GateState::Inconclusive).count();
    if inconclusive > 0 {
        message!("check.verdict-inconclusive", n = grouped(inconclusive as u64))
    } else {
        Message::new("check.verdict-passed").with_message("counts", counts(result))
    }
}

fn verdict_tone(result: &CheckResult) -> Tone {
    match (result.fired(), result.in_state(GateState::Inconclusive).next().is_some()) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Warn,
        (false, false) => Tone::Good,
    }
}

fn gates(result: &CheckResult, language: Language) -> Table {
    let row = |outcome: &Outcome| {
        let (key, tone) = match outcome.state {
            GateState::Passed => ("check.state-passed", Tone::Good),
            GateState::Fired => ("check.state-fired", Tone::Bad),
            GateState::Inconclusive => ("check.state-inconclusive", Tone::Warn),
            GateState::NotSet => ("check.state-not-set", Tone::Faint),
        };
        vec![
            Cell::from(outcome.gate.name()),
            Cell::toned(language.say(key), tone),
            words(&outcome.why, language).into(),
        ]
    };
    Table {
        title: language.say("check.gates"),
        columns: vec![
            Column::text(language.say("check.column-gate"), 0).means(Term::Gate),
            Column::text(language.say("check.column-state"), 0).means(Term::Gate),
            Column::text(language.say("check.column-why"), 0),
        ],
        rows: result.outcomes.iter().map(row).collect(),
        note: None,
    }
}

fn problems(problems: &[Problem], most: usize, language: Language) -> Table {
    let shown = || problems.iter().take(most);
    let ids = short_ids(shown().filter_map(|problem| problem.place.as_ref()).map(|p| p.session_id.as_str()), 12);
    // Without its place two problems of one rule look alike.
    let place = |problem: &Problem| {
        let place = problem.place.as_ref()?;
        let id = ids.get(place.session_id.as_str())?;
        Some(format!("{}:{}", redact(id), place.seq))
    };
    let row = |problem: &Problem| {
        vec![
            Cell::from(problem.rule),
            Cell::toned(language.render(&severity(problem.severity)), Tone::Warn),
            place(problem).unwrap_or_else(|| "–".to_owned()).into(),
            words(&problem.what, language).into(),
        ]
    };
    Table {
        title: language.say("check.problems"),
        columns: vec![
            Column::text(language.say("check.column-rule"), 0).means(Term::Finding),
            Column::text(language.say("check.column-severity"), 2).means(Term::Finding),
            Column::text(language.say("check.column-session-seq"), 0).means(Term::Session),
            Column::text(language.say("check.column-what"), 0),
        ],
        rows: shown().map(row).collect(),
        note: left_out(problems.len(), most, language),
    }
}

fn stale(stale: &[Accepted], most: usize, language: Language) -> Table {
    let row =
        |entry: &Accepted| [&entry.rule, &entry.at, &entry.reason].map(|text| Cell::from(super::one_line(text))).into();
    Table {
        title: language.say("check.stale"),
        columns: vec![
            Column::text(language.say("check.column-rule"), 0).means(Term::Finding),
            Column::text(language.say("check.column-place"), 0),
            Column::text(language.say("check.column-reason"), 0),
        ],
        rows: stale.iter().take(most).map(row).collect(),
        note: left_out(stale.len(), most, language).or_else(|| Some(language.say("check.stale-advice"))),
    }
}

/// `10 of 73 shown`
fn left_out(all: usize, most: usize, language: Language) -> Option<String> {
    let shown = message!("check.shown", shown = grouped(most as u64), all = grouped(all as u64));
    (all > most).then(|| language.render(&shown))
}

fn rates(rates: &[RateComparison], language: Language) -> Table {
    let dash = || "–".to_owned();
    let row = |route: &RateComparison| {
        let before = route.before.map_or_else(dash, |rate| percent(rate.failed_attempts, rate.attempts));
        let interval = match (route.lower, route.upper) {
            (Some(lower), Some(upper)) => format!("{}–{}", ratio(lower), ratio(upper)),
            (Some(lower), None) => format!("{}–∞", ratio(lower)),
            _ => dash(),
        };
        let (key, tone) = match route.state {
            RateState::Worse => ("check.rate-state-worse", Tone::Bad),
            RateState::Better => ("check.rate-state-better", Tone::Good),
            RateState::Same => ("check.rate-state-same", Tone::Plain),
            RateState::Inconclusive => ("check.rate-state-inconclusive", Tone::Warn),
            RateState::New => ("check.rate-state-new", Tone::Plain),
        };
        vec![
            Cell::from(super::one_line(&route.route)),
            grouped(route.now.attempts).into(),
            percent(route.now.failed_attempts, route.now.attempts).into(),
            before.into(),
            interval.into(),
            Cell::toned(language.say(key), tone),
        ]
    };
    Table {
        title: language.say("check.rates"),
        columns: vec![
            Column::text(language.say("check.column-route"), 0).means(Term::Route),
            Column::number(language.say("check.column-attempts"), 1).means(Term::Attempt),
            Column::number(language.say("check.column-rate"), 0).means(Term::Share),
            Column::number(language.say("check.column-rate-before"), 0).means(Term::Share),
            Column::number(language.say("check.column-ratio"), 0).means(Term::Ratio),
            Column::text(language.say("check.column-state"), 0).means(Term::Gate),
        ],
        rows: rates.iter().map(row).collect(),
        note: None,
    }
}
