//! Sizes at failure against sizes at success: the table and the JSON of `scan`.

use serde::Serialize;

use super::definitions::Term;
use super::document::{Cell, Column, Table, Tone};
use super::lang::Language;
use super::numbers::{grouped, optional};
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::sizes::{RouteSizes, SizeSpread};

/// `sizes_by_route` of `scan --format json`.
#[derive(Debug, Serialize)]
pub struct RouteSizesV1 {
    provider: String,
    model: String,
    failing: SpreadV1,
    succeeding: SpreadV1,
    median_growth_tokens: Option<u64>,
    largest_jump: Option<JumpV1>,
}

#[derive(Debug, Serialize)]
struct SpreadV1 {
    attempts: u64,
    smallest_tokens: Option<u64>,
    median_tokens: Option<u64>,
    largest_tokens: Option<u64>,
    fill_p10: Option<f64>,
    fill_p50: Option<f64>,
    fill_p90: Option<f64>,
}

#[derive(Debug, Serialize)]
struct JumpV1 {
    tokens: u64,
    session_id: String,
    seq: u64,
}

impl From<&SizeSpread> for SpreadV1 {
    fn from(spread: &SizeSpread) -> Self {
        Self {
            attempts: spread.attempts,
            smallest_tokens: spread.smallest,
            median_tokens: spread.median,
            largest_tokens: spread.largest,
            fill_p10: spread.fill.map(|f| f[0]),
            fill_p50: spread.fill.map(|f| f[1]),
            fill_p90: spread.fill.map(|f| f[2]),
        }
    }
}

impl From<&RouteSizes> for RouteSizesV1 {
    fn from(sizes: &RouteSizes) -> Self {
        Self {
            provider: sizes.route.provider.clone(),
            model: sizes.route.model.clone(),
            failing: (&sizes.failing).into(),
            succeeding: (&sizes.succeeding).into(),
            median_growth_tokens: sizes.median_growth,
            largest_jump: sizes.largest_jump.as_ref().map(|jump| JumpV1 {
                tokens: jump.tokens,
                session_id: jump.session_id.clone(),
                seq: jump.seq,
            }),
        }
    }
}

/// The table of `scan`; empty where no request's size is known.
pub fn table(routes: &[RouteSizes], language: Language) -> Table {
    let say = |key| language.say(key);
    let mut rows = Vec::new();
    for sizes in routes {
        for (name, spread, tone) in
            [(say("scan.failed"), &sizes.failing, Tone::Bad), (say("scan.succeeded"), &sizes.succeeding, Tone::Good)]
        {
            if spread.attempts == 0 {
                continue;
            }
            let fill = spread.fill.map_or_else(
                || "–".to_owned(),
                |f| format!("{:.0}/{:.0}/{:.0} %", f[0] * 100.0, f[1] * 100.0, f[2] * 100.0),
            );
            rows.push(vec![
                redact(&format!("{}/{}", sizes.route.provider, sizes.route.model)).into_owned().into(),
                Cell::toned(name, tone),
                grouped(spread.attempts).into(),
                optional(spread.smallest).into(),
                optional(spread.median).into(),
                optional(spread.largest).into(),
                fill.into(),
            ]);
        }
    }
    let growth: Vec<String> = routes.iter().filter_map(growth).map(|g| language.render(&g)).collect();
    Table {
        title: say("scan.sizes"),
        columns: vec![
            Column::text(say("scan.route"), 0).means(Term::Route),
            Column::text(say("scan.attempts-that"), 0).means(Term::Attempt),
            Column::number(say("scan.sized"), 3).means(Term::PromptTokens),
            Column::number(say("scan.smallest"), 0).means(Term::PromptTokens),
            Column::number(say("scan.median"), 2).means(Term::PromptTokens),
            Column::number(say("scan.largest"), 0).means(Term::PromptTokens),
            Column::number(say("scan.fill-quantiles"), 1).means(Term::Fill),
        ],
        rows,
        note: (!growth.is_empty()).then(|| growth.join(if language == Language::Chinese { "" } else { " " })),
    }
}

fn growth(sizes: &RouteSizes) -> Option<Message> {
    let jump = sizes.largest_jump.as_ref()?;
    Some(message!(
        "scan.growth",
        route = redact(&format!("{}/{}", sizes.route.provider, sizes.route.model)),
        median = optional(sizes.median_growth),
        most = grouped(jump.tokens),
        session = redact(&jump.session_id),
        seq = jump.seq
    ))
}
