//! CPU time of a scan against pure decompression of the same files: one thread, recorded packed v0 logs (the demo's),
//! in memory, so that neither disk nor scheduling is measured. `cargo bench --bench scan`
//!
//! A harness of its own: the known ones measure wall time, which says little on a shared machine.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use cpu_time::ThreadTime;
use dsh_forensics::archive::{ArchiveReader, FrameExtent, frame_extent};
use dsh_forensics::demo;
use dsh_forensics::discover::{Archive, ArchiveSource};
use dsh_forensics::pipeline::{ReadOptions, read_one};

const COPIES: usize = 20;

fn archives() -> Vec<Archive> {
    let packed = demo::discovery().archives;
    std::iter::repeat_n(packed, COPIES).flatten().collect()
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
    const RUNS: usize = 21;
    let archives = archives();
    let stored: u64 = archives.iter().map(|a| a.bytes).sum();
    let mut times = [Vec::new(), Vec::new()];
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let plain = cpu_time(|| decompress(&archives));
        let whole = cpu_time(|| scan(&archives));
        ratios.push(whole.as_secs_f64() / plain.as_secs_f64());
        times[0].push(plain);
        times[1].push(whole);
    }
    ratios.sort_by(f64::total_cmp);
    for (name, mut runs) in ["decompress frame by frame", "scan"].into_iter().zip(times) {
        runs.sort();
        let median = runs[RUNS / 2];
        println!(
            "{name:26} {median:>10.2?} CPU median of {RUNS}, {:.0} MB/s stored",
            stored as f64 / 1e6 / median.as_secs_f64()
        );
    }
    println!(
        "scan / decompress          {:>10.2} median, {:.2} to {:.2}",
        ratios[RUNS / 2],
        ratios[0],
        ratios[RUNS - 1]
    );
}
