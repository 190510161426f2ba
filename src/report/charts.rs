//! In: the counts of [`crate::charts`].
//! Out: charts in words, each with the sentence that it shows.
//! Always: nothing is counted here; a chart without data is left out.

use super::definitions::Term;
use super::document::{Axis, Chart, Mark, Point, Scale, Series, Tone};
use super::lang::Language;
use super::numbers::{grouped, span};
use crate::charts::{Charts, DELAY_ENDS, DelayBand, FILL_ENDS};
use crate::message;
use crate::redact::redact;
use crate::simulate::what_if::WhatIf;

/// Failed attempts over time, by code.
pub fn over_time(charts: &Charts, language: Language) -> Option<Chart> {
    let data = &charts.over_time;
    let total: u64 = data.series.iter().flat_map(|(_, counts)| counts).sum();
    let bins = data.series.first().map_or(0, |(_, counts)| counts.len());
    let of_bin = |bin: usize| data.series.iter().map(|(_, counts)| counts[bin]).sum::<u64>();
    let most = (0..bins).map(of_bin).max().filter(|most| *most > 0)?;
    let series = data.series.iter().map(|(code, counts)| Series {
        name: code.as_deref().map_or_else(|| language.say("charts.other-codes"), |c| redact(c).into_owned()),
        mark: Mark::Bar,
        tone: Tone::Plain,
        points: (0..bins).map(|bin| point(data.start as f64 + data.bin_ms as f64 * bin as f64, counts[bin])).collect(),
        tag: None,
    });
    Some(Chart {
        title: language.say("charts.over-time"),
        alternative: language.render(&message!(
            "charts.over-time-says",
            n = grouped(total),
            most = grouped(most),
            bin = span(data.bin_ms)
        )),
        x: Axis::new(language.render(&message!("charts.time", bin = span(data.bin_ms))), Scale::Time),
        y: Axis::new(language.say("charts.failed-attempts"), Scale::Linear).means(Term::Attempt),
        series: series.collect(),
        levels: Vec::new(),
    })
}

fn point(x: f64, count: u64) -> Point {
    Point { x, y: count as f64, interval: None }
}

fn bars(name: String, tone: Tone, counts: impl Iterator<Item = u64>) -> Series {
    let points = counts.enumerate().map(|(i, n)| point(i as f64, n)).collect();
    Series { name, mark: Mark::Bar, tone, points, tag: None }
}

fn fill_names() -> Vec<String> {
    let mut low = 0.0;
    let names = FILL_ENDS.iter().map(|end| {
        let name = if end.is_finite() { format!("{low:.0}–{:.0} %", end * 100.0) } else { format!("> {low:.0} %") };
        low = end * 100.0;
        name
    });
    names.collect()
}

/// How full the window was, of failed and of successful attempts.
pub fn fill(charts: &Charts, language: Language) -> Option<Chart> {
    let failed: u64 = charts.fill.iter().map(|b| b.failed).sum();
    let succeeded: u64 = charts.fill.iter().map(|b| b.succeeded).sum();
    let half_empty: u64 = charts.fill[..5].iter().map(|b| b.failed).sum();
    (failed > 0).then(|| Chart {
        title: language.say("charts.fill"),
        alternative: {
            let said = message!(
                "charts.fill-says",
                half = grouped(half_empty),
                failed = grouped(failed),
                succeeded = grouped(succeeded)
            );
            let unknown = message!("charts.fill-unknown", n = grouped(charts.unsized_attempts));
            let unknown = if charts.unsized_attempts > 0 { language.render(&unknown) } else { String::new() };
            language.render(&said) + &unknown
        },
        x: Axis::new(language.say("charts.fill-axis"), Scale::Categories(fill_names())).means(Term::Fill),
        y: Axis::new(language.say("charts.attempts"), Scale::Linear).means(Term::Attempt),
        series: vec![
            bars(language.say("charts.failed"), Tone::Bad, charts.fill.iter().map(|b| b.failed)),
            bars(language.say("charts.succeeded"), Tone::Good, charts.fill.iter().map(|b| b.succeeded)),
        ],
        levels: Vec::new(),
    })
}

/// Share of the attempts that failed, by how full the window was.
pub fn fill_rate(charts: &Charts, language: Language) -> Option<Chart> {
    let points: Vec<Point> = charts
        .fill
        .iter()
        .enumerate()
        .filter_map(|(i, band)| {
            let (rate, low, high) = band.rate?;
            Some(Point { x: i as f64, y: rate * 100.0, interval: Some((low * 100.0, high * 100.0)) })
        })
        .collect();
    let failed: u64 = charts.fill.iter().map(|b| b.failed).sum();
    (failed > 0 && points.len() > 1).then(|| Chart {
        title: language.say("charts.fill-rate"),
        alternative: language.say("charts.fill-rate-says"),
        x: Axis::new(language.say("charts.fill-axis"), Scale::Categories(fill_names())).means(Term::Fill),
        y: Axis::new(language.say("charts.failure-rate"), Scale::Linear).means(Term::Share),
        series: vec![Series {
            name: language.say("charts.failure-rate"),
            mark: Mark::Dot,
            tone: Tone::Bad,
            points,
            tag: None,
        }],
        levels: Vec::new(),
    })
}

/// Delay of the retries and what came of them.
pub fn retries(charts: &Charts, language: Language) -> Option<Chart> {
    let succeeded: u64 = charts.delay.iter().map(|b| b.succeeded).sum();
    let failed: u64 = charts.delay.iter().map(|b| b.failed).sum();
    let other: u64 = charts.delay.iter().map(|b| b.other).sum();
    let total = succeeded + failed + other;
    // Waits that no policy of the archive makes would only press the others together.
    let filled = |band: &DelayBand| band.succeeded + band.failed + band.other > 0;
    let shown = &charts.delay[..charts.delay.iter().rposition(filled).map_or(0, |last| last + 1)];
    let mut low = 0.0;
    let names = DELAY_ENDS.iter().take(shown.len()).map(|end| {
        let name = if end.is_finite() { format!("{low}–{end} s") } else { format!("> {low} s") };
        low = *end;
        name
    });
    let names: Vec<String> = names.collect();
    (total > 0).then(|| Chart {
        title: language.say("charts.retries"),
        alternative: language.render(&message!(
            "charts.retries-says",
            n = grouped(total),
            succeeded = grouped(succeeded),
            failed = grouped(failed),
            other = grouped(other)
        )),
        x: Axis::new(language.say("charts.delay"), Scale::Categories(names)).means(Term::AddedWait),
        y: Axis::new(language.say("charts.retries-axis"), Scale::Linear).means(Term::Retry),
        series: vec![
            bars(language.say("charts.failed"), Tone::Bad, shown.iter().map(|b| b.failed)),
            bars(language.say("charts.succeeded"), Tone::Good, shown.iter().map(|b| b.succeeded)),
            bars(language.say("charts.no-attempt"), Tone::Faint, shown.iter().map(|b| b.other)),
        ],
        levels: Vec::new(),
    })
}

/// Policies: turns saved against the wait they add, with bounds.
pub fn policies(answer: &WhatIf, language: Language) -> Option<Chart> {
    let series = answer.policies.iter().enumerate().map(|(index, policy)| {
        let number = (index + 1).to_string();
        let y = policy.net_for_ranking();
        let point = Point {
            x: policy.wait_total_ms / 1e3 / answer.chains as f64,
            y,
            interval: Some((policy.net.pessimistic, policy.net.optimistic)),
        };
        let tone = if answer.best == Some(index) { Tone::Good } else { Tone::Plain };
        Series {
            name: format!("{number}: {}", policy.name),
            mark: Mark::Dot,
            tone,
            points: vec![point],
            tag: Some(number),
        }
    });
    (answer.chains > 0 && answer.policies.len() > 1).then(|| Chart {
        title: language.say("charts.policies"),
        alternative: language.say("charts.policies-says"),
        x: Axis::new(language.say("charts.policies-wait"), Scale::Linear).means(Term::AddedWait),
        y: Axis::new(language.say("charts.policies-net"), Scale::Linear).means(Term::NetTurns),
        series: series.collect(),
        levels: Vec::new(),
    })
}
