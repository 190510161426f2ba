//! Are the intervals of the token estimates honest? Every success has a report; hide it, estimate, compare.
//!
//! Widths are not tuned to the files they are checked on: each session is judged by widths that all the other sessions
//! set, and the constants in `tokens::estimate` must be what that procedure yields over all of them.
#![allow(clippy::unwrap_used)] // A test that cannot set itself up has failed.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use dsh_forensics::discover::discover;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::session::{AttemptRow, TokenMethod};
use dsh_forensics::tokens::estimate::{Raw, anchored, counted};
use dsh_forensics::tokens::fit::UNFITTED;
use dsh_forensics::tokens::{Fits, session_fit};
use support::recorded;

const NOMINAL: f64 = 0.9;
/// Least coverage of an honest interval of nominal 90 %.
const HONEST: f64 = 0.88;
/// Cells with fewer residuals say little about their width.
const ENOUGH: usize = 200;

type Cell = (TokenMethod, &'static str);

/// One estimate beside the report that it was made without.
struct Residual {
    session: usize,
    folder: String,
    truth: f64,
    raw: Raw,
}

impl Residual {
    fn error(&self) -> f64 {
        (self.raw.value - self.truth).abs()
    }

    /// The factor by which its width must be multiplied to reach the truth.
    fn needed(&self) -> f64 {
        self.error() / self.raw.half
    }

    /// Whether the interval holds the truth, as it is printed, with its width multiplied.
    fn holds(&self, factor: f64) -> bool {
        let estimate = Raw { half: self.raw.half * factor, ..self.raw }.rounded();
        (estimate.low as f64..=estimate.high as f64).contains(&self.truth)
    }
}

/// Every success estimated as if its report were not there: with all anchors, with the earlier one alone, and by counting.
fn residuals(corpus: std::path::PathBuf) -> BTreeMap<Cell, Vec<Residual>> {
    let options = ReadOptions { evidence_for_all: true, ..ReadOptions::default() };
    let dataset = read_all(discover(&[corpus], options.limits), options, &|_| {});
    let fits = Fits::new(&dataset.sessions);
    let mut cells: BTreeMap<Cell, Vec<Residual>> = BTreeMap::new();
    for (number, session) in dataset.sessions.iter().enumerate() {
        let folder = session.path.split("/sessions/").next().unwrap().rsplit('/').next().unwrap();
        let prompt = |index: usize| session.attempts.get(index).and_then(AttemptRow::trusted_prompt);
        for (index, evidence) in &session.token_evidence {
            let Some(truth) = prompt(*index) else { continue };
            let (model, fitted) = fits.model(&session.attempts[*index].route.model, Some(number));
            let own = session_fit(session, model, Some(*index));
            let one_sided = dsh_forensics::tokens::Evidence { after: None, ..*evidence };
            let estimates = [
                anchored(evidence, prompt, own),
                anchored(&one_sided, prompt, own),
                counted(evidence, model, fitted),
                counted(evidence, UNFITTED, false),
            ];
            for raw in estimates.into_iter().flatten() {
                let residual = Residual { session: number, folder: folder.to_owned(), truth: truth as f64, raw };
                cells.entry((raw.method, raw.situation)).or_default().push(residual);
            }
        }
    }
    cells
}

/// The factor for the widths of a cell that some residuals ask for: their 90 % quantile, with the correction of split
/// conformal prediction for few of them (Lei et al. 2018, Distribution-free predictive inference for regression).
fn factor<'a>(residuals: impl Iterator<Item = &'a Residual>) -> f64 {
    let mut needed: Vec<f64> = residuals.map(Residual::needed).collect();
    needed.sort_by(f64::total_cmp);
    let rank = (NOMINAL * (needed.len() + 1) as f64).ceil() as usize;
    needed[rank.clamp(1, needed.len()) - 1]
}

fn share(residuals: &[Residual], holds: impl Fn(&Residual) -> bool) -> f64 {
    residuals.iter().filter(|r| holds(r)).count() as f64 / residuals.len() as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Coverage where every group of residuals is judged by the widths that the other groups ask for.
fn coverage_left_out<G: Ord + Clone>(residuals: &[Residual], group: impl Fn(&Residual) -> G) -> f64 {
    let groups: BTreeSet<G> = residuals.iter().map(&group).collect();
    if groups.len() < 2 {
        return f64::NAN;
    }
    let factors: BTreeMap<G, f64> =
        groups.into_iter().map(|left| (left.clone(), factor(residuals.iter().filter(|r| group(r) != left)))).collect();
    share(residuals, |r| r.holds(factors[&group(r)]))
}

/// The width of a count without any report is an assumption about tokenizers that no recording has, not a fit.
fn is_assumed(cell: Cell) -> bool {
    cell.1 == "no report"
}

#[test]
fn nine_in_ten_hidden_reports_lie_inside_intervals_that_other_sessions_set() {
    let Some(corpus) = recorded("corpus") else { return };
    let cells = residuals(corpus);
    println!(
        "{:<9} {:<22} {:>5} {:>9} {:>12} {:>11} {:>8} {:>11} {:>12} {:>7}",
        "method",
        "situation",
        "n",
        "coverage",
        "session out",
        "folder out",
        "halved",
        "median err",
        "median half",
        "factor"
    );
    let mut faults = Vec::new();
    for (cell, residuals) in &cells {
        let (method, situation) = *cell;
        let coverage = share(residuals, |r| r.holds(1.0));
        let session_out = coverage_left_out(residuals, |r| r.session);
        let folder_out = coverage_left_out(residuals, |r| r.folder.clone());
        let halved = share(residuals, |r| r.holds(0.5));
        let error = median(residuals.iter().map(|r| r.error() / r.truth));
        let half = median(residuals.iter().map(|r| r.raw.half / r.truth));
        let factor = factor(residuals.iter());
        println!(
            "{:<9} {situation:<22} {:>5} {:>8.1}% {:>11.1}% {:>10.1}% {:>7.1}% {:>10.2}% {:>11.2}% {factor:>7.2}",
            method.name(),
            residuals.len(),
            coverage * 100.0,
            session_out * 100.0,
            folder_out * 100.0,
            halved * 100.0,
            error * 100.0,
            half * 100.0,
        );
        let mut expect = |holds: bool, what: String| {
            if !holds {
                faults.push(format!("{} {situation}: {what}", method.name()));
            }
        };
        expect(coverage >= HONEST, format!("coverage {coverage:.3}"));
        expect(method != TokenMethod::Anchored || error < 0.02, format!("median error {error:.4}"));
        expect(factor <= 1.0, format!("the recordings ask for widths of {factor:.2} times the constants"));
        if residuals.len() >= ENOUGH && !is_assumed(*cell) {
            expect(session_out >= HONEST, format!("coverage of the session left out {session_out:.3}"));
            expect(folder_out >= HONEST, format!("coverage of the recording left out {folder_out:.3}"));
            expect(factor >= 0.9, format!("wider than need be: the recordings ask for {factor:.2} of the constants"));
            expect(halved < HONEST, format!("half the width would do: coverage {halved:.3}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
