//! Each rule on an archive where it fires, and on one that looks alike and where it stays silent.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod codes;
mod compactions;
mod docs;
mod logs;
mod meta;
mod retries;
mod selection;
mod sizes;

use super::{Context, Finding, Selection, registry};
use crate::evidence::Verdicts;
use crate::filter::Filters;
use crate::pipeline::Dataset;
use crate::policy::LintHit;
use crate::session::tests::rows_of_lines;
use crate::session::{TokenEstimate, TokenMethod};
use crate::summary::Summary;
use crate::test_logs as builder;
use crate::test_logs::Log;

/// An overflow in the words of a provider, with its numbers.
const TOO_LONG: &str = "prompt is too long: 300000 tokens > 262144 maximum";

/// The rows of an archive, with sizes resolved.
fn archive(logs: &mut [&mut Log]) -> Dataset {
    let mut dataset =
        Dataset { sessions: logs.iter_mut().map(|log| rows_of_lines(&log.lines())).collect(), ..Dataset::default() };
    crate::tokens::resolve(&mut dataset.sessions, &mut dataset.notices);
    crate::context_window::fill(&mut dataset.sessions, &Default::default());
    dataset
}

fn find_all(dataset: &Dataset, selection: &Selection, lint: Option<(String, Vec<LintHit>)>) -> Vec<Finding> {
    let filters = Filters::default();
    let windows = ["8ev".parse().unwrap(), "3att".parse().unwrap()];
    let mut summary = Summary::of(dataset, &filters, &windows);
    let verdicts = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(dataset, &filters, &verdicts);
    summary.add_correlations(dataset, &filters, &jiff::tz::TimeZone::UTC);
    let mut context = Context::new(dataset, &summary, &verdicts, &filters);
    context.lint = lint;
    super::find_all(&context, selection)
}

/// What one rule says about an archive.
fn find(id: &str, dataset: &Dataset) -> Option<Finding> {
    assert!(registry::find(id).is_some(), "{id} is a rule");
    let selection = Selection { only: vec![id.to_owned()], ..Selection::default() };
    find_all(dataset, &selection, None).pop()
}

/// Count and unit of what one rule says about logs.
fn count(id: &str, logs: &mut [&mut Log]) -> Option<(u64, &'static str)> {
    find(id, &archive(logs)).map(|finding| (finding.count, finding.unit.name()))
}

/// Gives an attempt a size that is known exactly, tokens.
fn set_size(dataset: &mut Dataset, attempt: usize, tokens: u64) {
    let size = TokenEstimate { value: tokens, low: tokens, high: tokens, method: TokenMethod::Reported };
    dataset.sessions[0].attempts[attempt].request.as_mut().unwrap().tokens = Some(size);
}
