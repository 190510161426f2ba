//! What the archive shows now, in the terms of a baseline.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Classified, Decisions, Rate};
use super::classify::Rules;
use crate::evidence::{Verdict, Verdicts};
use crate::findings::{Context, Finding, LifeCycle, Place, Severity, fingerprint, registry, short_text};
use crate::message::Message;

/// The gate for failures whose code the evidence contradicts; it stands beside the rules in a baseline.
pub const CONTRADICTED: &str = "contradicted-code";
/// The row of the evidence for texts that neither a wording nor a status decides.
const UNKNOWN_WORDING: &str = "nothing";

/// One place of one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Rule, or `contradicted-code`.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Previews never fail a gate.
    pub stable: bool,
    /// Fingerprint of rule and place.
    pub fingerprint: String,
    /// Where; `None`: the archive as a whole.
    pub place: Option<Place>,
    /// What stands there.
    pub what: Message,
}

impl Point {
    /// `session:seq`
    pub fn at(&self) -> String {
        self.place.as_ref().map_or_else(|| "archive".to_owned(), |place| at(&place.session_id, place.seq))
    }
}

/// `session:seq`. A name that may hold something secret gets a pseudonym, so that two of them stay two.
pub fn at(session: &str, seq: u64) -> String {
    let clean = short_text(session);
    if clean == session {
        return format!("{clean}:{seq}");
    }
    let place = Place { session_id: session.to_owned(), seq: 0 };
    format!("session-{}:{seq}", fingerprint("session", &[place]))
}

/// Failed turns that a policy would have saved.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedShare {
    /// Failed turns recorded.
    pub failed_turns: u64,
    /// Of those, saved: lower end, expectation, upper end.
    pub saved: [f64; 3],
}

/// What the archive shows now.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Places of the findings, then contradicted codes.
    pub points: Vec<Point>,
    /// Count of each finding.
    pub finding_counts: BTreeMap<&'static str, u64>,
    /// Failures by place.
    pub failures: BTreeMap<String, Classified>,
    /// Their places and words.
    pub places: BTreeMap<String, (Place, Message)>,
    /// Decisions of the policy that was given.
    pub decisions: Option<Decisions>,
    /// Attempts by route.
    pub rates: BTreeMap<String, Rate>,
    /// Failed attempts whose code the evidence contradicts.
    pub contradicted: u64,
    /// Failed attempts.
    pub failed_attempts: u64,
    /// Error texts that no wording decides, without their numbers, redacted.
    pub unknown_wordings: BTreeSet<String>,
    /// Share of turns that the policy would have saved.
    pub saved: Option<SavedShare>,
}

impl Observed {
    /// Gathers everything but decisions and saved turns. `verdicts` are those of the codes under `rules`.
    pub fn of(context: &Context<'_>, findings: &[Finding], verdicts: &Verdicts, rules: &Rules) -> Self {
        let mut observed = Self { failed_attempts: context.cases.len() as u64, ..Self::default() };
        let mut contradicted = Vec::new();
        for case in &context.cases {
            let Some(judgement) = verdicts.get(case.session_index, case.index) else { continue };
            let key = at(&case.session.id, case.attempt.seq);
            let place = Place::new(case.session, case.attempt.seq);
            if judgement.verdict == Verdict::Contradicted {
                observed.contradicted += 1;
                contradicted.push(Point {
                    rule: CONTRADICTED,
                    severity: Severity::Error,
                    stable: true,
                    fingerprint: fingerprint(CONTRADICTED, std::slice::from_ref(&place)),
                    place: Some(place.clone()),
                    what: case.in_words(),
                });
            }
            if case.text.pattern_id == UNKNOWN_WORDING {
                observed.unknown_wordings.insert(without_numbers(&short_text(&case.failure.message)));
            }
            let classified = Classified {
                code: short_text(&case.failure.code),
                rules_code: rules.code(case.attempt, case.failure),
                verdict: judgement.verdict.name().to_owned(),
                supported_code: judgement.supported_code.as_str().to_owned(),
            };
            observed.failures.insert(key.clone(), classified);
            observed.places.insert(key, (place, case.in_words()));
        }
        observed.points = findings.iter().flat_map(|finding| points(finding, &observed.places)).collect();
        observed.points.extend(contradicted);
        observed.finding_counts = findings.iter().map(|finding| (finding.id, finding.count)).collect();
        let route = |route| crate::findings::route_name(route);
        observed.rates = (context.summary.by_route.iter())
            .map(|(r, n)| (route(r), Rate { attempts: n.attempts, failed_attempts: n.failed_attempts }))
            .collect();
        observed
    }

    /// The code that counts for each failure, where the rules of a release give another.
    pub fn rules_codes(&self) -> BTreeMap<String, String> {
        let codes = self.failures.iter().filter_map(|(at, found)| Some((at.clone(), found.rules_code.clone()?)));
        codes.collect()
    }
}

/// The places of a finding; one for the whole archive where it has none.
fn points(finding: &Finding, failures: &BTreeMap<String, (Place, Message)>) -> Vec<Point> {
    let name = || registry::find(finding.id).map_or_else(|| finding.title.clone(), |rule| Message::new(rule.docs.name));
    let point = |fingerprint: String, place: Option<Place>, what: Message| Point {
        rule: finding.id,
        severity: finding.severity,
        stable: finding.life_cycle == LifeCycle::Stable,
        fingerprint,
        place,
        what,
    };
    if finding.places.is_empty() {
        return vec![point(finding.fingerprint.clone(), None, finding.title.clone())];
    }
    let words = |place: &Place| {
        let example = finding.examples.iter().find(|example| example.place.as_ref() == Some(place));
        let failure = || failures.get(&at(&place.session_id, place.seq)).map(|(_, words)| words.clone());
        example.map(|example| example.text.clone()).or_else(failure).unwrap_or_else(name)
    };
    let places = finding.places.iter();
    places.map(|place| point(finding.place_fingerprint(place), Some(place.clone()), words(place))).collect()
}

/// Runs of digits become `#`, so that a request id does not make a new wording.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_whose_names_look_secret_stay_apart() {
        assert_eq!(at("7431dfda-f8b0-55ee-a54f-bdb7c3bf3304", 7), "7431dfda-f8b0-55ee-a54f-bdb7c3bf3304:7");
        let (one, other) = (at("3Zk9Qw7Lr2Xv8Tn5Bc1Md6Hf4Gj0Ps", 7), at("9Zk9Qw7Lr2Xv8Tn5Bc1Md6Hf4Gj0Px", 7));
        assert!(one != other && !one.contains("Qw7Lr2"), "{one} {other}");
    }

    #[test]
    fn a_request_id_does_not_make_a_new_wording() {
        assert_eq!(without_numbers("odd fault 17 in shard 2048"), "odd fault # in shard #");
    }
}
