//! In: a dataset and the filters of the command line.
//! Out: the same dataset with whole sessions dropped and attempts marked as selected or not.
//! Always: an attempt is in or out as a whole; a step or turn is in when one of its attempts is.

mod nothing;

use anyhow::Result;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::message::Message;
use crate::pipeline::Dataset;
use crate::report::lang::Said;

/// Filters of the command line, resolved.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// Epoch milliseconds; attempts that ended earlier are out.
    pub since: Option<i64>,
    /// Epoch milliseconds; attempts that ended later are out.
    pub until: Option<i64>,
    /// Prefixes of session ids.
    pub sessions: Vec<String>,
    /// Provider names.
    pub providers: Vec<String>,
    /// Model names.
    pub models: Vec<String>,
    /// Error codes.
    pub codes: Vec<String>,
    /// Parts of project directory names.
    pub projects: Vec<String>,
    /// Count a session's descendants (forks, sub-agents) with it.
    pub with_descendants: bool,
}

impl Filters {
    /// Whether attempts are chosen one by one (not only whole sessions).
    pub fn choose_attempts(&self) -> bool {
        self.since.is_some() || self.until.is_some() || !self.providers.is_empty() || !self.models.is_empty()
    }

    /// Whether a failure of this code counts.
    pub fn wants_code(&self, code: &str) -> bool {
        self.codes.is_empty() || self.codes.iter().any(|c| c.eq_ignore_ascii_case(code))
    }

    /// Applies the filters.
    pub fn apply(&self, dataset: &mut Dataset) {
        let mut kept: Vec<String> = dataset
            .sessions
            .iter()
            .filter(|s| self.sessions.iter().any(|p| s.id.starts_with(p.as_str())))
            .map(|s| s.id.clone())
            .collect();
        if self.with_descendants {
            loop {
                let more: Vec<String> = dataset
                    .sessions
                    .iter()
                    .filter(|s| !kept.contains(&s.id) && s.parent_session.as_ref().is_some_and(|p| kept.contains(p)))
                    .map(|s| s.id.clone())
                    .collect();
                if more.is_empty() {
                    break;
                }
                kept.extend(more);
            }
        }
        dataset.sessions.retain(|s| {
            let project = s.project.as_deref().unwrap_or("");
            (self.sessions.is_empty() || kept.contains(&s.id))
                && (self.projects.is_empty() || self.projects.iter().any(|p| project.contains(p.as_str())))
        });
        let route_in = |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
        for attempt in dataset.sessions.iter_mut().flat_map(|s| &mut s.attempts) {
            let after = self.since.is_none_or(|since| attempt.time.is_some_and(|t| t >= since));
            let before = self.until.is_none_or(|until| attempt.time.is_some_and(|t| t < until));
            attempt.selected = after
                && before
                && route_in(&self.providers, &attempt.route.provider)
                && route_in(&self.models, &attempt.route.model);
        }
        dataset.inputs.sessions = dataset.sessions.len() as u64;
        dataset.inputs.inherited_events_skipped = dataset.sessions.iter().map(|s| s.inherited_events).sum();
    }
}

/// Reads a point in time: RFC 3339, a date or a date and time (in `zone`), or a span back from now such as `6d`, `36h`.
///
/// # Errors
/// When the text is none of these.
pub fn parse_time(text: &str, zone: &TimeZone) -> Result<i64> {
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp.as_millisecond());
    }
    if let Some((count, unit)) = text.split_at_checked(text.len().saturating_sub(1))
        && let Ok(count) = count.parse::<i64>()
    {
        let hours = match unit {
            "d" => count.checked_mul(24),
            "w" => count.checked_mul(24 * 7),
            "h" => Some(count),
            "m" => return Ok(Timestamp::now().checked_sub(count.minutes())?.as_millisecond()),
            _ => return Err(no_time("errors.no-time-unit", text)),
        };
        let hours = hours.ok_or_else(|| no_time("errors.span-too-long", text))?;
        return Ok(Timestamp::now()
            .checked_sub(hours.hours())
            .map_err(|_| no_time("errors.before-calendar", text))?
            .as_millisecond());
    }
    let moment = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|d| d.at(0, 0, 0, 0)));
    let moment = moment.map_err(|_| no_time("errors.no-time", text))?;
    Ok(moment.to_zoned_datetime(zone.clone())?.timestamp().as_millisecond())
}

/// Finds a time zone: an IANA name, `UTC`, or the system's.
///
/// # Errors
/// When the name is unknown.
pub fn parse_zone(name: Option<&str>) -> Result<TimeZone> {
    match name {
        None => Ok(TimeZone::system()),
        Some(name) => TimeZone::get(name).map_err(|_| no_time("errors.unknown-zone", name)),
    }
}

fn no_time(key: &'static str, text: &str) -> anyhow::Error {
    Said(Message::new(key).with("text", format!("{text:?}"))).into()
}
