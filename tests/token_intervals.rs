//! Are the intervals of the token estimates honest? Every success has a report; hide it, estimate, compare.

mod support;

use std::collections::BTreeMap;

use dsh_forensics::discover::discover;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::session::{AttemptRow, TokenMethod};
use dsh_forensics::tokens::estimate::{Raw, anchored, counted};
use dsh_forensics::tokens::{Evidence, Fits, session_fit};
use support::recorded;

/// Residuals of one situation.
#[derive(Default)]
struct Cell {
    relative_errors: Vec<f64>,
    relative_half_widths: Vec<f64>,
    inside: usize,
    /// Error over half width: its 90 % quantile should be near 1.
    scaled: Vec<f64>,
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

#[test]
fn nine_in_ten_hidden_reports_lie_inside_their_interval() {
    let Some(corpus) = recorded("corpus") else { return };
    let options = ReadOptions { evidence_for_all: true, ..ReadOptions::default() };
    let dataset = read_all(discover(&[corpus], options.limits), options, &|_| {});
    let fits = Fits::new(&dataset.sessions);
    let mut cells: BTreeMap<(TokenMethod, &'static str), Cell> = BTreeMap::new();
    for (number, session) in dataset.sessions.iter().enumerate() {
        let prompt = |index: usize| session.attempts.get(index).and_then(AttemptRow::trusted_prompt);
        for (index, evidence) in &session.token_evidence {
            let Some(truth) = prompt(*index) else { continue };
            let (model, fitted) = fits.model(&session.attempts[*index].route.model, Some(number));
            let own = session_fit(session, model, Some(*index));
            let one_sided = Evidence { after: None, ..*evidence };
            let estimates = [
                anchored(evidence, prompt, own),
                anchored(&one_sided, prompt, own),
                counted(evidence, model, fitted),
                counted(evidence, dsh_forensics::tokens::fit::UNFITTED, false),
            ];
            for raw in estimates.into_iter().flatten() {
                note(cells.entry((raw.method, raw.situation)).or_default(), raw, truth as f64);
            }
        }
    }
    println!(
        "{:<10} {:<24} {:>6} {:>9} {:>10} {:>8} {:>11} {:>7}",
        "method", "situation", "n", "coverage", "median err", "p95 err", "median half", "scale"
    );
    let mut dishonest = Vec::new();
    for ((method, situation), cell) in &mut cells {
        let n = cell.relative_errors.len();
        let coverage = cell.inside as f64 / n as f64;
        let median = quantile(&mut cell.relative_errors, 0.5);
        println!(
            "{:<10} {situation:<24} {n:>6} {:>8.1}% {:>9.2}% {:>7.2}% {:>10.2}% {:>7.2}",
            method.name(),
            coverage * 100.0,
            median * 100.0,
            quantile(&mut cell.relative_errors, 0.95) * 100.0,
            quantile(&mut cell.relative_half_widths, 0.5) * 100.0,
            quantile(&mut cell.scaled, 0.9),
        );
        if n >= 20 && (coverage < 0.88 || (*method == TokenMethod::Anchored && median >= 0.02)) {
            dishonest.push(format!("{} {situation}: coverage {coverage:.3}, median error {median:.4}", method.name()));
        }
    }
    assert!(dishonest.is_empty(), "{dishonest:?}");
}

fn note(cell: &mut Cell, raw: Raw, truth: f64) {
    let error = (raw.value - truth).abs();
    let estimate = raw.rounded();
    cell.inside += usize::from((estimate.low as f64..=estimate.high as f64).contains(&truth));
    cell.relative_errors.push(error / truth);
    cell.relative_half_widths.push(raw.half / truth);
    cell.scaled.push(error / raw.half);
}
