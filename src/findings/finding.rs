//! What a rule says when it fires: counted, with places, in no language yet.

use sha2::{Digest, Sha256};

use super::case::{Case, Context};
use super::rule::{LifeCycle, Rule};
use crate::evidence::FixableBy;
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::report::numbers::{grouped, percent};
use crate::session::{Route, SessionRows};

/// Most examples kept of one finding.
const MOST_EXAMPLES: usize = 5;
/// Longest error text in an example, characters.
const MOST_TEXT: usize = 90;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Costs time, tokens or trust.
    Warning,
    /// Costs turns, or misleads the harness.
    Error,
}

impl Severity {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How far the evidence decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A pattern that has other explanations.
    Low,
    /// Likely; another reading is possible.
    Medium,
    /// Counted, or shown by direct comparison.
    High,
}

impl Confidence {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// From the mean confidence of the judgements behind it (0.95 direct, 0.8 by comparison, 0.6 by wording alone).
    fn of_judgements(cases: &[&Case<'_>]) -> Self {
        let sum: f64 = cases.iter().map(|c| c.judgement.confidence).sum();
        match sum / cases.len().max(1) as f64 {
            mean if mean >= 0.75 => Self::High,
            mean if mean >= 0.5 => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// What the count of a finding counts; numbers of different units are never added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Steps without a successful attempt.
    FailedSteps,
    /// Failed attempts, all of them recovered or left open.
    FailedAttempts,
    /// Attempts, whatever came of them.
    Attempts,
    /// Scheduled retries.
    Retries,
    /// Compactions.
    Compactions,
    /// Sessions.
    Sessions,
    /// Places in logs.
    Places,
    /// Files.
    Files,
    /// Provider and model pairs.
    Routes,
}

impl Unit {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::FailedSteps => "failed_steps",
            Self::FailedAttempts => "failed_attempts",
            Self::Attempts => "attempts",
            Self::Retries => "retries",
            Self::Compactions => "compactions",
            Self::Sessions => "sessions",
            Self::Places => "places",
            Self::Files => "files",
            Self::Routes => "routes",
        }
    }

    /// `486 failed steps`
    pub fn counted(self, count: u64) -> Message {
        let n = grouped(count);
        match self {
            Self::FailedSteps => message!("findings.n-failed-steps", n = n),
            Self::FailedAttempts => message!("findings.n-failed-attempts", n = n),
            Self::Attempts => message!("findings.n-attempts", n = n),
            Self::Retries => message!("findings.n-retries", n = n),
            Self::Compactions => message!("findings.n-compactions", n = n),
            Self::Sessions => message!("findings.n-sessions", n = n),
            Self::Places => message!("findings.n-places", n = n),
            Self::Files => message!("findings.n-files", n = n),
            Self::Routes => message!("findings.n-routes", n = n),
        }
    }
}

/// A place in a log that does not change when the archive is copied or read in another order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Session id.
    pub session_id: String,
    /// Seq of the event; 0 for the log as a whole.
    pub seq: u64,
}

impl Place {
    /// A place in a session's log.
    pub fn new(session: &SessionRows, seq: u64) -> Self {
        Self { session_id: session.id.clone(), seq }
    }
}

/// One of the places, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Where; `None` where no session can be named.
    pub place: Option<Place>,
    /// What stands there.
    pub text: Message,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Id of the rule.
    pub id: &'static str,
    /// Severity: the rule's, or the one of the configuration.
    pub severity: Severity,
    /// Whether the rule is settled; a preview never fails a gate.
    pub life_cycle: LifeCycle,
    /// How far the evidence decides.
    pub confidence: Confidence,
    /// How many; see `unit`.
    pub count: u64,
    /// What is counted.
    pub unit: Unit,
    /// One line with the number.
    pub title: Message,
    /// What was seen, with numbers.
    pub seen: Vec<Message>,
    /// The count by route, where failures of several routes are behind it, most first.
    pub routes: Vec<(Route, u64)>,
    /// Some of the places, from different sessions where possible.
    pub examples: Vec<Example>,
    /// Why it matters.
    pub why: Message,
    /// What to do.
    pub advice: Vec<Message>,
    /// Settings to paste into `settings.yaml`.
    pub settings: Option<String>,
    /// Who can fix it.
    pub fixable_by: FixableBy,
    /// SHA-256 over the rule and all places, the first 16 digits: the same for a copy of the archive under another path.
    pub fingerprint: String,
    /// All places that were counted, sorted.
    pub places: Vec<Place>,
}

impl Finding {
    /// Fingerprint of one place, for baselines that follow places one by one.
    pub fn place_fingerprint(&self, place: &Place) -> String {
        fingerprint(self.id, std::slice::from_ref(place))
    }
}

/// Fingerprint of an id and places: the first 16 digits of a SHA-256.
pub fn fingerprint(id: &str, places: &[Place]) -> String {
    let mut hash = Sha256::new();
    hash.update(id.as_bytes());
    for place in places {
        hash.update([0]);
        hash.update(place.session_id.as_bytes());
        hash.update([0]);
        hash.update(place.seq.to_le_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A finding as a rule writes it; the registry adds what the rule says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    count: u64,
    unit: Unit,
    title: Message,
    confidence: Confidence,
    seen: Vec<Message>,
    routes: Vec<(Route, u64)>,
    examples: Vec<Example>,
    advice: Vec<Message>,
    settings: Option<String>,
    fixable_by: FixableBy,
    places: Vec<Place>,
}

impl Draft {
    /// A draft; the title's `{cases}` becomes the count with its unit.
    pub fn new(count: u64, unit: Unit, title: Message) -> Self {
        Self {
            count,
            unit,
            title: title.with_message("cases", unit.counted(count)),
            confidence: Confidence::High,
            seen: Vec::new(),
            routes: Vec::new(),
            examples: Vec::new(),
            advice: Vec::new(),
            settings: None,
            fixable_by: FixableBy::Unknown,
            places: Vec::new(),
        }
    }

    /// A draft about failed attempts: counts the steps they failed, or, where every step recovered, the attempts.
    /// `None` where there are no cases.
    pub fn of_cases(context: &Context<'_>, cases: &[&Case<'_>], title: Message) -> Option<Self> {
        let first = cases.first()?;
        let ending: Vec<&Case<'_>> = cases.iter().copied().filter(|c| c.ends_step).collect();
        let (unit, counted) =
            if ending.is_empty() { (Unit::FailedAttempts, cases.to_vec()) } else { (Unit::FailedSteps, ending) };
        let steps = if unit == Unit::FailedSteps { counted.len() as u64 } else { 0 };
        let mut draft = Self::new(counted.len() as u64, unit, title);
        draft.confidence = Confidence::of_judgements(cases);
        draft.fixable_by = most_frequent(cases).unwrap_or(first.judgement.fixable_by);
        let mut sessions: Vec<usize> = cases.iter().map(|c| c.session_index).collect();
        sessions.dedup();
        draft.seen.push(message!(
            "findings.seen-cases",
            attempts = grouped(cases.len() as u64),
            sessions = grouped(sessions.len() as u64),
            steps = grouped(steps),
            share = percent(steps, context.summary.counts.failed_steps),
        ));
        draft.routes = by_route(counted.iter().map(|c| c.attempt.route.as_ref()));
        draft.places = counted.iter().map(|c| Place::new(c.session, c.attempt.seq)).collect();
        draft.examples = spread(cases)
            .into_iter()
            .map(|c| Example { place: Some(Place::new(c.session, c.attempt.seq)), text: c.in_words() })
            .collect();
        Some(draft)
    }

    /// Sets the confidence.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds what was seen.
    #[must_use]
    pub fn seen(mut self, message: Message) -> Self {
        self.seen.push(message);
        self
    }

    /// Adds what was seen, where there is something to say.
    #[must_use]
    pub fn seen_if(self, condition: bool, message: impl FnOnce() -> Message) -> Self {
        if condition { self.seen(message()) } else { self }
    }

    /// Adds settings to paste.
    #[must_use]
    pub fn settings(mut self, yaml: Option<String>) -> Self {
        self.settings = yaml;
        self
    }

    /// Sets who can fix it.
    #[must_use]
    pub fn fixable_by(mut self, fixable_by: FixableBy) -> Self {
        self.fixable_by = fixable_by;
        self
    }

    /// Sets the count by route.
    #[must_use]
    pub fn by_route<'r>(mut self, routes: impl Iterator<Item = &'r Route>) -> Self {
        self.routes = by_route(routes);
        self
    }

    /// Adds a place with its words; only the first few stay as examples.
    #[must_use]
    pub fn place(mut self, session: &SessionRows, seq: u64, text: Message) -> Self {
        let place = Place::new(session, seq);
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(Example { place: Some(place.clone()), text });
        }
        self.places.push(place);
        self
    }

    /// Adds an example without a place of its own.
    #[must_use]
    pub fn example(mut self, text: Message) -> Self {
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(Example { place: None, text });
        }
        self
    }

    pub(super) fn finish(mut self, rule: &Rule, severity: Severity) -> Finding {
        self.places.sort();
        self.places.dedup();
        let mut advice = vec![Message::new(rule.docs.advice)];
        advice.append(&mut self.advice);
        Finding {
            id: rule.id,
            severity,
            life_cycle: rule.life_cycle,
            confidence: self.confidence,
            count: self.count,
            unit: self.unit,
            title: self.title,
            seen: self.seen,
            routes: self.routes,
            examples: self.examples,
            why: Message::new(rule.docs.why),
            advice,
            settings: self.settings,
            fixable_by: self.fixable_by,
            fingerprint: fingerprint(rule.id, &self.places),
            places: self.places,
        }
    }
}

/// Up to five cases, one of each session first, evenly over the archive.
fn spread<'c, 'a>(cases: &[&'c Case<'a>]) -> Vec<&'c Case<'a>> {
    let mut firsts: Vec<&Case<'_>> = cases.to_vec();
    firsts.dedup_by_key(|c| c.session_index);
    let chosen = if firsts.len() >= MOST_EXAMPLES { firsts } else { cases.to_vec() };
    let count = chosen.len().min(MOST_EXAMPLES);
    (0..count).map(|i| chosen[i * chosen.len() / count]).collect()
}

fn most_frequent(cases: &[&Case<'_>]) -> Option<FixableBy> {
    let mut counts = std::collections::BTreeMap::new();
    for case in cases {
        *counts.entry(case.judgement.fixable_by).or_insert(0u64) += 1;
    }
    counts.into_iter().max_by_key(|(by, count)| (*count, std::cmp::Reverse(*by))).map(|(by, _)| by)
}

fn by_route<'r>(routes: impl Iterator<Item = &'r Route>) -> Vec<(Route, u64)> {
    let mut counts: std::collections::BTreeMap<&Route, u64> = std::collections::BTreeMap::new();
    for route in routes {
        *counts.entry(route).or_default() += 1;
    }
    let mut rows: Vec<(Route, u64)> = counts.into_iter().map(|(route, count)| (route.clone(), count)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows
}

/// An error text, without secrets, on one line, cut to a readable length.
pub fn short_text(text: &str) -> String {
    let clean = redact(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if clean.chars().count() <= MOST_TEXT {
        return clean;
    }
    clean.chars().take(MOST_TEXT - 1).chain(['…']).collect()
}
