//! Which failure: named by session and seq, or the most interesting one.

use std::cmp::Reverse;

use anyhow::{Result, bail};

use crate::evidence::verdict::failure_of;
use crate::evidence::{SupportedCode, Verdict, Verdicts};
use crate::findings::registry::RULES;
use crate::message;
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::policy::spelling::did_you_mean;
use crate::report::lang::Said;
use crate::session::{AttemptRow, Fate, SessionRows};

/// `SESSION` or `SESSION:SEQ` as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Session id, or its beginning.
    pub session: String,
    /// Seq of any event of the attempt.
    pub seq: Option<u64>,
}

impl Target {
    /// Reads what was typed; what follows the last colon is a seq where it is a number.
    pub fn parse(text: &str) -> Self {
        let split = text.rsplit_once(':').and_then(|(id, seq)| Some((id, seq.parse().ok()?)));
        match split {
            Some((id, seq)) => Self { session: id.to_owned(), seq: Some(seq) },
            None => Self { session: text.to_owned(), seq: None },
        }
    }

    /// The id as a table shows it: its beginning, `…`, and its end where there is one.
    fn fits(id: &str, wanted: &str) -> bool {
        match wanted.split_once('…') {
            Some((start, end)) => id.len() >= start.len() + end.len() && id.starts_with(start) && id.ends_with(end),
            None => id.starts_with(wanted),
        }
    }

    /// The failed attempt that is meant: the one at the seq, else the most interesting of the session.
    ///
    /// # Errors
    /// When no session or several fit, or no attempt failed there.
    pub fn find(&self, dataset: &Dataset, verdicts: &Verdicts) -> Result<(usize, usize)> {
        let index = find_session(&dataset.sessions, &self.session)?;
        let session = &dataset.sessions[index];
        match self.seq {
            Some(seq) => Ok((index, find_attempt(session, seq)?)),
            None => match most_interesting(dataset, verdicts, Some(index)) {
                Some(place) => Ok(place),
                None => bail!(Said(message!("explain.no-failed-attempt", session = &session.id))),
            },
        }
    }
}

fn find_session(sessions: &[SessionRows], wanted: &str) -> Result<usize> {
    if let Some(exact) = sessions.iter().position(|s| s.id == wanted) {
        return Ok(exact);
    }
    let fitting: Vec<usize> =
        sessions.iter().enumerate().filter(|(_, s)| Target::fits(&s.id, wanted)).map(|(index, _)| index).collect();
    match fitting.as_slice() {
        [one] => Ok(*one),
        [] => bail!(unknown(sessions, wanted)),
        several => {
            let ids = several.iter().take(5).map(|i| Message::verbatim(&sessions[*i].id));
            let said = message!("errors.ambiguous-session", n = several.len(), wanted = format!("{wanted:?}"));
            bail!(Said(said.with_list("ids", ids)))
        }
    }
}

/// Ids are long and people type their beginnings: the typed word is held against beginnings of the same length.
fn unknown(sessions: &[SessionRows], wanted: &str) -> Said {
    // What follows a colon and is no number was meant as a seq.
    if let Some((id, seq)) = wanted.rsplit_once(':').filter(|(id, _)| !id.is_empty()) {
        let no_seq = message!("explain.no-seq-typed", session = id, seq = format!("{seq:?}"));
        return if sessions.iter().any(|s| Target::fits(&s.id, id)) {
            Said(no_seq)
        } else {
            Said(message!("explain.no-session-no-seq", session = unknown(sessions, id).0, seq = no_seq))
        };
    }
    // A word without digits is rather the name of a rule than the id of a session.
    if let Some(rule) = did_you_mean(wanted, RULES.iter().map(|rule| rule.id)) {
        return Said(message!("explain.near-rule", wanted = format!("{wanted:?}"), rule = rule));
    }
    let length = wanted.chars().count();
    let beginning = |id: &str| id.chars().take(length).collect::<String>();
    let beginnings: Vec<String> = sessions.iter().map(|s| beginning(&s.id)).collect();
    // Of one or two letters everything is near.
    let near = did_you_mean(wanted, beginnings.iter().map(String::as_str)).filter(|_| length >= 3);
    let inside = || sessions.iter().find(|s| length >= 3 && s.id.contains(wanted)).map(|s| s.id.as_str());
    let id = near
        .and_then(|near| beginnings.iter().position(|b| b == near))
        .map(|index| sessions[index].id.as_str())
        .or_else(inside);
    let wanted = format!("{wanted:?}");
    Said(match id {
        None => message!("errors.unknown-session", wanted = wanted),
        Some(id) => message!("errors.unknown-session-but", wanted = wanted).with_list("ids", [Message::verbatim(id)]),
    })
}

fn find_attempt(session: &SessionRows, seq: u64) -> Result<usize> {
    let failed = || session.attempts.iter().enumerate().filter(|(_, a)| failure_of(a).is_some());
    if let Some((index, _)) = failed().find(|(_, a)| (a.first_seq..=a.seq).contains(&seq)) {
        return Ok(index);
    }
    let near = failed().min_by_key(|(_, a)| (a.seq.abs_diff(seq), a.seq)).map(|(_, a)| a.seq);
    match near {
        Some(near) => {
            bail!(Said(message!("explain.nearest-failed", session = &session.id, seq = seq, near = near)))
        }
        None => bail!(Said(message!("explain.no-failed-attempt", session = &session.id))),
    }
}

/// The failure that is most worth a look, in one session or in all: a code that the evidence contradicts before one that
/// it leaves open, a chain that was given up before one that recovered, then the turn that cost most tokens; the earliest
/// of equals.
pub fn most_interesting(dataset: &Dataset, verdicts: &Verdicts, session: Option<usize>) -> Option<(usize, usize)> {
    let sessions = dataset.sessions.iter().enumerate().filter(|(index, _)| session.is_none_or(|s| s == *index));
    let mut best = None;
    for (session_index, session) in sessions {
        let costs = turn_costs(session);
        for (index, attempt) in session.attempts.iter().enumerate().filter(|(_, a)| a.selected) {
            let Some(judgement) = failure_of(attempt).and(verdicts.get(session_index, index)) else { continue };
            let rank = (
                verdict_rank(judgement.verdict),
                fate_rank(attempt.fate),
                judgement.supported_code == SupportedCode::Undetermined,
                Reverse(costs.get(&attempt.turn).copied().unwrap_or(0)),
                attempt.retry.is_some(),
                attempt.time,
                session_index,
                index,
            );
            if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                best = Some((rank, (session_index, index)));
            }
        }
    }
    best.map(|(_, place)| place)
}

fn verdict_rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Contradicted => 0,
        Verdict::Undetermined => 1,
        Verdict::Uninformative => 2,
        Verdict::Supported => 3,
    }
}

fn fate_rank(fate: Option<Fate>) -> u8 {
    match fate {
        Some(Fate::GaveUp) => 0,
        Some(Fate::RecoveredByCompaction) => 1,
        Some(Fate::Cancelled | Fate::Open) => 2,
        Some(Fate::RecoveredByRetry) | None => 3,
    }
}

/// Prompt tokens sent by turn.
fn turn_costs(session: &SessionRows) -> std::collections::BTreeMap<u64, u64> {
    let tokens = |attempt: &AttemptRow| attempt.request.as_ref().and_then(|r| r.tokens).map_or(0, |t| t.value);
    let mut costs = std::collections::BTreeMap::new();
    for attempt in &session.attempts {
        *costs.entry(attempt.turn).or_insert(0u64) += tokens(attempt);
    }
    costs
}
