//! An idle timeout whose text names a longer silence than the log shows.

use std::sync::LazyLock;

use regex::Regex;

use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft};
use crate::message;
use crate::report::numbers::span;

rule!("idle-timeout-mismatch", Note, Preview);

#[allow(clippy::expect_used)] // A constant pattern; a test uses it.
static IDLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"idle timeout after ([0-9]{1,12}) ?ms").expect("constant pattern"));

/// Measured silence below this share of the stated one is no rounding.
const SHARE: f64 = 0.8;

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| mismatch(case).is_some());
    let (stated, measured) = cases.first().and_then(|case| mismatch(case))?;
    let draft = Draft::of_cases(context, &cases, message!("findings.idle-timeout-mismatch"))?;
    Some(draft.confidence(Confidence::Medium).seen(message!(
        "findings.seen-silence",
        stated = span(stated),
        measured = span(measured)
    )))
}

/// Stated and measured silence, milliseconds, where they disagree. Silence counts before the first chunk as well.
fn mismatch(case: &Case<'_>) -> Option<(i64, i64)> {
    let stated: i64 = IDLE.captures(&case.failure.message)?.get(1)?.as_str().parse().ok()?;
    let attempt = case.attempt;
    let before_first = attempt.first_time?.saturating_sub(attempt.ready_time?);
    let measured = attempt.longest_gap_ms.max(before_first);
    ((measured as f64) < stated as f64 * SHARE).then_some((stated, measured))
}
