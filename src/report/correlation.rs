//! The event study and the column scan in JSON and in words.

use serde::Serialize;

use super::definitions::Term;
use super::document::{Cell, Column, Table, Tone};
use super::lang::Language;
use super::numbers::{grouped, p_value, percent, ratio};
use crate::correlate::{ColumnScan, Effect, SECONDS_PER_LAG, WindowStudy};
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::summary::WindowCounts;
use crate::windows::Clock;

/// One window (`scan` and `compactions`). Frozen: fields may be added, none renamed or dropped.
#[derive(Debug, Serialize)]
pub(super) struct WindowV1 {
    window: String,
    failed_steps_inside: u64,
    failed_steps_total: u64,
    share: Option<f64>,
    rate_ratio: Option<f64>,
    rate_ratio_lo: Option<f64>,
    rate_ratio_hi: Option<f64>,
    p_value: Option<f64>,
    steps_begun_inside: Option<u64>,
    failures_begun_inside: Option<u64>,
    steps_begun_outside: Option<u64>,
    failures_begun_outside: Option<u64>,
    expected_failures_inside: Option<f64>,
    dispersion: Option<f64>,
    odds_ratio: Option<f64>,
    odds_ratio_lo: Option<f64>,
    odds_ratio_hi: Option<f64>,
    fisher_p_value: Option<f64>,
}

impl WindowV1 {
    pub(super) fn new(counts: &WindowCounts, study: Option<&WindowStudy>) -> Self {
        let odds = study.and_then(|s| s.odds);
        Self {
            window: counts.window.to_string(),
            failed_steps_inside: counts.inside,
            failed_steps_total: counts.total,
            share: (counts.total > 0).then(|| counts.inside as f64 / counts.total as f64),
            rate_ratio: study.and_then(|s| s.ratio.estimate),
            rate_ratio_lo: study.and_then(|s| s.ratio.lower),
            rate_ratio_hi: study.and_then(|s| s.ratio.upper),
            p_value: study.and_then(|s| s.p_value),
            steps_begun_inside: study.map(|s| s.inside.steps),
            failures_begun_inside: study.map(|s| s.inside.failures),
            steps_begun_outside: study.map(|s| s.outside.steps),
            failures_begun_outside: study.map(|s| s.outside.failures),
            expected_failures_inside: study.map(|s| s.expected_inside),
            dispersion: study.map(|s| s.dispersion),
            odds_ratio: odds.and_then(|o| o.estimate),
            odds_ratio_lo: odds.map(|o| o.lower),
            odds_ratio_hi: odds.and_then(|o| o.upper),
            fisher_p_value: study.map(|s| s.fisher_p),
        }
    }

    /// All windows, with their studies where there are any.
    pub(super) fn all(counts: &[WindowCounts], studies: &[WindowStudy]) -> Vec<Self> {
        counts.iter().enumerate().map(|(index, counts)| Self::new(counts, studies.get(index))).collect()
    }
}

/// One explanation of the column scan.
#[derive(Debug, Serialize)]
pub(super) struct EffectV1 {
    column: &'static str,
    value: String,
    steps: u64,
    steps_with_failure: u64,
    other_steps: u64,
    other_steps_with_failure: u64,
    rate_ratio: Option<f64>,
    rate_ratio_lo: f64,
    rate_ratio_hi: Option<f64>,
    p_value: f64,
    q_value: f64,
}

impl From<&Effect> for EffectV1 {
    fn from(effect: &Effect) -> Self {
        Self {
            column: effect.column.name(),
            value: redact(&effect.level).into_owned(),
            steps: effect.with.steps,
            steps_with_failure: effect.with.failures,
            other_steps: effect.without.steps,
            other_steps_with_failure: effect.without.failures,
            rate_ratio: effect.ratio,
            rate_ratio_lo: effect.interval.lower,
            rate_ratio_hi: Some(effect.interval.upper).filter(|upper| upper.is_finite()),
            p_value: effect.p_value,
            q_value: effect.q_value,
        }
    }
}

/// Several sentences as one paragraph.
pub fn paragraph(language: Language, sentences: &[Message]) -> String {
    let between = if language == Language::Chinese { "" } else { " " };
    sentences.iter().map(|sentence| language.render(sentence)).collect::<Vec<_>>().join(between)
}

/// Name of a clock in JSON.
pub(super) fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::Events => "events",
        Clock::Attempts => "attempts",
        Clock::Seconds => "seconds",
    }
}

/// The stretch of a lag on its clock, in units of the clock.
pub(super) fn lag_span(clock: Clock, lag: i64) -> (f64, f64) {
    let unit = if clock == Clock::Seconds { SECONDS_PER_LAG } else { 1.0 };
    let (near, far) = ((lag.abs() - 1) as f64 * unit, lag.abs() as f64 * unit);
    if lag < 0 { (-far, -near) } else { (near, far) }
}

/// Ratio and its interval, as they stand in tables.
pub(super) fn ratio_cells(study: &WindowStudy) -> [String; 2] {
    let dash = || "–".to_owned();
    let interval =
        |lower: f64, upper: Option<f64>| format!("{} – {}", ratio(lower), upper.map_or_else(|| "∞".to_owned(), ratio));
    match (study.ratio.estimate, study.ratio.lower) {
        (Some(times), Some(lower)) => [ratio(times), interval(lower, study.ratio.upper)],
        (None, Some(lower)) => ["∞".to_owned(), interval(lower, None)],
        _ => [dash(), dash()],
    }
}

/// The windows as a table. Empty where nothing failed or nothing was compacted.
pub fn windows_table(counts: &[WindowCounts], studies: &[WindowStudy], shown: bool, language: Language) -> Table {
    let say = |key: &'static str| language.say(key);
    let row = |(index, counts): (usize, &WindowCounts)| {
        let mut cells: Vec<Cell> = vec![
            counts.window.to_string().into(),
            grouped(counts.inside).into(),
            grouped(counts.total).into(),
            percent(counts.inside, counts.total).into(),
        ];
        cells.extend(studies.get(index).map_or_else(|| vec![Cell::from("–"); 6], study_cells));
        cells
    };
    Table {
        title: say("compactions.windows"),
        columns: vec![
            Column::text(say("compactions.window"), 0).means(Term::AfterCompaction),
            Column::number(say("compactions.ends-inside"), 0).means(Term::AfterCompaction),
            Column::number(say("compactions.of-all"), 0).means(Term::Step),
            Column::number(say("compactions.share"), 0).means(Term::Share),
            Column::number(say("compactions.begin-inside"), 4).means(Term::Step),
            Column::number(say("compactions.rate-inside"), 3).means(Term::Share),
            Column::number(say("compactions.rate-elsewhere"), 3).means(Term::Share),
            Column::number(say("compactions.times"), 0).means(Term::Ratio),
            Column::number(say("compactions.interval"), 0).means(Term::Ratio),
            Column::number(say("compactions.p"), 1).means(Term::PValue),
        ],
        rows: if shown { counts.iter().enumerate().map(row).collect() } else { Vec::new() },
        note: Some(say("compactions.windows-note")),
    }
}

/// Steps inside, both rates, ratio, interval, p.
pub(super) fn study_cells(study: &WindowStudy) -> Vec<Cell> {
    let [times, interval] = ratio_cells(study);
    vec![
        grouped(study.inside.steps).into(),
        percent(study.inside.failures, study.inside.steps).into(),
        percent(study.outside.failures, study.outside.steps).into(),
        times.into(),
        interval.into(),
        study.p_value.map_or_else(|| "–".to_owned(), p_value).into(),
    ]
}

/// What survives of the column scan, one sentence each, and the remark below; nothing where nothing survives.
pub fn explanations(scan: &ColumnScan, language: Language) -> Option<(Vec<Cell>, Cell)> {
    let sentence = |effect: &Effect| {
        let name = language.say(effect.column.heading());
        let key = effect.ratio.map(ratio);
        let known = match key {
            Some(times) => message!("compactions.columns-first", times = times, upper = ratio(effect.interval.upper)),
            None => message!("compactions.columns-infinite"),
        };
        known
            .with("column", name)
            .with("level", redact(&effect.level))
            .with("failures", grouped(effect.with.failures))
            .with("steps", grouped(effect.with.steps))
            .with("rate", percent(effect.with.failures, effect.with.steps))
            .with("other_failures", grouped(effect.without.failures))
            .with("other_steps", grouped(effect.without.steps))
            .with("other_rate", percent(effect.without.failures, effect.without.steps))
            .with("lower", ratio(effect.interval.lower))
    };
    let line = |(index, effect): (usize, &Effect)| {
        let first = sentence(effect);
        let whole = if index == 0 { first } else { message!("compactions.columns-next").with_message("effect", first) };
        Cell::from(language.render(&whole))
    };
    let tested = message!("compactions.columns-note", tested = grouped(scan.effects.len() as u64));
    (!scan.explanations.is_empty()).then(|| {
        let lines = scan.explanations.iter().enumerate().map(line).collect();
        (lines, Cell::toned(language.render(&tested), Tone::Faint))
    })
}
