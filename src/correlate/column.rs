//! The columns that may explain failures, and the value of each for a step's first request.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::concurrency::Concurrency;
use crate::session::{AttemptRow, SessionRows};

/// One property of a step's first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// Provider.
    Provider,
    /// Model.
    Model,
    /// Project directory.
    Project,
    /// Log format, which tells the releases apart as far as the log says.
    Format,
    /// Hour of the day, in the zone of the report.
    Hour,
    /// Prompt tokens.
    Size,
    /// Prompt tokens over the context window.
    Fill,
    /// Last tool called before it.
    LastTool,
    /// Reasoning effort.
    ReasoningEffort,
    /// Time since the session began.
    SessionAge,
    /// Requests under way at the same moment, over all sessions.
    Concurrency,
}

/// All of them, in the order of the reports.
pub(super) const ALL: [Column; 11] = [
    Column::Provider,
    Column::Model,
    Column::Project,
    Column::Format,
    Column::Hour,
    Column::Size,
    Column::Fill,
    Column::LastTool,
    Column::ReasoningEffort,
    Column::SessionAge,
    Column::Concurrency,
];

impl Column {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Model => "model",
            Self::Project => "project",
            Self::Format => "format",
            Self::Hour => "hour",
            Self::Size => "size",
            Self::Fill => "fill",
            Self::LastTool => "last_tool",
            Self::ReasoningEffort => "reasoning_effort",
            Self::SessionAge => "session_age",
            Self::Concurrency => "concurrency",
        }
    }

    /// Its heading in either language.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Provider => "compactions.column-provider",
            Self::Model => "compactions.column-model",
            Self::Project => "compactions.column-project",
            Self::Format => "compactions.column-format",
            Self::Hour => "compactions.column-hour",
            Self::Size => "compactions.column-size",
            Self::Fill => "compactions.column-fill",
            Self::LastTool => "compactions.column-last-tool",
            Self::ReasoningEffort => "compactions.column-reasoning-effort",
            Self::SessionAge => "compactions.column-session-age",
            Self::Concurrency => "compactions.column-concurrency",
        }
    }

    /// The value of one step; `None` where the log does not tell.
    pub(super) fn value<'a>(self, place: &Place<'a>) -> Option<Cow<'a, str>> {
        let (session, attempt) = (place.session, place.attempt);
        let named = |name: &'a str| (!name.is_empty()).then_some(Cow::Borrowed(name));
        match self {
            Self::Provider => named(&attempt.route.provider),
            Self::Model => named(&attempt.route.model),
            Self::Project => session.project.as_deref().and_then(named),
            Self::Format => session.format_version.map(|version| Cow::Owned(format!("v{version}"))),
            Self::Hour => Timestamp::from_millisecond(place.time?)
                .ok()
                .map(|time| Cow::Owned(format!("{:02}:00", place.zone.to_datetime(time).hour()))),
            Self::Size => Some(class(tokens(attempt)? as f64, &SIZES)),
            Self::Fill => Some(class(tokens(attempt)? as f64 / attempt.window.filter(|w| *w > 0)? as f64, &FILLS)),
            Self::LastTool => attempt.last_tool.as_deref().and_then(named),
            Self::ReasoningEffort => attempt.reasoning_effort.as_deref().and_then(named),
            Self::SessionAge => {
                let age = place.time?.saturating_sub(session.created_at.or(session.first_time)?);
                Some(class(age as f64 / 60_000.0, &AGES))
            }
            Self::Concurrency => Some(class(place.concurrency.at(place.time?) as f64, &AT_ONCE)),
        }
    }
}

/// Where a step stands.
pub(super) struct Place<'a> {
    pub(super) session: &'a SessionRows,
    pub(super) attempt: &'a AttemptRow,
    pub(super) time: Option<i64>,
    pub(super) zone: &'a TimeZone,
    pub(super) concurrency: &'a Concurrency,
}

/// Names of classes, each with its upper end; values at or above the last are in the last.
type Classes = [(f64, &'static str)];
const SIZES: [(f64, &str); 5] = [
    (16e3, "< 16,000"),
    (64e3, "16,000 – 64,000"),
    (128e3, "64,000 – 128,000"),
    (256e3, "128,000 – 256,000"),
    (f64::INFINITY, "≥ 256,000"),
];
const FILLS: [(f64, &str); 5] =
    [(0.25, "< 25 %"), (0.5, "25 – 50 %"), (0.8, "50 – 80 %"), (0.95, "80 – 95 %"), (f64::INFINITY, "≥ 95 %")];
const AGES: [(f64, &str); 4] =
    [(10.0, "< 10 min"), (60.0, "10 – 60 min"), (360.0, "1 – 6 h"), (f64::INFINITY, "≥ 6 h")];
const AT_ONCE: [(f64, &str); 4] = [(2.0, "1"), (4.0, "2 – 3"), (8.0, "4 – 7"), (f64::INFINITY, "≥ 8")];

fn class(value: f64, classes: &Classes) -> Cow<'static, str> {
    let found = classes.iter().find(|(end, _)| value < *end).or(classes.last());
    Cow::Borrowed(found.map_or("", |(_, name)| *name))
}

/// Best estimate of the prompt. It is made the same way for failures and successes, whose reports differ.
fn tokens(attempt: &AttemptRow) -> Option<u64> {
    let request = attempt.request.as_ref();
    request.and_then(|r| r.tokens.map(|t| t.value)).or(attempt.trusted_prompt()).or(request.map(|r| r.harness_tokens))
}
