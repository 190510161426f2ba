//! Rebuilt request bodies against what a server recorded, byte for byte.
#![allow(clippy::unwrap_used)] // A test that cannot set itself up has failed.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use dsh_forensics::archive::Limits;
use dsh_forensics::discover::discover;
use dsh_forensics::request::{Wanted, rebuild};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Hashes of the recorded agent requests by session id, in order.
fn recorded_requests(folder: &Path) -> BTreeMap<String, Vec<(String, u64)>> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let recorder: Value = serde_json::from_str(&read("recorder.json")).unwrap();
    let ids: BTreeMap<String, String> = recorder["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["label"].as_str().unwrap().to_owned(), s["id"].as_str().unwrap().to_owned()))
        .collect();
    let mut requests: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    // Lines stand in the order in which answers ended; `n` is the order of arrival.
    let mut lines: Vec<Value> = read("truth.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.sort_by_key(|line| line["n"].as_u64());
    for line in lines {
        if line["lane"] == "agent" {
            let id = &ids[line["session"].as_str().unwrap()];
            let request = (line["req_sha256"].as_str().unwrap().to_owned(), line["req_bytes"].as_u64().unwrap());
            requests.entry(id.clone()).or_default().push(request);
        }
    }
    requests
}

/// Every attempt's body is among the recorded ones, in their order. Requests without a trace in the log (cancelled before
/// the first chunk) are passed over.
fn compare(folder: &Path, sessions: &Path, version: &str) -> (u64, u64) {
    let requests = recorded_requests(folder);
    let discovery = discover(&[sessions.to_path_buf()], Limits::default());
    let (mut equal, mut all) = (0, 0);
    for archive in &discovery.archives {
        let (rows, rebuilt) = rebuild(archive, Limits::default(), Wanted::All).unwrap();
        let Some(recorded) = requests.get(&rows.id) else { continue };
        let mut position = 0;
        for request in &rebuilt {
            all += 1;
            let hash = sha256(&request.body);
            let size = rows.attempts[request.ordinal as usize].request.as_ref().unwrap().body_bytes;
            assert_eq!(size, Some(request.body.len() as u64), "measured and rebuilt sizes differ");
            match recorded[position..].iter().position(|(h, bytes)| *h == hash && *bytes == request.body.len() as u64) {
                Some(found) => {
                    position += found + 1;
                    equal += 1;
                }
                None => eprintln!("{version} {} {} attempt {} differs", folder.display(), rows.id, request.ordinal),
            }
        }
    }
    (equal, all)
}

#[test]
fn every_recorded_request_is_rebuilt_byte_for_byte() {
    let Some(corpus) = support::recorded("corpus") else { return };
    let (mut equal, mut all) = (0, 0);
    for entry in std::fs::read_dir(&corpus).unwrap() {
        let folder = entry.unwrap().path();
        // Truncated and resumed copies carry the truth of another recording.
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.join("truth.jsonl").is_file() || name.starts_with("10") {
            continue;
        }
        let (e, a) = compare(&folder, &folder.join("sessions"), "v0");
        equal += e;
        all += a;
        for version in ["v1", "v2", "v3", "v4"] {
            let sessions = corpus.join("../formats").join(&name).join(version).join("sessions");
            if sessions.is_dir() {
                let (e, a) = compare(&folder, &sessions, version);
                equal += e;
                all += a;
            }
        }
    }
    println!("{equal} of {all} bodies are equal");
    assert!(all > 3_000, "only {all} requests seen");
    assert_eq!(equal, all);
}
