//! The recommendation, and everything that a reader must know beside the numbers, as messages in no language.

use super::laws::WeightedLaw;
use super::what_if::{FEW_CHAINS, PolicyResult, TOO_FEW_CHAINS, WhatIf};
use crate::message;
use crate::message::Message;
use crate::policy::schedule::duration;
use crate::policy::{RetryPolicy, to_settings_yaml};

/// What to do, and what would change that.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// Index of the policy.
    pub policy: usize,
    /// The advice.
    pub advice: Message,
    /// What would change it.
    pub reservations: Vec<Message>,
    /// Settings to paste; `None` where the policy in force is the one to keep.
    pub settings_yaml: Option<String>,
}

/// A difference of less than one turn decides nothing.
const ONE_TURN: f64 = 1.0;

/// The recommendation; `None` with too few chains.
#[must_use]
pub fn recommend(answer: &WhatIf) -> Option<Recommendation> {
    let index = answer.best?;
    let best = &answer.policies[index];
    let current = answer.current.map(|current| &answer.policies[current]);
    let gain = best.net_for_ranking() - current.map_or(0.0, PolicyResult::net_for_ranking);
    let keeps = current.is_some_and(|current| current.name == best.name) || gain < ONE_TURN;
    if keeps {
        let policy = answer.current.unwrap_or(index);
        return Some(Recommendation {
            policy,
            advice: message!("what_if.keep", policy = answer.policies[policy].name.clone()),
            reservations: reservations(answer, &answer.policies[policy]),
            settings_yaml: None,
        });
    }
    let advice = message!(
        "what_if.take",
        policy = best.name.clone(),
        net = turns(best.net_for_ranking()),
        low = turns(best.net.pessimistic),
        high = turns(best.net.optimistic),
        failed = answer.turns_failed,
        attempts = turns(best.extra_attempts),
        wait = best.wait_median_ms.map_or_else(|| Message::verbatim("-"), duration)
    );
    Some(Recommendation {
        policy: index,
        advice,
        reservations: reservations(answer, best),
        settings_yaml: Some(settings_yaml(&best.settings)),
    })
}

fn reservations(answer: &WhatIf, taken: &PolicyResult) -> Vec<Message> {
    let mut list = Vec::new();
    let net = taken.net_for_ranking();
    let current = answer.current.map(|current| &answer.policies[current]);
    if let Some(current) = current.filter(|current| current.name != taken.name)
        && taken.net.pessimistic <= current.net.optimistic
    {
        list.push(message!(
            "what_if.overlap",
            low = turns(taken.net.pessimistic),
            current = turns(current.net.optimistic)
        ));
    }
    if let Some(repaired) = answer.best_with_repairs.map(|index| &answer.policies[index])
        && repaired.net_for_ranking() > net + ONE_TURN
    {
        list.push(message!(
            "what_if.repair-better",
            policy = repaired.name.clone(),
            net = turns(repaired.net_for_ranking())
        ));
    }
    for endless in answer.policies.iter().filter(|p| p.endless >= 0.5 && p.net_for_ranking() > net - ONE_TURN) {
        list.push(message!(
            "what_if.endless-reservation",
            policy = endless.name.clone(),
            net = turns(endless.net_for_ranking()),
            chains = turns(endless.endless)
        ));
    }
    if let Some(stays) = taken.net_if_contested_stays
        && let Some(expected) = stays.expected
        && (expected - net).abs() > ONE_TURN
    {
        list.push(message!("what_if.contested-changes", contested = answer.contested, net = turns(expected)));
    }
    if let Some(shares) = taken.shares.filter(|shares| shares.beyond > 0.1) {
        list.push(message!("what_if.much-beyond", share = format!("{:.0}", 100.0 * shares.beyond)));
    }
    list
}

/// What the numbers rest on and where they end, in the order of importance.
#[must_use]
pub fn assumptions(answer: &WhatIf) -> Vec<Message> {
    let mut list = vec![message!("what_if.question")];
    if answer.chains < TOO_FEW_CHAINS {
        list.push(message!("what_if.too-few", chains = answer.chains));
    } else if answer.chains < FEW_CHAINS {
        list.push(message!("what_if.few", chains = answer.chains));
    }
    for route in &answer.ends_in_outage {
        list.push(message!("what_if.ends-in-outage", route = route_name(&route.provider, &route.model)));
    }
    match answer.options.assume {
        super::engine::Assume::None => list.push(message!("what_if.assume-none")),
        super::engine::Assume::Model => {
            for route in &answer.routes {
                let name = &route.evidence.route;
                let laws: Vec<Message> = route.laws.iter().filter(|law| law.weight >= 0.005).map(law_words).collect();
                list.push(
                    message!("what_if.laws", route = route_name(&name.provider, &name.model)).with_list("laws", laws),
                );
            }
        }
    }
    for provider in &answer.assumed_policies {
        list.push(message!("what_if.policy-assumed", provider = provider));
    }
    if answer.contested > 0 {
        list.push(message!("what_if.contested", attempts = answer.contested));
    }
    if answer.unplayed > 0 {
        list.push(message!("what_if.unplayed", chains = answer.unplayed));
    }
    list.extend(
        ["what_if.limit-outage", "what_if.limit-times", "what_if.limit-logs", "what_if.limit-steady"].map(Message::new),
    );
    list
}

fn law_words(law: &WeightedLaw) -> Message {
    use super::laws::LawName;
    let share = format!("{:.0}", 100.0 * law.weight);
    match law.name {
        LawName::HardOutages => message!("what_if.law-hard", share = share),
        LawName::IntermittentOutages => message!("what_if.law-intermittent", share = share),
        LawName::IndependentAttempts => message!("what_if.law-independent", share = share),
    }
}

/// `provider / model`.
#[must_use]
pub fn route_name(provider: &str, model: &str) -> String {
    if model.is_empty() { provider.to_owned() } else { format!("{provider} / {model}") }
}

/// A count of turns or attempts: whole where it is whole, else one decimal.
#[must_use]
pub fn turns(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths == tenths.trunc() { format!("{}", tenths + 0.0) } else { format!("{tenths:.1}") }
}

/// The settings of several providers in one document.
fn settings_yaml(settings: &[(String, RetryPolicy)]) -> String {
    const HEAD: &str = "llm-pi-ai:\n  providers:\n";
    let (mut shared, mut own) = (String::new(), String::new());
    for (provider, policy) in settings {
        let block = to_settings_yaml(provider, policy);
        match block.strip_prefix(HEAD) {
            Some(rest) => shared.push_str(rest),
            None => own.push_str(&block),
        }
    }
    if shared.is_empty() { own } else { format!("{HEAD}{shared}{own}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_of_one_adapter_share_its_section() {
        let policy = RetryPolicy::default();
        let settings = ["b", "deepseek-official", "a"].map(|name| (name.to_owned(), policy.clone()));
        let yaml = settings_yaml(&settings);
        assert_eq!(yaml.matches("llm-pi-ai:").count(), 1, "{yaml}");
        assert_eq!(yaml.matches("retryPolicy:").count(), 3);
        assert!(yaml.contains("llm-deepseek:\n"));
    }

    #[test]
    fn counts_are_whole_where_they_are_whole() {
        assert_eq!([161.62, 181.0, -0.01, 0.04].map(turns), ["161.6", "181", "0", "0"]);
    }
}
