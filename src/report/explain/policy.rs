//! The rule that gave the code, the policy's decision, and the repairs.

use super::super::definitions::Term;
use super::super::document::{Block, Cell, Column, Table, Tone};
use super::super::numbers::span;
use super::{Writer, fate, shorten, words};
use crate::evidence::verdict::layers::PolicySource;
use crate::explain::{Basis, Chance, DecisionStory, Effect, Explanation, RecordedRetry, Repair};
use crate::message;
use crate::message::Message;
use crate::policy::engine::FixedGiveUp;
use crate::policy::semantics::{DelaySource, GiveUp};
use crate::policy::{Decision, RetryMode, delay_range};
use crate::redact::redact;
use crate::session::Outcome;

impl Writer {
    pub(super) fn rule(&mut self, explained: &Explanation<'_>) {
        self.heading("explain.heading-rule");
        let (rule, code) = (&explained.rule, &explained.failure.code);
        match (rule.rule, &rule.matched) {
            (None, _) => self.say(&message!("explain.no-rule", adapter = rule.adapter, code = code)),
            (Some(name), None) => {
                self.say(&message!("explain.rule-status", adapter = rule.adapter, rule = name, code = code));
            }
            (Some(name), Some(matched)) => {
                let matched = redact(matched);
                let matched = shorten(&matched, 60);
                let message =
                    message!("explain.rule", adapter = rule.adapter, rule = name, matched = matched, code = code);
                self.say(&message);
            }
        }
        match &rule.basis {
            Basis::Given { assumed: false } => self.say(&message!("explain.basis-given")),
            Basis::Given { assumed: true } => self.say(&message!("explain.basis-assumed")),
            Basis::Every => self.say(&message!("explain.basis-every")),
            Basis::Only(releases) => self.say(&message!("explain.basis-only").with_words("releases", releases)),
            Basis::None => {}
        }
        if let Some(other) = &rule.other_code {
            self.say_toned(&message!("explain.other-code", other = other, code = code), Tone::Warn);
        }
        if !rule.elsewhere.is_empty() {
            let list = rule.elsewhere.iter().map(|(release, code)| format!("{release}: {code}"));
            self.say(&message!("explain.elsewhere").with_words("list", list));
        }
    }

    pub(super) fn policy(&mut self, explained: &Explanation<'_>) {
        self.heading("explain.heading-policy");
        let decision = &explained.decision;
        self.say(&in_force(decision));
        self.say(&decided(decision, explained));
        if let Some(retry) = &decision.recorded {
            self.say(&recorded(retry));
        }
        if decision.cancelled > 0 {
            self.say(&message!("explain.cancelled-waits", n = decision.cancelled));
        }
        if !decision.explained && explained.attempt.fate != Some(crate::session::Fate::Cancelled) {
            self.say_toned(&message!("explain.not-explained"), Tone::Warn);
        }
        self.say(&fate(explained.attempt.fate));
        let layers: Vec<Message> = explained.judgement.layers.iter().filter_map(|layer| layer_words(layer)).collect();
        if !layers.is_empty() {
            self.say(&message!("explain.layers").with_list("layers", layers));
        }
    }

    pub(super) fn repairs(&mut self, explained: &Explanation<'_>) {
        if explained.repairs.is_empty() {
            return;
        }
        self.heading("explain.heading-repairs");
        let language = self.language;
        let rows = explained.repairs.iter().map(|repair| {
            let available = if repair.today { message!("explain.today") } else { message!("explain.not-today") };
            let (wait, outcome, tone) = effect(repair);
            let wait = wait.map_or_else(|| "–".to_owned(), |wait| language.render(&wait));
            vec![
                Cell::from(language.render(&words::repair(&repair.edit))),
                language.render(&available).into(),
                wait.into(),
                Cell::toned(language.render(&outcome), tone),
            ]
        });
        let say = |key| language.say(key);
        let table = Table {
            title: String::new(),
            columns: vec![
                Column::text(say("explain.column-repair"), 0),
                Column::text(say("explain.column-available"), 0),
                Column::number(say("explain.column-wait"), 0).means(Term::Retry),
                Column::text(say("explain.column-outcome"), 0),
            ],
            rows: rows.collect(),
            note: Some(say("explain.repairs-note")),
        };
        self.page.blocks.push(Block::Table(table));
    }
}

fn in_force(story: &DecisionStory) -> Message {
    let source = match story.source {
        PolicySource::Logged => message!("explain.policy-logged"),
        PolicySource::Assumed => message!("explain.policy-assumed"),
    };
    let policy = &story.policy;
    let cap = span(policy.backoff.max_delay_ms as i64);
    let initial = span(policy.backoff.initial_delay_ms as i64);
    let message = match policy.mode {
        RetryMode::Always => message!("explain.policy-always", initial = initial, cap = cap),
        RetryMode::Normal => message!("explain.policy-normal", n = policy.max_retries, initial = initial, cap = cap)
            .with_words("codes", policy.codes_in_order()),
    };
    message.with_message("source", source)
}

fn decided(story: &DecisionStory, explained: &Explanation<'_>) -> Message {
    let code = explained.failure.code.as_str();
    match story.decision {
        Decision::GiveUp { reason: GiveUp::NotRetryable } => message!("explain.gives-up-code", code = code),
        Decision::GiveUp { reason: GiveUp::BudgetSpent } => {
            message!("explain.gives-up-budget", n = story.previous, most = story.policy.max_retries)
        }
        Decision::GiveUp { reason: GiveUp::RetryAfterTooLong } => message!(
            "explain.gives-up-retry-after",
            asked = span(explained.failure.retry_after_ms.unwrap_or(0.0) as i64),
            cap = span(story.policy.backoff.max_delay_ms as i64),
        ),
        Decision::Retry { retry, delay_ms, source: DelaySource::RetryAfter } => {
            message!("explain.retries-as-asked", retry = retry, wait = span(delay_ms as i64))
        }
        Decision::Retry { retry, source: DelaySource::Backoff, .. } => {
            let (low, high) = delay_range(&story.policy, retry);
            message!("explain.retries", retry = retry, low = span(low as i64), high = span(high as i64))
        }
    }
}

fn recorded(retry: &RecordedRetry) -> Message {
    let wait = span(retry.delay_ms.round() as i64);
    match (retry.started, retry.next) {
        (false, _) => message!("explain.recorded-cut", retry = retry.retry, wait = wait),
        (true, Some(Outcome::Succeeded)) => message!("explain.recorded-success", retry = retry.retry, wait = wait),
        (true, Some(Outcome::Failed)) => message!("explain.recorded-failure", retry = retry.retry, wait = wait),
        (true, _) => message!("explain.recorded-open", retry = retry.retry, wait = wait),
    }
}

fn layer_words(layer: &str) -> Option<Message> {
    Some(match layer {
        "L1" => message!("explain.layer-1"),
        "L2" => message!("explain.layer-2"),
        "L3" => message!("explain.layer-3"),
        "L4" => message!("explain.layer-4"),
        "L5" => message!("explain.layer-5"),
        _ => return None,
    })
}

/// First wait, what comes of it, and how good that is.
pub(super) fn effect(repair: &Repair) -> (Option<Message>, Message, Tone) {
    let (delay_ms, chance) = match repair.effect {
        Effect::GivesUp(reason) => return (None, gives_up(reason), Tone::Bad),
        Effect::Retries { delay_ms, chance } => (delay_ms, chance),
    };
    let (outcome, tone) = match chance {
        Chance::FailsAgain => (message!("explain.chance-fails"), Tone::Bad),
        Chance::Answered { after_ms, identical: true } => {
            (message!("explain.chance-identical", after = span(after_ms)), Tone::Good)
        }
        Chance::Answered { after_ms, identical: false } => {
            (message!("explain.chance-answered", after = span(after_ms)), Tone::Good)
        }
        Chance::AnsweredSmaller { after_ms } => {
            (message!("explain.chance-smaller", after = span(after_ms)), Tone::Warn)
        }
        Chance::AnsweredLater { last_try_ms, after_ms } => {
            let last = span(last_try_ms as i64);
            (message!("explain.chance-later", last = last, after = span(after_ms)), Tone::Warn)
        }
        Chance::Unknown => (message!("explain.chance-unknown"), Tone::Warn),
    };
    (Some(span(delay_ms as i64)), outcome, tone)
}

fn gives_up(reason: FixedGiveUp) -> Message {
    match reason {
        FixedGiveUp::Policy(GiveUp::NotRetryable) | FixedGiveUp::Filtered => message!("explain.still-code"),
        FixedGiveUp::Policy(GiveUp::BudgetSpent) | FixedGiveUp::RetryBudgetSpent => message!("explain.still-budget"),
        FixedGiveUp::Policy(GiveUp::RetryAfterTooLong) => message!("explain.still-retry-after"),
        FixedGiveUp::TimeSpent => message!("explain.still-time"),
        FixedGiveUp::BreakerOpen => message!("explain.still-breaker"),
    }
}
