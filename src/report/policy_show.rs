//! `policy show`: who had which retry policy when, and whether the recorded retries follow it.

use jiff::tz::TimeZone;

use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::lang::Language;
use super::numbers::{grouped, moment};
use crate::message;
use crate::message::Message;
use crate::policy::model::{DEFAULT_RETRYABLE_CODES, js_number};
use crate::policy::schedule::duration;
use crate::policy::{Recorded, RetryMode, RetryPolicy};
use crate::replay::{Basis, Expected, InferredRelease, PolicySpan, Reason, ReleaseBasis, ReplayReport, Unreproduced};

/// Builds the page; with `listed`, every decision that is not reproduced.
#[must_use]
pub fn page(spans: &[PolicySpan], replay: &ReplayReport, listed: bool, zone: &TimeZone, language: Language) -> Page {
    let mut page = Page::default();
    let say = |message: Message| language.render(&message);
    let tone = if replay.mismatches.is_empty() { Tone::Good } else { Tone::Bad };
    page.text(Cell::toned(say(replay_sentence(replay)), tone));
    if !replay.undecided.is_empty() {
        page.text(say(message!("policy.replay-undecided", n = grouped(replay.undecided.len() as u64))));
    }
    for route in spans.chunk_by(|a, b| a.route == b.route) {
        let Some(first) = route.first() else { continue };
        page.blocks.push(Block::Heading(route_name(&first.route, language)));
        page.text(Cell::toned(say(release_sentence(&first.release)), Tone::Faint));
        page.blocks.push(Block::Table(spans_table(route, zone, language)));
    }
    page.text(Cell::toned(
        language.say(if spans.is_empty() { "policy.show-nothing" } else { "policy.show-note" }),
        Tone::Faint,
    ));
    if listed {
        for (key, list) in [("policy.mismatches", &replay.mismatches), ("policy.undecided", &replay.undecided)] {
            page.blocks.push(Block::Table(decisions_table(language.say(key), list, language)));
        }
    } else if !replay.mismatches.is_empty() || !replay.undecided.is_empty() {
        page.text(Cell::toned(language.say("policy.mismatches-hint"), Tone::Faint));
    }
    page
}

fn replay_sentence(replay: &ReplayReport) -> Message {
    let count = |basis: Basis| grouped(replay.by_basis.get(&basis).copied().unwrap_or(0));
    if replay.decisions == 0 {
        return message!("policy.replay-none");
    }
    let assumed = replay.by_basis.get(&Basis::Default).copied().unwrap_or(0)
        + replay.by_basis.get(&Basis::Archive).copied().unwrap_or(0);
    message!(
        "policy.replay",
        reproduced = grouped(replay.reproduced),
        decisions = grouped(replay.decisions),
        logged = count(Basis::Logged),
        session = count(Basis::Session),
        assumed = grouped(assumed),
    )
}

fn route_name(route: &crate::session::Route, language: Language) -> String {
    let model = if route.model.is_empty() { language.say("policy.model-unknown") } else { route.model.clone() };
    format!("{} / {model}", route.provider)
}

fn release_sentence(release: &InferredRelease) -> Message {
    let range = match (release.from, release.to) {
        (Some(from), Some(to)) => message!("policy.release-between", from = from, to = to),
        (Some(from), None) => message!("policy.release-from", from = from),
        (None, Some(to)) => message!("policy.release-to", to = to),
        (None, None) => message!("policy.release-any"),
    };
    let how = match release.basis {
        ReleaseBasis::Format => "policy.release-by-format",
        ReleaseBasis::TwoRetries => "policy.release-by-two",
        ReleaseBasis::FiveRetries => "policy.release-by-five",
        ReleaseBasis::Unknown => "policy.release-by-nothing",
    };
    message!("policy.release").with_message("range", range).with_message("how", Message::new(how))
}

fn spans_table(spans: &[PolicySpan], zone: &TimeZone, language: Language) -> Table {
    let title = |key| language.say(key);
    let columns = vec![
        Column::text(title("policy.col-from"), 0),
        Column::text(title("policy.col-to"), 1),
        Column::text(title("policy.col-source"), 0),
        Column::text(title("policy.col-mode"), 0),
        Column::text(title("policy.col-delays"), 0),
        Column::text("retryableCodes", 0),
        Column::number(title("policy.col-retries"), 2),
        Column::number(title("policy.col-failures"), 3),
    ];
    Table {
        title: String::new(),
        columns,
        rows: spans.iter().map(|span| span_row(span, zone, language)).collect(),
        note: None,
    }
}

fn span_row(span: &PolicySpan, zone: &TimeZone, language: Language) -> Vec<Cell> {
    let policy = &span.policy;
    let default = span.default_policy();
    let differs = differing_fields(policy, &default);
    let field = |names: &[&str], text: String| {
        let marked = names.iter().any(|name| differs.contains(name));
        if marked { Cell::toned(format!("{text} *"), Tone::Strong) } else { Cell::from(text) }
    };
    let mode = if policy.mode == RetryMode::Always {
        message!("policy.mode-always")
    } else {
        message!("policy.mode-normal", n = grouped(policy.max_retries))
    };
    let backoff = &policy.backoff;
    let delays = message!(
        "policy.delays",
        initial = js_number(backoff.initial_delay_ms),
        max = js_number(backoff.max_delay_ms),
        jitter = js_number((backoff.jitter_ratio * 1e6).round() / 1e4)
    );
    let normal = policy.mode == RetryMode::Normal;
    let source = if span.basis == Basis::Logged { "policy.source-logged" } else { "policy.source-default" };
    vec![
        moment(span.from_ms, zone).into(),
        moment(span.to_ms, zone).into(),
        language.say(source).into(),
        field(&["mode", "maxRetries"], language.render(&mode)),
        field(&["initialDelayMs", "maxDelayMs", "jitterRatio"], language.render(&delays)),
        if normal {
            field(&["retryableCodes"], codes_words(policy, language))
        } else {
            language.say("policy.codes-all").into()
        },
        grouped(span.retries).into(),
        grouped(span.failures).into(),
    ]
}

/// The fields, by their names in the settings, in which a policy differs from another.
#[must_use]
pub fn differing_fields(policy: &RetryPolicy, default: &RetryPolicy) -> Vec<&'static str> {
    let normal = policy.mode == RetryMode::Normal;
    [
        ("mode", policy.mode != default.mode),
        ("maxRetries", normal && policy.max_retries != default.max_retries),
        ("retryableCodes", normal && policy.retryable_codes != default.retryable_codes),
        ("initialDelayMs", policy.backoff.initial_delay_ms != default.backoff.initial_delay_ms),
        ("maxDelayMs", policy.backoff.max_delay_ms != default.backoff.max_delay_ms),
        ("jitterRatio", policy.backoff.jitter_ratio != default.backoff.jitter_ratio),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}

/// The codes against the five defaults: a list of five long names says less than "the defaults and one more".
fn codes_words(policy: &RetryPolicy, language: Language) -> String {
    let dropped = policy.dropped_default_codes();
    let more: Vec<&str> =
        policy.codes_in_order().into_iter().filter(|code| !DEFAULT_RETRYABLE_CODES.contains(code)).collect();
    let message = match (dropped.is_empty(), more.is_empty()) {
        (true, true) => message!("policy.codes-default"),
        (true, false) => message!("policy.codes-and").with_words("more", more),
        _ => message!("policy.codes-listed").with_words("codes", policy.codes_in_order()),
    };
    language.render(&message)
}

fn decisions_table(title: String, list: &[Unreproduced], language: Language) -> Table {
    let title_of = |key| language.say(key);
    Table {
        title,
        columns: vec![
            Column::text(title_of("policy.col-session"), 0),
            Column::number("seq", 0),
            Column::text(title_of("policy.col-step"), 3),
            Column::text(title_of("policy.col-provider"), 2),
            Column::text(title_of("policy.col-code"), 1),
            Column::text(title_of("policy.col-recorded"), 0),
            Column::text(title_of("policy.col-expected"), 0),
            Column::text(title_of("policy.col-reason"), 0),
        ],
        rows: list
            .iter()
            .map(|found| {
                vec![
                    found.session.chars().take(8).collect::<String>().into(),
                    found.seq.to_string().into(),
                    format!("{}.{}", found.turn, found.step).into(),
                    found.route.provider.clone().into(),
                    found.code.clone().into(),
                    language.render(&recorded_message(found.recorded)).into(),
                    found.expected.map_or_else(|| "–".to_owned(), |e| language.render(&expected_message(e))).into(),
                    language.say(reason_key(found.reason)).into(),
                ]
            })
            .collect(),
        note: None,
    }
}

/// What the log holds, as a sentence part.
#[must_use]
pub fn recorded_message(recorded: Recorded) -> Message {
    match recorded {
        Recorded::Retried { retry, delay_ms } => {
            message!("policy.retry-after", retry = retry, delay = duration(delay_ms))
        }
        Recorded::Surrendered => message!("policy.no-retry"),
    }
}

/// What the policy does, as a sentence part.
#[must_use]
pub fn expected_message(expected: Expected) -> Message {
    use crate::policy::semantics::GiveUp;
    match expected {
        Expected::Retry { retry, low_ms, high_ms } if low_ms == high_ms => {
            message!("policy.retry-after", retry = retry, delay = duration(low_ms))
        }
        Expected::Retry { retry, low_ms, high_ms } => {
            message!("policy.retry-within", retry = retry, low = duration(low_ms), high = duration(high_ms))
        }
        Expected::GiveUp(GiveUp::NotRetryable) => message!("policy.gives-up-code"),
        Expected::GiveUp(GiveUp::BudgetSpent) => message!("policy.gives-up-spent"),
        Expected::GiveUp(GiveUp::RetryAfterTooLong) => message!("policy.gives-up-retry-after"),
    }
}

fn reason_key(reason: Reason) -> &'static str {
    match reason {
        Reason::Policy(_) => "policy.reason-policy",
        Reason::AnotherPlugin => "policy.reason-plugin",
        Reason::RecoveredElsewhere => "policy.reason-elsewhere",
        Reason::Cancelled => "policy.reason-cancelled",
        Reason::CutLog => "policy.reason-cut",
    }
}
