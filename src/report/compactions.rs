//! The page of `compactions`: the answer first, then what it rests on.

use jiff::tz::TimeZone;

use super::correlation::{paragraph, ratio_cells, study_cells, windows_table};
use super::definitions::Term;
use super::document::{Axis, Block, Cell, Chart, Column, Mark, Page, Point, Scale, Series, Table, Tone};
use super::failures::shorten;
use super::lang::Language;
use super::numbers::{grouped, moment, optional, percent, span};
use crate::correlate::{CompactionList, CompactionStudy, LAGS, Listed, Rate, RunKind, Verdict};
use crate::message;
use crate::redact::redact;
use crate::session::{CompactionOutcome, Trigger};
use crate::summary::Summary;
use crate::windows::Clock;

/// Compactions listed on the page.
const SHOWN: usize = 40;

/// Everything the page shows.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Counts of the archive, the windows among them.
    pub summary: &'a Summary,
    /// Every compaction.
    pub list: &'a CompactionList<'a>,
    /// Whether they make steps fail.
    pub study: &'a CompactionStudy,
}

/// Builds the page.
pub fn page(report: &Report<'_>, zone: &TimeZone, language: Language) -> Page {
    let mut page = Page::default();
    let total = report.list.listed.len() as u64;
    if total + report.summary.prunes == 0 {
        page.blocks.push(Block::Title(language.say("compactions.none")));
        return page;
    }
    let of = |trigger| grouped(report.list.with_trigger(trigger).count() as u64);
    page.blocks.push(Block::Title(language.render(&message!(
        "compactions.title",
        total = grouped(total),
        pressure = of(Trigger::Pressure),
        overflow = of(Trigger::Overflow),
        manual = of(Trigger::Manual),
        prunes = grouped(report.summary.prunes),
    ))));
    page.text(answer(report.summary, report.study, language));
    let left_out = report.list.with_trigger(Trigger::Overflow).count() as u64;
    if left_out > 0 {
        let sentence = message!("compactions.left-out", n = grouped(left_out), total = grouped(total));
        page.text(Cell::toned(language.render(&sentence), Tone::Faint));
    }
    page.blocks.push(Block::Chart(chart(report.study, language)));
    page.blocks.push(Block::Table(windows_table(&report.summary.windows, &report.study.windows, true, language)));
    page.blocks.push(Block::Table(any_failure(report.study, language)));
    page.blocks.push(Block::Fold(language.say("compactions.details")));
    page.blocks.push(Block::Table(by_trigger(report, language)));
    page.blocks.push(Block::Table(runs(report.list, language)));
    page.blocks.push(Block::Table(list(report.list, zone, language)));
    page
}

/// The answer in words; `scan` shows it too.
pub fn answer(summary: &Summary, study: &CompactionStudy, language: Language) -> Cell {
    let counted = study.answer.window.and_then(|index| summary.windows.get(index));
    let text = study.answer.text(&study.windows, counted.map_or((0, 0), |w| (w.inside, w.total)));
    let tone = if study.answer.verdict == Verdict::Raises { Tone::Warn } else { Tone::Strong };
    Cell::toned(paragraph(language, &text), tone)
}

fn any_failure(study: &CompactionStudy, language: Language) -> Table {
    let say = |key: &'static str| language.say(key);
    // Where no retry healed anything this would repeat the table above.
    let same = study
        .any_failure
        .iter()
        .zip(&study.windows)
        .all(|(any, lost)| any.inside == lost.inside && any.outside == lost.outside);
    Table {
        title: say("compactions.any-failure"),
        columns: vec![
            Column::text(say("compactions.window"), 0).means(Term::AfterCompaction),
            Column::number(say("compactions.begin-inside"), 1).means(Term::Step),
            Column::number(say("compactions.rate-inside"), 0).means(Term::Share),
            Column::number(say("compactions.rate-elsewhere"), 0).means(Term::Share),
            Column::number(say("compactions.times"), 0).means(Term::Ratio),
            Column::number(say("compactions.interval"), 0).means(Term::Ratio),
            Column::number(say("compactions.p"), 1).means(Term::PValue),
        ],
        rows: if same {
            Vec::new()
        } else {
            let row = |s: &crate::correlate::WindowStudy| {
                std::iter::once(Cell::from(s.window.to_string())).chain(study_cells(s)).collect()
            };
            study.any_failure.iter().map(row).collect()
        },
        note: None,
    }
}

fn chart(study: &CompactionStudy, language: Language) -> Chart {
    let lags: Vec<_> = study.lags.iter().filter(|lag| lag.clock == Clock::Attempts).collect();
    let sum = |after: bool| {
        lags.iter().filter(|lag| (lag.lag > 0) == after).fold(Rate::default(), |sum, lag| Rate {
            failures: sum.failures + lag.rate.failures,
            steps: sum.steps + lag.rate.steps,
        })
    };
    let (before, after) = (sum(false), sum(true));
    let points = lags.iter().filter_map(|lag| {
        let interval = lag.rate.interval().map(|i| (i.lower, i.upper));
        Some(Point { x: lag.lag as f64, y: lag.rate.value()?, interval })
    });
    let overall = study.windows.first().and_then(|window| {
        let (inside, outside) = (window.inside, window.outside);
        Rate { failures: inside.failures + outside.failures, steps: inside.steps + outside.steps }.value()
    });
    Chart {
        title: language.say("compactions.chart"),
        alternative: language.render(&message!(
            "compactions.chart-alternative",
            n = LAGS,
            before_failures = grouped(before.failures),
            before_steps = grouped(before.steps),
            before_rate = percent(before.failures, before.steps),
            after_failures = grouped(after.failures),
            after_steps = grouped(after.steps),
            after_rate = percent(after.failures, after.steps),
        )),
        x: Axis::new(language.say("compactions.chart-x"), Scale::Linear).means(Term::AfterCompaction),
        y: Axis::new(language.say("compactions.chart-y"), Scale::Linear).means(Term::Share),
        series: vec![Series {
            name: language.say("compactions.chart-series"),
            mark: Mark::Dot,
            tone: Tone::Bad,
            points: points.collect(),
            tag: None,
        }],
        levels: overall.map(|rate| (language.say("compactions.chart-overall"), rate)).into_iter().collect(),
    }
}

/// A length of time, or a dash.
fn time(ms: Option<i64>, language: Language) -> String {
    ms.map_or_else(|| "–".to_owned(), |ms| language.render(&span(ms)))
}

fn trigger_key(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Pressure => "compactions.trigger-pressure",
        Trigger::Overflow => "compactions.trigger-overflow",
        Trigger::Manual => "compactions.trigger-manual",
    }
}

fn outcome_key(outcome: CompactionOutcome) -> &'static str {
    match outcome {
        CompactionOutcome::Done => "compactions.outcome-done",
        CompactionOutcome::Failed => "compactions.outcome-failed",
        CompactionOutcome::Open => "compactions.outcome-open",
    }
}

fn by_trigger(report: &Report<'_>, language: Language) -> Table {
    let say = |key: &'static str| language.say(key);
    let ratio_of = |name: &str| {
        let study = report.study.by_trigger.iter().find(|(known, _)| *known == name);
        study.map_or_else(|| ["–".to_owned(), "–".to_owned()], |(_, study)| ratio_cells(study))
    };
    let mut rows = Vec::new();
    for trigger in [Trigger::Pressure, Trigger::Overflow, Trigger::Manual] {
        let summary = report.list.trigger_summary(trigger);
        if summary.started > 0 {
            let mut row: Vec<Cell> = vec![say(trigger_key(trigger)).into(), grouped(summary.started).into()];
            row.extend(summary.outcomes.map(|count| Cell::from(grouped(count))));
            row.push(time(summary.median_duration_ms, language).into());
            row.push(optional(summary.median_tokens_before).into());
            row.push(optional(summary.median_tokens_after).into());
            row.extend(ratio_of(trigger.name()).map(Cell::from));
            rows.push(row);
        }
    }
    if report.summary.prunes > 0 {
        let mut row: Vec<Cell> = vec![say("compactions.trigger-prune").into(), grouped(report.summary.prunes).into()];
        row.extend(vec![Cell::from("–"); 6]);
        row.extend(ratio_of("prune").map(Cell::from));
        rows.push(row);
    }
    Table {
        title: say("compactions.by-trigger"),
        columns: vec![
            Column::text(say("compactions.trigger"), 0).means(Term::Compaction),
            Column::number(say("compactions.started"), 0).means(Term::Compaction),
            Column::number(say("compactions.done"), 0).means(Term::Compaction),
            Column::number(say("compactions.failed"), 0).means(Term::Compaction),
            Column::number(say("compactions.open"), 0).means(Term::Compaction),
            Column::number(say("compactions.median-duration"), 2).means(Term::Compaction),
            Column::number(say("compactions.tokens-before"), 1).means(Term::PromptTokens),
            Column::number(say("compactions.tokens-after"), 1).means(Term::PromptTokens),
            Column::number(say("compactions.times"), 1).means(Term::Ratio),
            Column::number(say("compactions.interval"), 1).means(Term::Ratio),
        ],
        rows,
        note: Some(say("compactions.by-trigger-note")),
    }
}

fn runs(list: &CompactionList<'_>, language: Language) -> Table {
    let say = |key: &'static str| language.say(key);
    let kind = |kind: RunKind| match kind {
        RunKind::SameError => say("compactions.run-same_error"),
        RunKind::NotShrinking => say("compactions.run-not_shrinking"),
        RunKind::Storm => say("compactions.run-storm"),
    };
    Table {
        title: say("compactions.runs"),
        columns: vec![
            Column::text(say("compactions.session"), 0).means(Term::Session),
            Column::text(say("compactions.kind"), 0),
            Column::number(say("compactions.count"), 0).means(Term::Compaction),
            Column::number(say("compactions.seqs"), 1).means(Term::Seq),
            Column::text(say("compactions.code"), 2).means(Term::Code),
        ],
        rows: list
            .runs
            .iter()
            .take(SHOWN)
            .map(|run| {
                vec![
                    shorten(&redact(&run.session_id), 20).into(),
                    Cell::toned(kind(run.kind), Tone::Warn),
                    grouped(run.count).into(),
                    format!("{} – {}", run.seqs.0, run.seqs.1).into(),
                    run.code.as_deref().map_or_else(|| "–".to_owned(), |code| redact(code).into_owned()).into(),
                ]
            })
            .collect(),
        note: None,
    }
}

fn list(list: &CompactionList<'_>, zone: &TimeZone, language: Language) -> Table {
    let say = |key: &'static str| language.say(key);
    let more = list.listed.len().saturating_sub(SHOWN);
    Table {
        title: say("compactions.list"),
        columns: vec![
            Column::text(say("compactions.session"), 0).means(Term::Session),
            Column::number(say("compactions.seqs"), 0).means(Term::Seq),
            Column::text(say("compactions.time"), 4),
            Column::text(say("compactions.trigger"), 0).means(Term::Compaction),
            Column::text(say("compactions.outcome"), 0),
            Column::text(say("compactions.code"), 2).means(Term::Code),
            Column::number(say("compactions.duration"), 3).means(Term::Compaction),
            Column::number(say("compactions.tokens-before"), 1).means(Term::PromptTokens),
            Column::number(say("compactions.tokens-after"), 1).means(Term::PromptTokens),
            Column::number(say("compactions.caused-by"), 3).means(Term::Seq),
            Column::text(say("compactions.next-failure"), 1).means(Term::AfterCompaction),
        ],
        rows: list.listed.iter().take(SHOWN).map(|listed| row(listed, zone, language)).collect(),
        note: (more > 0).then(|| language.render(&message!("compactions.list-note", n = grouped(more as u64)))),
    }
}

fn row(listed: &Listed<'_>, zone: &TimeZone, language: Language) -> Vec<Cell> {
    let row = listed.row;
    let dash = || "–".to_owned();
    let tone = match row.outcome {
        CompactionOutcome::Done => Tone::Good,
        CompactionOutcome::Failed => Tone::Bad,
        CompactionOutcome::Open => Tone::Warn,
    };
    let next = listed.next_failure.map_or_else(
        || language.say("compactions.never"),
        |next| {
            let span = time(next.ms, language);
            language.render(&message!("compactions.after-attempts", attempts = next.attempts, span = span))
        },
    );
    let duration = row.end_time.zip(row.start_time).map(|(end, start)| end.saturating_sub(start));
    vec![
        shorten(&redact(&listed.session.id), 20).into(),
        row.start_seq.to_string().into(),
        moment(row.start_time, zone).into(),
        language.say(trigger_key(row.trigger)).into(),
        Cell::toned(language.say(outcome_key(row.outcome)), tone),
        row.error.as_ref().map_or_else(dash, |error| redact(&error.code).into_owned()).into(),
        time(duration, language).into(),
        optional(row.tokens_before).into(),
        optional(row.tokens_after).into(),
        row.caused_by_failure_seq.map_or_else(dash, |seq| seq.to_string()).into(),
        next.into(),
    ]
}
