//! Filters that leave nothing: which one it was, and what there is in its place.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::Filters;
use crate::cli::suggest::nearest;
use crate::evidence::verdict::failure_of;
use crate::message;
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::report::numbers::{grouped, moment};
use crate::session::{AttemptRow, SessionRows};

/// Values named in a sentence.
const MOST_SEEN: usize = 6;

type Seen<'a> = Vec<(&'a SessionRows, &'a AttemptRow)>;

impl Filters {
    /// Why nothing is left: the first filter, in the order of the help, that takes away all that the ones before it left.
    /// `None` where something is left, or where there was nothing to begin with. Looks at the dataset before
    /// [`Filters::apply`]. `hide_names`: session ids and project names are not told.
    pub fn nothing_left(&self, dataset: &Dataset, zone: &TimeZone, hide_names: bool) -> Option<Message> {
        let mut sessions: Vec<&SessionRows> = dataset.sessions.iter().collect();
        if sessions.is_empty() {
            return None;
        }
        if !self.sessions.is_empty() {
            let known: Vec<&str> = sessions.iter().map(|s| s.id.as_str()).filter(|_| !hide_names).collect();
            sessions.retain(|s| self.with_descendants || self.sessions.iter().any(|p| s.id.starts_with(p.as_str())));
            let any = sessions.iter().any(|s| self.sessions.iter().any(|p| s.id.starts_with(p.as_str())));
            if !any {
                return Some(no_session(&known, &self.sessions));
            }
        }
        if !self.projects.is_empty() {
            let projects = counted(sessions.iter().filter(|_| !hide_names).filter_map(|s| s.project.as_deref()));
            let all = sessions.len();
            let within = |s: &&SessionRows| {
                let project = s.project.as_deref().unwrap_or("");
                self.projects.iter().any(|wanted| project.contains(wanted.as_str()))
            };
            sessions.retain(within);
            if sessions.is_empty() {
                let said =
                    message!("notices.no-project", n = grouped(all as u64), filter = typed("project", &self.projects));
                return Some(with_seen(said, &projects, &self.projects));
            }
        }
        let attempts = sessions.into_iter().flat_map(|s| s.attempts.iter().map(move |a| (s, a))).collect();
        self.no_attempt(attempts, zone)
    }

    fn no_attempt(&self, mut left: Seen<'_>, zone: &TimeZone) -> Option<Message> {
        type Name = fn(&AttemptRow) -> &str;
        let by_name: [(&str, &Vec<String>, Name); 2] =
            [("provider", &self.providers, |a| &a.route.provider), ("model", &self.models, |a| &a.route.model)];
        let when = |left: &Seen<'_>| {
            let times = || left.iter().filter_map(|(_, a)| a.time);
            (moment(times().min(), zone), moment(times().max(), zone))
        };
        if self.since.is_some() || self.until.is_some() {
            let (all, (first, last)) = (left.len(), when(&left));
            left.retain(|(_, a)| {
                self.since.is_none_or(|since| a.time.is_some_and(|t| t >= since))
                    && self.until.is_none_or(|until| a.time.is_some_and(|t| t < until))
            });
            if all > 0 && left.is_empty() {
                return Some(message!("notices.no-time", n = grouped(all as u64), first = first, last = last));
            }
        }
        for (flag, wanted, name) in by_name {
            if wanted.is_empty() || left.is_empty() {
                continue;
            }
            let (all, seen) = (left.len(), counted(left.iter().map(|(_, a)| name(a))));
            left.retain(|(_, a)| wanted.iter().any(|w| w == name(a)));
            if left.is_empty() {
                let said = message!("notices.no-attempt", n = grouped(all as u64), filter = typed(flag, wanted));
                return Some(with_seen(said, &seen, wanted));
            }
        }
        if self.codes.is_empty() {
            return None;
        }
        let codes: Vec<&str> =
            left.iter().filter_map(|(_, a)| failure_of(a).map(|failure| failure.code.as_str())).collect();
        if codes.is_empty() || codes.iter().any(|code| self.wants_code(code)) {
            return None;
        }
        let said = message!("notices.no-code", n = grouped(codes.len() as u64), filter = typed("code", &self.codes));
        Some(with_seen(said, &counted(codes.into_iter()), &self.codes))
    }
}

/// No session fits `--session`: which ids look like what was typed.
fn no_session(known: &[&str], wanted: &[String]) -> Message {
    let near = nearest(known.iter().copied(), wanted.first().map_or("", String::as_str));
    if near.is_empty() {
        return message!("notices.no-match");
    }
    message!("notices.no-match-but").with_words("ids", near)
}

/// `--code A --code B`
fn typed(flag: &str, values: &[String]) -> String {
    values.iter().map(|value| format!("--{flag} {value}")).collect::<Vec<_>>().join(" ")
}

/// Values with their counts, most first; equal counts in the order of the alphabet.
fn counted<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts
}

/// The sentence, what there is in place of what was asked for, and what may have been meant.
fn with_seen(said: Message, seen: &[(&str, u64)], wanted: &[String]) -> Message {
    if seen.is_empty() {
        return said;
    }
    let near = nearest(seen.iter().map(|(value, _)| *value), wanted.first().map_or("", String::as_str));
    let values = seen.iter().take(MOST_SEEN).map(|(value, n)| format!("{value} ({})", grouped(*n)));
    let said = message!("notices.with-seen", what = said).with_words("seen", values);
    match near.first() {
        Some(near) if seen.len() > 1 => message!("notices.with-near", what = said, near = near),
        _ => said,
    }
}
