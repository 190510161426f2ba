//! Time of a large what-if: 100,000 chains under 20 policies in 200 draws. `cargo bench --bench what_if`
//!
//! Prints wall time and the CPU time of the whole process; on a shared machine only the second says much.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use cpu_time::ProcessTime;
use dsh_forensics::policy::parse_candidate;
use dsh_forensics::session::Route;
use dsh_forensics::simulate::chains::{Chain, Recorded};
use dsh_forensics::simulate::engine::{Assume, EngineOptions, RoutedCandidate, fit_routes, simulate};
use dsh_forensics::simulate::evidence::{Codes, CompactionEvidence, FailureRecord, RouteEvidence, SessionEvidence};
use dsh_forensics::simulate::probes::{Probe, episodes};
use dsh_forensics::stats::SeededRng;

const CHAINS: usize = 100_000;
const DRAWS: u64 = 200;

const EDITS: [&str; 20] = [
    "none",
    "retry CONTEXT_WINDOW_EXCEEDED",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 1",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 2",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 3",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 7",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 10",
    "retry CONTEXT_WINDOW_EXCEEDED + maxRetries 20",
    "retry CONTEXT_WINDOW_EXCEEDED + maxDelayMs 2s",
    "retry CONTEXT_WINDOW_EXCEEDED + maxDelayMs 30s",
    "retry CONTEXT_WINDOW_EXCEEDED + initialDelayMs 100",
    "retry CONTEXT_WINDOW_EXCEEDED + initialDelayMs 2s",
    "mode always",
    "mode always + maxDelayMs 2s",
    "gateway-503",
    "gateway-503 + maxRetries 10",
    "gateway-503 + jitter full",
    "gateway-503 + jitter equal",
    "gateway-503 + time-budget 5m",
    "evidence-guard 0.5",
];

/// One route, a request every 300 ms on average, down one second in six.
fn evidence(codes: &mut Codes) -> RouteEvidence {
    let mut rng = SeededRng::new(7);
    let overflow = codes.id("CONTEXT_WINDOW_EXCEEDED");
    let (mut probes, mut records, mut chains) = (Vec::new(), Vec::new(), Vec::new());
    let (mut time, mut down, mut switch) = (0.0, false, 5000.0);
    while chains.len() < CHAINS {
        time += rng.uniform_between(0.0, 600.0);
        while time > switch {
            down = !down;
            switch += if down { rng.uniform_between(200.0, 3000.0) } else { rng.uniform_between(1000.0, 14_000.0) };
        }
        let session = rng.below(64).unwrap() as u32;
        probes.push(Probe::new(time, !down, session));
        if !down {
            continue;
        }
        let record = FailureRecord {
            time_ms: time,
            code: overflow,
            retry_after_ms: None,
            hidden_retry_after_ms: None,
            bodyless: true,
            duration_ms: rng.uniform_between(4.0, 25.0),
        };
        records.push(record);
        chains.push(Chain {
            session,
            recorded: Recorded::FailedTurn,
            arrival_ms: time,
            failed_ms: time + record.duration_ms,
            record,
            at_fault: false,
            contested: false,
            bad_from_ms: f64::INFINITY,
            bad_record: record,
            evidence_end_ms: f64::INFINITY,
            tokens: Some(9000),
            fill: Some(0.1),
            compaction_mounted: false,
        });
    }
    chains.sort_by(|a, b| a.failed_ms.total_cmp(&b.failed_ms));
    let place = |time: f64| records.partition_point(|record: &FailureRecord| record.time_ms <= time) as u32;
    RouteEvidence {
        route: Route::default(),
        record_places: chains.iter().map(|chain| place(chain.failed_ms)).collect(),
        episodes: episodes(&probes),
        last_probe_ms: time,
        probes,
        records,
        promises: Vec::new(),
        longest_retry_after_ms: 0.0,
        chains,
        sessions: vec![SessionEvidence::default(); 64],
        onset_rate: 0.0,
        contested: 0,
        unplayed: 0,
        compaction: CompactionEvidence { done_ms: 200.0, failed_ms: 20.0, destroyed_tokens: 0.0 },
    }
}

fn main() {
    let mut codes = Codes::default();
    let evidence = evidence(&mut codes);
    let end = evidence.last_probe_ms;
    println!("{} probes, {} chains, {} policies, {DRAWS} draws", evidence.probes.len(), CHAINS, EDITS.len());
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let routes = fit_routes(vec![evidence]);
    println!("fit: wall {:.1} s, CPU {:.1} s", wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let candidates: Vec<RoutedCandidate> = EDITS
        .iter()
        .map(|edit| RoutedCandidate {
            by_route: vec![parse_candidate(&format!("dsh-default + {edit}"), &|_| None).unwrap()],
        })
        .collect();
    let options = EngineOptions { draws: DRAWS, seed: 1, assume: Assume::Model, archive_end_ms: end };
    let results = simulate(&routes, &codes, &candidates, options);
    println!("all: wall {:.1} s, CPU {:.1} s", wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let plays = (CHAINS * EDITS.len()) as f64 * DRAWS as f64;
    println!("{:.0} ns of CPU per chain played", 1e9 * cpu.elapsed().as_secs_f64() / plays);
    let attempts: u64 = results.iter().flat_map(|result| &result.tallies).map(|tally| tally.attempts).sum();
    println!("{attempts} attempts played");
}
