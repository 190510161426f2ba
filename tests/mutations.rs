//! Random damage, seeded: whatever the bytes are, reading ends, in time and without a panic. `MUTATION_SECONDS=600` runs it
//! for longer; a failing input is kept in the target directory and belongs into `testdata/crashes/`, which is read first.

#![allow(clippy::unwrap_used)] // A test that cannot set itself up has failed.

#[path = "support/broken.rs"]
mod broken;
#[path = "support/logs.rs"]
mod logs;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dsh_forensics::archive::{ArchiveReader, Limits};
use dsh_forensics::charts::Charts;
use dsh_forensics::discover::{Discovery, discover};
use dsh_forensics::filter::Filters;
use dsh_forensics::findings;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::report::findings::Found;
use dsh_forensics::report::json::ScanV1;
use dsh_forensics::report::lang::Language;
use dsh_forensics::report::{failures, html, scan, verify as verify_report};
use dsh_forensics::summary::Summary;
use dsh_forensics::verify::{verify_all, verify_one};
use logs::archive;

/// SplitMix64 (Steele, Lea, Flood 2014): enough for tests, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn options() -> ReadOptions {
    // Small limits, so that they are hit too.
    let limits = Limits { frame_bytes: 4 << 20, line_bytes: 1 << 20, buffered_bytes: 16 << 20, ..Limits::default() };
    ReadOptions { limits, ..ReadOptions::default() }
}

/// Everything a user can make of an archive.
fn exercise(discovery: Discovery) {
    let archives: Vec<_> = discovery.archives.iter().cloned().map(|a| (a, false)).collect();
    let verified = verify_all(&archives, options(), true);
    verify_report::ndjson(&verified).unwrap();
    verify_report::page(&verified, &discovery.notices, Language::Chinese);
    let dataset = read_all(discovery, options(), &|_| {});
    let filters = Filters::default();
    let summary = Summary::of(&dataset, &filters, &["8ev".parse().unwrap(), "60s".parse().unwrap()]);
    let verdicts = dsh_forensics::evidence::Verdicts::of(&dataset.sessions);
    let context = findings::Context::new(&dataset, &summary, &verdicts, &filters);
    let headline = findings::headline::of(&context);
    let found = findings::find_all(&context, &findings::Selection::default());
    serde_json::to_string(&ScanV1::new(&dataset, &summary, &found)).unwrap();
    let found = Found { headline, findings: found, in_full: true };
    let charts = Charts::of(&dataset.sessions, &filters);
    let utc = jiff::tz::TimeZone::UTC;
    let page = scan::page(&dataset, &summary, &found, &charts, &utc, false, Language::Chinese);
    let meta = html::Meta::of(&dataset, "scan", "", &utc);
    assert!(html::render(&page, &meta, Language::Chinese).len() < html::MOST_BYTES);
    let rows = failures::rows(&dataset, &filters, &verdicts);
    failures::ndjson(&rows).unwrap();
    failures::page(&rows, &charts, None, false, &jiff::tz::TimeZone::UTC, Language::English);
}

fn exercise_bytes(bytes: &[u8]) {
    exercise(Discovery { archives: vec![archive(bytes)], ..Discovery::default() });
}

fn exercise_zip(bytes: &[u8], directory: &Path) {
    let path = directory.join("mutated.zip");
    std::fs::write(&path, bytes).unwrap();
    exercise(discover(&[path], options().limits));
}

const TOKENS: [&[u8]; 16] = [
    b"0",
    b"-1",
    b"18446744073709551615",
    b"9223372036854775807",
    b"1e308",
    b"null",
    b"[]",
    b"{}",
    b"\"\\ud800\"",
    b"\n",
    b"\0\0\0\0",
    b"\xEF\xBB\xBF",
    b"{\"type\":\"session\",",
    b"\x28\xB5\x2F\xFD",
    b"\x50\x2A\x4D\x18\x10\x00\x00\x00",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..1 + dice.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len());
        let length = 1 + dice.below(64.min(bytes.len() - at));
        match dice.below(9) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let piece = bytes[at..at + length].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes[at..at + length].fill(0),
            6 => {
                let from = dice.below(other.len());
                let until = (from + 1 + dice.below(400)).min(other.len());
                bytes.splice(at..at, other[from.min(until)..until].iter().copied());
            }
            7 => {
                let token = TOKENS[dice.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            _ => {
                // A whole number somewhere behind `at` becomes another token.
                let digits = |b: &u8| b.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digits).map(|p| at + p) {
                    let end = bytes[start..].iter().position(|b| !digits(b)).map_or(bytes.len(), |p| start + p);
                    let token = TOKENS[dice.below(9)];
                    bytes.splice(start..end, token.iter().copied());
                }
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = broken::all().into_iter().flat_map(|b| b.files).map(|f| f.1).collect();
    let v0 = logs::events(&logs::small_plan(), 0);
    seeds.push(logs::compressed(&logs::header(0), &logs::packed_lines(&v0), &[3]));
    seeds.push(logs::compressed(&logs::header(3), &logs::lines(&logs::events(&logs::small_plan(), 3)), &[3]));
    seeds
}

/// The text of a log in frames, so that damage reaches the lines behind a valid checksum.
fn reframed(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    for piece in bytes.chunks(1 + dice.below(2000)) {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

fn crash_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("crashes")
}

#[test]
fn random_damage_never_ends_the_program() {
    let seconds = std::env::var("MUTATION_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    let seed = std::env::var("MUTATION_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    let end = Instant::now() + Duration::from_secs(seconds);
    let seeds = seeds();
    let zip = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo.zip")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut dice = Dice(seed);
    let mut rounds = 0u64;
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        rounds += 1;
        let as_zip = rounds.is_multiple_of(64);
        let mut bytes = if as_zip { zip.clone() } else { seeds[dice.below(seeds.len())].clone() };
        let other = &seeds[dice.below(seeds.len())];
        mutate(&mut bytes, other, &mut dice);
        if !as_zip && dice.below(3) == 0 {
            bytes = reframed(&bytes, &mut dice);
        }
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if as_zip { exercise_zip(&bytes, directory.path()) } else { exercise_bytes(&bytes) }
        }));
        let took = begin.elapsed();
        slowest = slowest.max(took);
        if outcome.is_err() || took > Duration::from_secs(10) {
            std::fs::create_dir_all(crash_directory()).unwrap();
            let path = crash_directory().join(format!("seed-{seed}-round-{rounds}"));
            std::fs::write(&path, &bytes).unwrap();
            panic!("round {rounds} of seed {seed} panicked or took {took:?}; its input is {}", path.display());
        }
    }
    println!("{rounds} rounds, slowest {slowest:?}");
    assert!(rounds > 10);
}

#[test]
fn inputs_that_once_crashed_are_read() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/crashes");
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        exercise_bytes(&std::fs::read(entry.unwrap().path()).unwrap());
    }
}

/// Places that look like frames, in a file without one: the search for the next frame must not be quadratic.
#[test]
fn hostile_searches_end_in_time() {
    let magic = [0x28, 0xB5, 0x2F, 0xFD];
    let head = logs::frame(&format!("{}\n", logs::header(0)));
    // Each seems to begin a frame of empty blocks that reaches to the end.
    let empty_blocks: Vec<u8> = [&magic[..], &[0x04, 0x58]].concat().repeat(100_000);
    // Each seems to begin a frame of one raw block that holds all the others, with a checksum that is wrong.
    let size = 100_000u32;
    let raw = (size << 3 | 1).to_le_bytes();
    let raw_blocks: Vec<u8> = [&magic[..], &[0x04, 0x58], &raw[..3], &[7; 55]].concat().repeat(60_000);
    for tail in [[empty_blocks, vec![0; 8 << 20]].concat(), raw_blocks] {
        let bytes = [head.clone(), b"broken".to_vec(), tail].concat();
        let begin = Instant::now();
        let mut reader = ArchiveReader::new().unwrap();
        let verified = verify_one(&mut reader, &archive(&bytes), ReadOptions::default(), false).unwrap();
        assert!(verified.is_damaged());
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}
