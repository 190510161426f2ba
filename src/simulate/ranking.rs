//! Which policies are worth a look, and which one to take.

use super::what_if::PolicyResult;

/// What counts against a policy, all to be small; the first is the gain with its sign turned.
fn objectives(policy: &PolicyResult) -> [f64; 5] {
    [-policy.net_for_ranking(), policy.wait_total_ms, policy.extra_attempts, policy.violations, policy.endless]
}

/// Marks the policies that no other one beats in everything.
pub fn mark_pareto(policies: &mut [PolicyResult]) {
    let all: Vec<[f64; 5]> = policies.iter().map(objectives).collect();
    for (index, policy) in policies.iter_mut().enumerate() {
        let beaten = all.iter().any(|other| {
            other.iter().zip(&all[index]).all(|(theirs, own)| theirs <= own)
                && other.iter().zip(&all[index]).any(|(theirs, own)| theirs < own)
        });
        policy.pareto = !beaten;
    }
}

/// Index of the policy to take: among those that the harness can run and that end every chain, the cheapest of the best.
///
/// Two policies within one turn, or one turn in a hundred, save the same.
#[must_use]
pub fn best(policies: &[PolicyResult], chains: u64) -> Option<usize> {
    let eligible = |policy: &PolicyResult| policy.runnable && policy.endless < 0.5;
    cheapest_of_best(policies, chains, eligible)
}

/// The same without asking whether the harness can run it.
#[must_use]
pub fn best_with_repairs(policies: &[PolicyResult], chains: u64) -> Option<usize> {
    cheapest_of_best(policies, chains, |policy| policy.endless < 0.5)
}

fn cheapest_of_best(policies: &[PolicyResult], chains: u64, eligible: impl Fn(&PolicyResult) -> bool) -> Option<usize> {
    let most = policies.iter().filter(|p| eligible(p)).map(PolicyResult::net_for_ranking).reduce(f64::max)?;
    let same = (chains as f64 / 100.0).max(1.0);
    let cost = |policy: &PolicyResult| [policy.violations.round(), policy.wasted_attempts, policy.wait_total_ms];
    (0..policies.len())
        .filter(|index| eligible(&policies[*index]) && policies[*index].net_for_ranking() >= most - same)
        .min_by(|a, b| {
            let (a, b) = (cost(&policies[*a]), cost(&policies[*b]));
            a.iter()
                .zip(&b)
                .map(|(x, y)| x.total_cmp(y))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        })
}
