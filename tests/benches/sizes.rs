//! What the size of every request costs as a log grows: 1, 10 and 100 times the length, in worlds that differ in how the
//! context grows and in what the provider reports. `cargo bench --bench sizes [NAME]`
//!
//! Linear means: the cost of a step is the same in a log of 100,000 steps as in one of 1,000. Every cell is read by a
//! process of its own, so that its peak memory is its own. `cargo bench --bench sizes -- write DIRECTORY` writes a large
//! log for `scan` and `failures` instead.

#![allow(clippy::unwrap_used)]

#[path = "sizes/long_log.rs"]
mod long_log;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cpu_time::ThreadTime;
use dsh_forensics::archive::{ArchiveReader, Limits};
use dsh_forensics::discover::{Archive, ArchiveSource};
use dsh_forensics::event::{Body, Decoder};
use dsh_forensics::pipeline::{ReadOptions, open, read_one};
use dsh_forensics::request::{RequestSizer, Sending};
use dsh_forensics::tokens::resolve;
use long_log::{Shape, WORLDS, write_log};

/// Steps of a log of length one.
const STEPS: u64 = 1_000;
const LENGTHS: [u64; 3] = [1, 10, 100];

/// What a process found out: CPU time of one reading, µs.
#[derive(Debug, Clone, Copy)]
struct Measured {
    /// Decompression and decoding alone.
    decode: f64,
    /// The same, and every message measured and every request sized.
    sized: f64,
    /// All rows of the session with the token estimates of failed attempts.
    whole: f64,
    peak_kb: f64,
}

fn archive(path: &Path) -> Archive {
    Archive {
        source: ArchiveSource::File(path.to_owned()),
        display: path.display().to_string(),
        project: None,
        id_from_path: None,
        generation: 0,
        bytes: std::fs::metadata(path).unwrap().len(),
        walked: false,
    }
}

/// Reads events and, with a sizer, measures messages and requests as the session builder does.
fn decode(path: &Path, mut sizer: Option<RequestSizer>) -> u64 {
    let mut input = open(&archive(path), Limits::default()).unwrap();
    let mut decoder = Decoder::new(128);
    let sending = Sending { provider: "gateway", model: "large", window: None, max_tokens: Some(4096), effort: None };
    let mut sum = 0;
    ArchiveReader::new().unwrap().read(&mut input, Limits::default(), &mut |line| {
        let Ok(event) = decoder.decode(line.bytes) else { return };
        sum += event.members;
        let Some(sizer) = &mut sizer else { return };
        match &event.body {
            Body::RequestHeader(header) => sizer.header(header),
            Body::Message(message) => sizer.message(message, event.seq),
            Body::Deltas { stream, .. } if stream.finish.is_some() => {
                sum += sizer.size(sending).body_bytes.unwrap_or(0);
            }
            _ => {}
        }
    });
    sum
}

fn whole(path: &Path) -> u64 {
    let mut reader = ArchiveReader::new().unwrap();
    let mut sessions: Vec<_> = read_one(&mut reader, &archive(path), ReadOptions::default()).rows.into_iter().collect();
    resolve(&mut sessions, &mut Vec::new());
    let failed = |a: &&dsh_forensics::session::AttemptRow| a.failure.is_some();
    let attempts = || sessions.iter().flat_map(|s| &s.attempts);
    assert!(
        attempts().filter(failed).all(|a| a.request.as_ref().is_some_and(|r| r.tokens.is_some())),
        "all have sizes"
    );
    attempts().filter(failed).count() as u64
}

/// Highest memory that this process has held, kB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Measures in this process, and prints what [`in_own_process`] reads. The three readings take turns, so that a drifting
/// clock rate meets all of them; what costs the same in every process (the tokenizer's vocabulary) is paid before.
fn measure(logs: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.zstd");
    write_log(&small, &WORLDS[WORLDS.len() - 1].1(STEPS / 10), u64::MAX - 1);
    let readings: [&dyn Fn(&Path) -> u64; 3] =
        [&|path| decode(path, None), &|path| decode(path, Some(RequestSizer::new(false))), &whole];
    let mut cpu = [Duration::ZERO; 3];
    for reading in readings {
        std::hint::black_box(reading(&small));
    }
    let mut paths: Vec<_> = std::fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in &paths {
        for (reading, cpu) in readings.iter().zip(&mut cpu) {
            let start = ThreadTime::now();
            std::hint::black_box(reading(path));
            *cpu += start.elapsed();
        }
    }
    let [decode, sized, whole] = cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / paths.len() as f64);
    println!("{decode} {sized} {whole} {}", peak_kb());
}

/// Of three processes the one that needed the least CPU time: other load on the machine only adds to it.
fn in_own_process(logs: &Path) -> Measured {
    let once = |_| {
        let output = Command::new(std::env::current_exe().unwrap()).arg("measure").arg(logs).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let [decode, sized, whole, peak_kb] = numbers.try_into().unwrap();
        Measured { decode, sized, whole, peak_kb }
    };
    (0..3).map(once).min_by(|a, b| (a.sized + a.whole).total_cmp(&(b.sized + b.whole))).unwrap()
}

fn world(name: &str, shape: &dyn Fn(u64) -> Shape) {
    let folder = tempfile::tempdir().unwrap();
    let mut first: Option<(f64, f64)> = None;
    for length in LENGTHS {
        let (logs, steps) = (folder.path().join(length.to_string()), STEPS * length);
        std::fs::create_dir(&logs).unwrap();
        let write = |number| write_log(&logs.join(format!("{number:02}.zstd")), &shape(steps), number);
        let largest = (0..(30 / length).max(1)).map(write).max().unwrap_or(0);
        let measured = in_own_process(&logs);
        let a_step = |micros: f64| micros / steps as f64;
        let (sizes, whole) = (a_step(measured.sized - measured.decode), a_step(measured.whole));
        let of_first = *first.get_or_insert((sizes, whole));
        println!(
            "{name:34} {steps:>7} {largest:>10} {:>9.1} {sizes:>9.1} {whole:>9.1} {:>9.0} {:>12.2} {:>12.2}",
            a_step(measured.decode),
            measured.peak_kb / 1_024.0,
            sizes / of_first.0,
            whole / of_first.1,
        );
        std::io::stdout().flush().unwrap();
    }
}

fn main() {
    let typed: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
    match typed.as_slice() {
        ["measure", logs] => measure(Path::new(logs)),
        ["write", folder] => {
            let path = long_log::write_large(Path::new(folder));
            println!("{}", path.display());
        }
        rest => {
            let only = rest.first().copied().unwrap_or_default();
            println!(
                "CPU time in µs a step; largest prompt in tokens; peak memory in MB; costs against the first length"
            );
            println!(
                "{:34} {:>7} {:>10} {:>9} {:>9} {:>9} {:>9} {:>12} {:>12}",
                "world", "steps", "prompt", "decode", "sizes", "whole", "peak", "sizes x", "whole x"
            );
            for (name, shape) in WORLDS.iter().filter(|(name, _)| name.contains(only)) {
                world(name, shape);
            }
        }
    }
}
