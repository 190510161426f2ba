//! CPU time of a scan against pure decompression of the same files: one thread, recorded packed v0 logs (the demo's),
//! in memory, so that neither disk nor scheduling is measured. `cargo bench --bench scan`
//!
//! A harness of its own: the known ones measure wall time, which says little on a shared machine.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use cpu_time::ThreadTime;
use dsh_forensics::archive::{ArchiveReader, FrameExtent, Limits, frame_extent};
use dsh_forensics::demo;
use dsh_forensics::discover::{Archive, ArchiveSource, discover};
use dsh_forensics::pipeline::{ReadOptions, read_one};

/// Logical bytes a world is filled up to by copies, so that every run lasts long enough to measure.
const STORED: u64 = 12_000_000;

/// Copies of some archives, in memory.
fn copies(archives: Vec<Archive>) -> Vec<Archive> {
    let once: u64 = archives.iter().map(|a| a.bytes).sum();
    let count = usize::try_from(STORED.div_ceil(once.max(1))).unwrap();
    std::iter::repeat_n(archives, count).flatten().collect()
}

/// The recorded packed v0 logs below a folder (small frames), those without failures apart.
fn recorded(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Archive> {
    let found = discover(&[folder.to_owned()], Limits::default()).archives;
    let small_frames = |a: &Archive| wanted(&a.display) && a.display.ends_with(".zstd");
    let mut kept: Vec<Archive> = found.into_iter().filter(small_frames).collect();
    for archive in &mut kept {
        if let ArchiveSource::File(path) = &archive.source {
            archive.source = ArchiveSource::Memory(std::fs::read(path).unwrap().into());
        }
    }
    kept
}

fn worlds() -> Vec<(&'static str, Vec<Archive>)> {
    let mut worlds = vec![("demo: every session fails", demo::discovery().archives)];
    let corpus = std::env::var_os("DSH_FORENSICS_RECORDED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
        .join("corpus");
    // 07c and 10c hold frames of up to 1 MB; 01d is not packed.
    let other = |path: &str| ["/07c", "/10c", "/10g", "/01d"].iter().any(|f| path.contains(f));
    if corpus.is_dir() {
        worlds.push(("recorded tree", recorded(&corpus, |p| !other(p))));
        worlds.push(("recorded, clean sessions", recorded(&corpus, |p| p.contains("/01a"))));
        worlds.push(("recorded, one long session", recorded(&corpus, |p| p.contains("/12a"))));
    }
    worlds.into_iter().map(|(name, archives)| (name, copies(archives))).collect()
}

fn bytes_of(archive: &Archive) -> &[u8] {
    match &archive.source {
        ArchiveSource::Memory(bytes) => bytes,
        other => unreachable!("the demo is in memory, not {other:?}"),
    }
}

fn decompress(archives: &[Archive]) -> usize {
    let mut context = zstd::bulk::Decompressor::new().unwrap();
    let mut decoded: Vec<u8> = Vec::new();
    let mut total = 0;
    for archive in archives {
        let mut rest = bytes_of(archive);
        while let FrameExtent::Complete { stored, bound, .. } = frame_extent(rest) {
            decoded.clear();
            decoded.reserve(usize::try_from(bound).unwrap());
            total += context.decompress_to_buffer(&rest[..stored], &mut decoded).unwrap();
            rest = &rest[stored..];
        }
    }
    total
}

fn scan(archives: &[Archive]) -> u64 {
    let mut reader = ArchiveReader::new().unwrap();
    archives.iter().map(|a| read_one(&mut reader, a, ReadOptions::default()).rows.map_or(0, |r| r.events)).sum()
}

/// CPU time of the calling thread in `work`: other load on the machine does not count.
fn cpu_time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = ThreadTime::now();
    std::hint::black_box(work());
    start.elapsed()
}

/// Both in turn, A B A B …, so that a drifting clock rate meets both; the medians are what to quote.
fn main() {
    const RUNS: usize = 11;
    let only = std::env::args().nth(1).filter(|a| !a.starts_with("--")).unwrap_or_default();
    println!(
        "{:28} {:>7} {:>8} {:>10} {:>10} {:>7} {:>14}",
        "world", "MB", "B/frame", "decompress", "scan", "ratio", "least to most"
    );
    for (name, archives) in worlds().into_iter().filter(|(name, _)| name.contains(&only)) {
        let stored: u64 = archives.iter().map(|a| a.bytes).sum();
        let frames: usize = archives.iter().map(frames).sum();
        let (mut plain, mut whole, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            plain.push(cpu_time(|| decompress(&archives)));
            whole.push(cpu_time(|| scan(&archives)));
            ratios.push(whole[whole.len() - 1].as_secs_f64() / plain[plain.len() - 1].as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        plain.sort();
        whole.sort();
        println!(
            "{name:28} {:>7.1} {:>8} {:>10.1?} {:>10.1?} {:>7.2} {:>6.2} to {:>4.2}",
            stored as f64 / 1e6,
            stored as usize / frames.max(1),
            plain[RUNS / 2],
            whole[RUNS / 2],
            ratios[RUNS / 2],
            ratios[0],
            ratios[RUNS - 1]
        );
    }
}

fn frames(archive: &Archive) -> usize {
    let (mut rest, mut count) = (bytes_of(archive), 0);
    while let FrameExtent::Complete { stored, .. } = frame_extent(rest) {
        rest = &rest[stored..];
        count += 1;
    }
    count
}
