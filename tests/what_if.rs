//! The same arrivals under another policy, against recorded worlds whose answer is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod support;

use std::fs;
use std::path::Path;

use dsh_forensics::discover::discover;
use dsh_forensics::evidence::Verdicts;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::policy::{Candidate, FileKind, Release, read_settings};
use dsh_forensics::session::SessionRows;
use dsh_forensics::simulate::bounds::{Bounded, bounded};
use dsh_forensics::simulate::engine::{Assume, EngineOptions, RoutedCandidate, fit_routes, simulate};
use dsh_forensics::simulate::evidence::{Codes, EvidenceOptions, clock_start, gather};
use serde_json::Value;
use support::recorded;

fn sessions_of(path: &Path) -> Vec<SessionRows> {
    let options = ReadOptions::default();
    read_all(discover(&[path.to_path_buf()], options.limits), options, &|_| {}).sessions
}

fn policy_of(world: &Path, name: &str) -> Candidate {
    let text = fs::read_to_string(world.join(name).join("settings.yaml")).unwrap();
    let release: Release = "0.1.1-rc.2".parse().unwrap();
    let file = read_settings(&text, FileKind::Settings, &release).unwrap();
    Candidate::plain(name, "settings.yaml", file.policy_of("mock-gateway").unwrap().clone())
}

fn predict(sessions: &[SessionRows], policies: &[Candidate], assume: Assume) -> (usize, Vec<Bounded>) {
    let mut codes = Codes::default();
    let verdicts = Verdicts::of(sessions);
    let evidence = gather(sessions, &verdicts, EvidenceOptions::default(), &mut codes);
    let routes = fit_routes(evidence);
    for law in routes.iter().flat_map(|route| &route.laws) {
        println!("  {} {:.3} {:.1} {:?}", law.name.name(), law.weight, law.held_out_score, law.law);
    }
    let end = sessions.iter().filter_map(|s| s.last_time).max().unwrap();
    let options = EngineOptions { draws: 200, seed: 1, assume, archive_end_ms: (end - clock_start(sessions)) as f64 };
    let candidates: Vec<RoutedCandidate> =
        policies.iter().map(|p| RoutedCandidate { by_route: vec![p.clone(); routes.len()] }).collect();
    let results = simulate(&routes, &codes, &candidates, options);
    let chains = routes.iter().map(|route| route.evidence.chains.len()).sum();
    // Brought to success, recorded failures and recoveries alike.
    let recovered = routes.iter().flat_map(|r| &r.evidence.chains).count();
    let success = |result: &dsh_forensics::simulate::engine::PolicyDraws| {
        let recorded_recoveries = recovered as f64
            - routes
                .iter()
                .flat_map(|r| &r.evidence.chains)
                .filter(|c| c.recorded == dsh_forensics::simulate::chains::Recorded::FailedTurn)
                .count() as f64;
        bounded(&result.tallies, assume == Assume::Model, |t, way| t.net(way) + recorded_recoveries)
    };
    (chains, results.iter().map(success).collect())
}

#[test]
fn the_log_of_one_policy_predicts_the_others() {
    let Some(policy) = recorded("policy") else { return };
    let world = policy.join("W1");
    let answers: Value = serde_json::from_str(&fs::read_to_string(world.join("same_arrivals.json")).unwrap()).unwrap();
    let names = ["A0", "A1", "A2", "A3", "A4"];
    let policies: Vec<Candidate> = names.iter().map(|name| policy_of(&world, name)).collect();
    let mut wrong = Vec::new();
    for log in names {
        let sessions = sessions_of(&world.join(log).join("sessions"));
        let (chains, predicted) = predict(&sessions, &policies, Assume::Model);
        for (name, bounds) in names.iter().zip(&predicted) {
            let actual = answers["runs"][log]["predicted"][*name]["saved"].as_f64().unwrap();
            let expected = bounds.expected.unwrap();
            println!(
                "log {log} policy {name}: actual {actual:6.1} predicted {expected:6.1} [{:.1}, {:.1}] of {chains}",
                bounds.pessimistic, bounds.optimistic
            );
            let chains = chains as f64;
            if !bounds.contains(actual, 0.025 * chains)
                || (expected - actual).abs() > 0.03 * chains
                || bounds.width() > 0.1 * chains
            {
                wrong.push(format!("{log}/{name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
