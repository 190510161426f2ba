//! The gates, one function each: what fires, and why, with numbers.

use std::collections::BTreeMap;

use super::baseline::Baseline;
use super::compare::{reclassified, redecided, split};
use super::observed::{CONTRADICTED, Observed, Point};
use super::rates::{RateComparison, RateState, compare};
use super::result::{CheckResult, Gate, GateState, Outcome, Problem};
use crate::config::{CheckConfig, RuleGate};
use crate::findings::{Severity, fingerprint};
use crate::message;
use crate::message::Message;
use crate::report::numbers::{grouped, percent, ratio};

/// Largest ratio of failure rates that is let pass, unless the configuration says otherwise.
const RATE_LIMIT: f64 = 1.25;

/// What the gates ask for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `[check]` of the configuration.
    pub config: CheckConfig,
    /// New findings from here on fail.
    pub severity: Severity,
}

impl Asked {
    fn rate_limit(&self) -> f64 {
        self.config.rate_ratio_limit.map_or(RATE_LIMIT, |limit| limit.0)
    }

    /// Whether a new place of this rule fails the build.
    pub fn gates(&self, point: &Point) -> bool {
        if point.rule == CONTRADICTED {
            return true;
        }
        match self.config.rules.get(point.rule) {
            Some(RuleGate::Off(_)) => false,
            // A limit of its own stands in place of the severity.
            Some(RuleGate::AtMost(_)) => false,
            None => point.stable && point.severity >= self.severity,
        }
    }
}

/// Judges every gate. Without a baseline everything that is seen is new, and there is nothing to compare with.
pub fn judge(asked: &Asked, baseline: Option<&Baseline>, observed: Observed, partial: bool) -> CheckResult {
    let empty = Baseline::default();
    let against = baseline.unwrap_or(&empty);
    let (fresh, known, stale) = split(against, &observed);
    let (findings, contradicted): (Vec<&Point>, Vec<&Point>) =
        fresh.into_iter().filter(|point| asked.gates(point)).partition(|point| point.rule != CONTRADICTED);
    let rates = baseline.map(|b| compare(&b.rates.routes, &observed.rates, asked.rate_limit())).unwrap_or_default();
    let judged = [
        new_findings(&findings),
        rule_limits(asked, &observed),
        contradicted_codes(&contradicted, &findings),
        contradicted_share(asked, &observed),
        classification(asked, baseline, &observed),
        decisions(baseline, &observed),
        failure_rates(asked, baseline, &rates),
        saved_share(asked, &observed),
        unknown_wordings(asked, &observed),
    ];
    let (mut outcomes, mut problems) = (Vec::new(), Vec::new());
    for (outcome, found) in judged {
        outcomes.push(outcome);
        problems.extend(found);
    }
    CheckResult { outcomes, problems, known, stale, rates, notices: Vec::new(), observed, partial }
}

type Judged = (Outcome, Vec<Problem>);

fn outcome(gate: Gate, state: GateState, why: Message) -> Outcome {
    Outcome { gate, state, why }
}

fn fired_if(condition: bool) -> GateState {
    if condition { GateState::Fired } else { GateState::Passed }
}

/// A gate that looks at the archive as a whole has one problem: itself.
fn whole(gate: Gate, state: GateState, why: Message) -> Judged {
    let problem = (state == GateState::Fired).then(|| Problem {
        gate,
        rule: gate.name(),
        severity: Severity::Error,
        fingerprint: fingerprint(gate.name(), &[]),
        place: None,
        what: why.clone(),
    });
    (outcome(gate, state, why), problem.into_iter().collect())
}

fn of_point(gate: Gate, point: &Point) -> Problem {
    Problem {
        gate,
        rule: point.rule,
        severity: point.severity,
        fingerprint: point.fingerprint.clone(),
        place: point.place.clone(),
        what: point.what.clone(),
    }
}

fn new_findings(fresh: &[&Point]) -> Judged {
    let mut by_rule: BTreeMap<&str, u64> = BTreeMap::new();
    for point in fresh {
        *by_rule.entry(point.rule).or_default() += 1;
    }
    let why = if fresh.is_empty() {
        message!("check.no-new-findings")
    } else {
        let list = by_rule.iter().map(|(rule, n)| message!("check.rule-count", rule = rule, n = grouped(*n)));
        message!("check.new-findings", n = grouped(fresh.len() as u64)).with_list("list", list)
    };
    let mut problems: Vec<Problem> = fresh.iter().map(|point| of_point(Gate::Findings, point)).collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    (outcome(Gate::Findings, fired_if(!fresh.is_empty()), why), problems)
}

fn rule_limits(asked: &Asked, observed: &Observed) -> Judged {
    let limits = asked.config.rules.iter().filter_map(|(rule, gate)| match gate {
        RuleGate::AtMost(most) => Some((rule.as_str(), *most)),
        RuleGate::Off(_) => None,
    });
    let counted: Vec<(&str, u64, u64)> =
        limits.map(|(rule, most)| (rule, most, observed.finding_counts.get(rule).copied().unwrap_or(0))).collect();
    if counted.is_empty() {
        return (outcome(Gate::RuleLimit, GateState::NotSet, message!("check.not-configured")), Vec::new());
    }
    let over: Vec<Message> = counted
        .iter()
        .filter(|(_, most, seen)| seen > most)
        .map(|(rule, most, seen)| message!("check.over-limit", rule = rule, n = grouped(*seen), most = grouped(*most)))
        .collect();
    if over.is_empty() {
        let n = grouped(counted.len() as u64);
        return (outcome(Gate::RuleLimit, GateState::Passed, message!("check.within-limits", n = n)), Vec::new());
    }
    whole(Gate::RuleLimit, GateState::Fired, Message::new("check.limits-broken").with_list("list", over))
}

/// A place that a new finding tells of already is counted, not told again.
fn contradicted_codes(fresh: &[&Point], findings: &[&Point]) -> Judged {
    let told = |point: &&&Point| !findings.iter().any(|finding| finding.place == point.place);
    let problems = fresh.iter().filter(told).map(|point| of_point(Gate::ContradictedCode, point)).collect();
    let why = if fresh.is_empty() {
        message!("check.no-new-contradicted")
    } else {
        message!("check.new-contradicted", n = grouped(fresh.len() as u64))
    };
    (outcome(Gate::ContradictedCode, fired_if(!fresh.is_empty()), why), problems)
}

fn contradicted_share(asked: &Asked, observed: &Observed) -> Judged {
    let gate = Gate::ContradictedShare;
    let Some(most) = asked.config.max_contradicted_share else {
        return (outcome(gate, GateState::NotSet, message!("check.not-configured")), Vec::new());
    };
    let (part, all) = (observed.contradicted, observed.failed_attempts);
    let why = message!(
        "check.contradicted-share",
        n = grouped(part),
        all = grouped(all),
        share = percent(part, all),
        most = most.percent(),
    );
    whole(gate, fired_if(all > 0 && part as f64 > most.0 * all as f64), why)
}

fn classification(asked: &Asked, baseline: Option<&Baseline>, observed: &Observed) -> Judged {
    let gate = Gate::Classification;
    let Some(baseline) = baseline else {
        return (outcome(gate, GateState::NotSet, message!("check.no-baseline")), Vec::new());
    };
    let changed = reclassified(baseline, observed);
    let allowed = asked.config.max_reclassified.unwrap_or(0);
    let n = changed.len() as u64;
    let mut kinds: BTreeMap<&Message, u64> = BTreeMap::new();
    for (_, change) in &changed {
        *kinds.entry(change).or_default() += 1;
    }
    let mut kinds: Vec<(&Message, u64)> = kinds.into_iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let list = kinds
        .iter()
        .take(3)
        .map(|(change, n)| message!("check.change-count", n = grouped(*n)).with_message("change", (*change).clone()));
    let why = if changed.is_empty() {
        message!("check.no-reclassified", n = grouped(observed.failures.len() as u64))
    } else {
        message!("check.reclassified", n = grouped(n), allowed = grouped(allowed)).with_list("list", list)
    };
    let fires = n > allowed;
    let problems = if fires { changed.into_iter().map(|(problem, _)| problem).collect() } else { Vec::new() };
    (outcome(gate, fired_if(fires), why), problems)
}

fn decisions(baseline: Option<&Baseline>, observed: &Observed) -> Judged {
    let gate = Gate::PolicyDecision;
    let Some(changed) = baseline.and_then(|baseline| redecided(baseline, observed)) else {
        return (outcome(gate, GateState::NotSet, message!("check.no-policy")), Vec::new());
    };
    let policy = observed.decisions.as_ref().map_or("", |decisions| decisions.policy.as_str());
    let why = if changed.is_empty() {
        message!("check.same-decisions", policy = policy)
    } else {
        message!("check.redecided", n = grouped(changed.len() as u64), policy = policy)
    };
    (outcome(gate, fired_if(!changed.is_empty()), why), changed)
}

fn failure_rates(asked: &Asked, baseline: Option<&Baseline>, rates: &[RateComparison]) -> Judged {
    let gate = Gate::FailureRate;
    if baseline.is_none() {
        return (outcome(gate, GateState::NotSet, message!("check.no-baseline")), Vec::new());
    }
    let limit = asked.rate_limit();
    let of = |state: RateState| rates.iter().filter(|route| route.state == state).collect::<Vec<_>>();
    let (worse, unclear) = (of(RateState::Worse), of(RateState::Inconclusive));
    let problems = worse.iter().map(|route| Problem {
        gate,
        rule: gate.name(),
        severity: Severity::Error,
        fingerprint: rate_fingerprint(&route.route),
        place: None,
        what: rate_words(route),
    });
    let (state, why) = if let Some(first) = worse.first() {
        let why = message!("check.rate-worse", n = grouped(worse.len() as u64), limit = limit);
        (GateState::Fired, why.with_message("first", rate_words(first)))
    } else if let Some(first) = unclear.first() {
        let why = message!("check.rate-unclear", n = grouped(unclear.len() as u64), limit = limit);
        (GateState::Inconclusive, why.with_message("first", rate_words(first)))
    } else {
        (GateState::Passed, message!("check.rate-fine", n = grouped(rates.len() as u64), limit = limit))
    };
    (outcome(gate, state, why), problems.collect())
}

fn rate_fingerprint(route: &str) -> String {
    let place = crate::findings::Place { session_id: route.to_owned(), seq: 0 };
    fingerprint(Gate::FailureRate.name(), &[place])
}

/// `gateway/large: 60 of 1,000 attempts fail (6.0 %), before 20 of 1,000 (2.0 %); ratio 3.0, at least 1.8`
fn rate_words(route: &RateComparison) -> Message {
    let before = route.before.unwrap_or(super::baseline::Rate { attempts: 0, failed_attempts: 0 });
    let (now, dash) = (route.now, || "–".to_owned());
    message!(
        "check.rate-words",
        route = &route.route,
        failed = grouped(now.failed_attempts),
        attempts = grouped(now.attempts),
        share = percent(now.failed_attempts, now.attempts),
        failed_before = grouped(before.failed_attempts),
        attempts_before = grouped(before.attempts),
        share_before = percent(before.failed_attempts, before.attempts),
        ratio = route.ratio.map_or_else(dash, ratio),
        lower = route.lower.map_or_else(dash, ratio),
    )
}

fn saved_share(asked: &Asked, observed: &Observed) -> Judged {
    let gate = Gate::SavedShare;
    let (Some(least), Some(saved)) = (asked.config.min_saved_share, &observed.saved) else {
        return (outcome(gate, GateState::NotSet, message!("check.not-configured")), Vec::new());
    };
    let turns = saved.failed_turns as f64;
    if saved.failed_turns == 0 {
        return (outcome(gate, GateState::Passed, message!("check.no-failed-turn")), Vec::new());
    }
    let [low, expected, high] = saved.saved;
    let state = if high < least.0 * turns {
        GateState::Fired
    } else if low < least.0 * turns {
        GateState::Inconclusive
    } else {
        GateState::Passed
    };
    let share = |turns_saved: f64| format!("{:.1} %", 100.0 * turns_saved / turns);
    let why = message!(
        "check.saved-share",
        turns = grouped(saved.failed_turns),
        expected = share(expected),
        low = share(low),
        high = share(high),
        least = least.percent(),
    );
    whole(gate, state, why)
}

fn unknown_wordings(asked: &Asked, observed: &Observed) -> Judged {
    let gate = Gate::UnknownWording;
    let Some(most) = asked.config.max_unknown_wordings else {
        return (outcome(gate, GateState::NotSet, message!("check.not-configured")), Vec::new());
    };
    let n = observed.unknown_wordings.len() as u64;
    let first = observed.unknown_wordings.first().map_or("", String::as_str);
    let why = if n == 0 {
        message!("check.no-unknown-wording")
    } else {
        message!("check.unknown-wording", n = grouped(n), most = grouped(most), first = first)
    };
    whole(gate, fired_if(n > most), why)
}
