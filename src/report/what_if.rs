//! The page of `policy what-if`.

use super::definitions::Term;
use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::lang::Language;
use super::numbers::grouped;
use crate::message;
use crate::policy::schedule::duration;
use crate::replay::ReplayReport;
use crate::simulate::bounds::Bounded;
use crate::simulate::recommendation::{Recommendation, assumptions, turns};
use crate::simulate::what_if::{PolicyResult, WhatIf};

/// Everything about the answer.
pub fn page(answer: &WhatIf, advice: Option<&Recommendation>, replay: &ReplayReport, language: Language) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(language.say("what_if.title")));
    if answer.chains == 0 {
        page.text(language.say("what_if.nothing"));
        return page;
    }
    // The answer first: a reader of a thread sees the table only when it is doubted.
    if let Some(advice) = advice {
        page.text(Cell::toned(language.render(&advice.advice), Tone::Strong));
    }
    page.text(language.render(&message!(
        "what_if.summary",
        chains = answer.chains,
        routes = answer.routes.len(),
        policies = answer.policies.len(),
        episodes = answer.episodes,
        failed = answer.turns_failed
    )));
    // Names are long; a number in the tables leaves room for what matters at 80 columns.
    let names = answer.policies.iter().enumerate();
    page.blocks.push(Block::List(
        names.map(|(index, policy)| Cell::from(format!("{}: {}", index + 1, policy.name))).collect(),
    ));
    page.blocks.extend(super::charts::policies(answer, language).map(Block::Picture));
    page.blocks.push(Block::Table(policies(answer, language)));
    if let Some(advice) = advice {
        push_advice(&mut page, advice, language);
    }
    page.blocks.push(Block::Fold(language.say("what_if.basis")));
    page.blocks.push(Block::Table(evidence(answer, language)));
    page.blocks.push(Block::Heading(language.say("what_if.basis")));
    let mut basis: Vec<Cell> = assumptions(answer).iter().map(|message| Cell::from(language.render(message))).collect();
    basis.push(Cell::from(language.render(&message!(
        "what_if.replay",
        reproduced = replay.reproduced,
        decisions = replay.decisions
    ))));
    if let Some(test) = answer.backtest {
        basis.push(Cell::from(language.render(&message!(
            "what_if.backtest",
            retries = test.retries,
            coverage = format!("{:.0}", 100.0 * test.coverage),
            brier = format!("{:.3}", test.brier)
        ))));
    }
    page.blocks.push(Block::List(basis));
    page
}

fn push_advice(page: &mut Page, advice: &Recommendation, language: Language) {
    if let Some(yaml) = &advice.settings_yaml {
        page.blocks.push(Block::Heading(language.say("what_if.settings")));
        page.blocks.push(Block::Verbatim(yaml.trim_end().to_owned()));
    }
    page.blocks.push(Block::Heading(language.say("what_if.changes")));
    let mut changes: Vec<Cell> =
        advice.reservations.iter().map(|message| Cell::from(language.render(message))).collect();
    if changes.is_empty() {
        changes.push(Cell::from(language.say("what_if.changes-nothing")));
    }
    page.blocks.push(Block::List(changes));
}

fn policies(answer: &WhatIf, language: Language) -> Table {
    let number = |key, rank, term| Column::number(language.say(key), rank).means(term);
    let mut columns = vec![
        Column::text("#", 0).means(Term::Policy),
        number("what_if.col-net", 0, Term::NetTurns),
        number("what_if.col-bounds", 0, Term::NetTurns),
        number("what_if.col-wait", 2, Term::AddedWait),
        number("what_if.col-attempts", 3, Term::ExtraAttempts),
        number("what_if.col-wasted", 5, Term::ExtraAttempts),
        number("what_if.col-violations", 4, Term::TooEarly),
        number("what_if.col-endless", 1, Term::Endless),
        Column::text(language.say("what_if.col-best"), 1).means(Term::Undominated),
        number("what_if.col-saved", 6, Term::NetTurns),
        number("what_if.col-lost", 6, Term::NetTurns),
        number("what_if.col-amplification", 8, Term::Load),
        number("what_if.col-tokens", 7, Term::ExtraAttempts),
        number("what_if.col-intervals", 9, Term::NoModel),
    ];
    let contested = answer.policies.iter().any(|policy| policy.net_if_contested_stays.is_some());
    if contested {
        columns.push(number("what_if.col-contested", 2, Term::NoModel));
    }
    let rows = answer
        .policies
        .iter()
        .enumerate()
        .map(|(index, policy)| {
            let mut row = row(index + 1, policy, answer.best == Some(index), language);
            if contested {
                row.push(Cell::from(policy.net_if_contested_stays.map_or_else(dash, |net| bounds(&net))));
            }
            row
        })
        .collect();
    Table { title: language.say("what_if.table"), columns, rows, note: Some(language.say("what_if.note")) }
}

fn dash() -> String {
    "-".to_owned()
}

fn bounds(value: &Bounded) -> String {
    format!("{} – {}", turns(value.pessimistic), turns(value.optimistic))
}

fn row(number: usize, policy: &PolicyResult, best: bool, language: Language) -> Vec<Cell> {
    let expected = |value: &Bounded| value.expected.map_or_else(dash, turns);
    let wait = |ms: Option<f64>| ms.map_or_else(dash, |ms| language.render(&duration(ms)));
    let tone = if best { Tone::Good } else { Tone::Plain };
    vec![
        Cell::toned(number.to_string(), tone),
        Cell::toned(expected(&policy.net), tone),
        Cell::from(bounds(&policy.net)),
        Cell::from(format!("{} / {}", wait(policy.wait_median_ms), wait(policy.wait_p95_ms))),
        Cell::from(turns(policy.extra_attempts)),
        Cell::from(turns(policy.wasted_attempts)),
        Cell::from(turns(policy.violations)),
        Cell::toned(turns(policy.endless), if policy.endless >= 0.5 { Tone::Bad } else { Tone::Plain }),
        Cell::from(if policy.pareto { "*" } else { "" }),
        Cell::from(expected(&policy.saved)),
        Cell::from(expected(&policy.lost)),
        Cell::from(policy.amplification.map_or_else(dash, |load| format!("{load:.1}x"))),
        Cell::from(policy.tokens_resent.map_or_else(dash, |tokens| grouped(tokens.round() as u64))),
        Cell::from(policy.net_by_intervals.map_or_else(dash, |net| bounds(&net))),
    ]
}

fn evidence(answer: &WhatIf, language: Language) -> Table {
    let share = |key| Column::number(language.say(key), 0).means(Term::Basis);
    let rows = answer.policies.iter().enumerate().filter_map(|(index, policy)| {
        let shares = policy.shares?;
        let percent = |part: f64| Cell::from(format!("{:.0} %", 100.0 * part));
        let cells = [shares.observed, shares.implied, shares.gap, shares.beyond].map(percent);
        Some(std::iter::once(Cell::from((index + 1).to_string())).chain(cells).collect())
    });
    Table {
        title: language.say("what_if.evidence"),
        columns: vec![
            Column::text("#", 0).means(Term::Policy),
            share("what_if.col-observed"),
            share("what_if.col-implied"),
            share("what_if.col-gap"),
            share("what_if.col-beyond"),
        ],
        rows: rows.collect(),
        note: Some(language.say("what_if.evidence-note")),
    }
}
