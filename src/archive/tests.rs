//! Frames made by hand (RFC 8878 section 3.1.1), lines over frame borders, and every kind of damage.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use super::{ArchiveReport, FrameExtent, Limits, frame_extent, read_archive};

const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

fn block(kind: u32, last: bool, size: u32) -> [u8; 3] {
    let header = size << 3 | kind << 1 | u32::from(last);
    [header as u8, (header >> 8) as u8, (header >> 16) as u8]
}

fn frame(text: &str) -> Vec<u8> {
    let mut compressor = Compressor::new(3).unwrap();
    compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    compressor.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
    compressor.compress(text.as_bytes()).unwrap()
}

/// Text that does not compress away, so that its frame has a long body.
fn noise(seed: u64, length: usize) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + (state >> 33) as u8 % 90)
    };
    (0..length).map(|_| next()).collect()
}

fn read(bytes: &[u8]) -> (Vec<String>, ArchiveReport) {
    read_within(bytes, Limits::default())
}

fn read_within(bytes: &[u8], limits: Limits) -> (Vec<String>, ArchiveReport) {
    let mut lines = Vec::new();
    let mut input = bytes;
    let report = read_archive(&mut input, limits, &mut |line| {
        lines.push(String::from_utf8_lossy(line.bytes).into_owned());
    })
    .unwrap();
    (lines, report)
}

fn kinds(report: &ArchiveReport) -> Vec<&'static str> {
    report.damage.iter().map(|d| d.kind).collect()
}

#[test]
fn a_frame_ends_where_its_blocks_end() {
    // Window descriptor 0 is 1 KiB; one raw block of 3 bytes, one repeated byte, no checksum.
    let mut bytes = [&MAGIC[..], &[0x00, 0x00]].concat();
    bytes.extend(block(0, false, 3));
    bytes.extend(b"abc");
    bytes.extend(block(1, true, 200));
    bytes.extend(b"x");
    let whole = bytes.len();
    bytes.extend(b"whatever follows");
    assert_eq!(
        frame_extent(&bytes),
        FrameExtent::Complete { stored: whole, bound: 203, window: 1024, checksum: false }
    );
    for cut in 0..whole {
        assert_eq!(frame_extent(&bytes[..cut]), FrameExtent::Incomplete, "cut at {cut}");
    }
}

#[test]
fn a_checksum_and_a_content_size_belong_to_the_frame() {
    // Single segment, content size of one byte (4), checksum.
    let mut bytes = [&MAGIC[..], &[0x24, 4]].concat();
    bytes.extend(block(0, true, 4));
    bytes.extend(b"data");
    bytes.extend([9, 9, 9, 9]);
    let whole = bytes.len();
    assert_eq!(frame_extent(&bytes), FrameExtent::Complete { stored: whole, bound: 4, window: 4, checksum: true });
    assert_eq!(frame_extent(&bytes[..whole - 1]), FrameExtent::Incomplete);
}

#[test]
fn a_claimed_content_size_reserves_no_more_than_the_blocks_can_hold() {
    // Content size of eight bytes: 1 TiB claimed, one byte present.
    let mut bytes = [&MAGIC[..], &[0xE0]].concat();
    bytes.extend((1u64 << 40).to_le_bytes());
    bytes.extend(block(0, true, 1));
    bytes.extend(b"x");
    let FrameExtent::Complete { bound, window, .. } = frame_extent(&bytes) else {
        panic!("{:?}", frame_extent(&bytes))
    };
    assert_eq!((bound, window), (1, 1 << 40));
    let (lines, report) = read(&bytes);
    assert_eq!((lines.len(), kinds(&report)), (0, vec!["limit"]));
}

#[test]
fn what_is_no_frame_is_told_apart_from_what_is_not_there_yet() {
    assert_eq!(frame_extent(b""), FrameExtent::Incomplete);
    assert_eq!(frame_extent(&MAGIC[..3]), FrameExtent::Incomplete);
    assert!(matches!(frame_extent(b"text, and more of it"), FrameExtent::Invalid(_)));
    assert!(matches!(frame_extent(b"te"), FrameExtent::Invalid(_)));
    let reserved_bit = [&MAGIC[..], &[0x08, 0, 1, 0, 0]].concat();
    assert!(matches!(frame_extent(&reserved_bit), FrameExtent::Invalid(_)));
    let reserved_block = [&MAGIC[..], &[0, 0], &block(3, true, 1)].concat();
    assert!(matches!(frame_extent(&reserved_block), FrameExtent::Invalid(_)));
    let oversized = [&MAGIC[..], &[0, 0], &block(2, true, 200_000)].concat();
    assert!(matches!(frame_extent(&oversized), FrameExtent::Invalid(_)));
}

#[test]
fn skippable_frames_are_passed_over() {
    let mut skippable = vec![0x53, 0x2A, 0x4D, 0x18, 5, 0, 0, 0];
    skippable.extend(b"12345");
    assert_eq!(frame_extent(&skippable), FrameExtent::Skippable { stored: 13 });
    assert_eq!(frame_extent(&skippable[..12]), FrameExtent::Incomplete);
    let (lines, report) = read(&[&skippable[..], &frame("one\n"), &skippable, &frame("two\n")].concat());
    assert_eq!(lines, ["one", "two"]);
    assert_eq!((report.frames, kinds(&report)), (2, vec![]));
}

#[test]
fn lines_may_cross_frame_borders() {
    let (lines, report) = read(&[frame("one\ntw"), frame("o\nthr"), frame("ee\n")].concat());
    assert_eq!(lines, ["one", "two", "three"]);
    assert_eq!((report.frames, report.bytes_logical, report.first_frame_lines), (3, 14, 1));
    assert!(report.damage.is_empty());
}

#[test]
fn a_torn_last_frame_gives_its_whole_lines() {
    let long = frame(&format!("{}\n{}\n", noise(1, 200_000), noise(2, 200_000)));
    let bytes = [frame("head\n"), long.clone()].concat();
    let (lines, report) = read(&bytes[..bytes.len() - 1000]);
    assert_eq!(lines.len(), 2, "the head and the first long line");
    assert_eq!(lines[1].len(), 200_000);
    assert_eq!((kinds(&report), report.torn_frame_lines), (vec!["torn-frame"], 1));
    assert_eq!(report.torn_bytes, long.len() as u64 - 1000);
    assert!(report.is_torn() && !report.is_corrupt());
}

#[test]
fn a_flipped_bit_costs_one_frame() {
    let frames: Vec<Vec<u8>> = (0..5u64).map(|n| frame(&format!("{n}{}\n", noise(n, 400)))).collect();
    let start = frames[0].len() + frames[1].len();
    for position in [12, frames[2].len() / 2, frames[2].len() - 2] {
        let mut bytes = frames.concat();
        bytes[start + position] ^= 0x10;
        let (lines, report) = read(&bytes);
        let firsts: String = lines.iter().map(|l| &l[..1]).collect();
        assert_eq!(firsts, "0134", "flipped at {position}");
        assert_eq!(kinds(&report), ["corrupt-frame"], "flipped at {position}");
        assert_eq!((report.damage[0].offset, report.damage[0].frame), (start as u64, Some(2)));
        assert!(report.is_corrupt() && !report.is_torn());
    }
}

#[test]
fn garbage_between_frames_is_stepped_over() {
    let (lines, report) = read(&[frame("one\n"), b"garbage".to_vec(), frame("two\n")].concat());
    assert_eq!((lines, kinds(&report)), (vec!["one".to_owned(), "two".to_owned()], vec!["corrupt-frame"]));
    assert_eq!(report.damage[0].bytes, 7);
}

#[test]
fn nul_bytes_at_the_end_are_a_lost_block_and_no_corruption() {
    let (lines, report) = read(&[frame("one\n"), vec![0; 4096]].concat());
    assert_eq!((lines, kinds(&report)), (vec!["one".to_owned()], vec!["nul-run"]));
    assert_eq!((report.damage[0].bytes, report.is_corrupt()), (4096, false));
    let (lines, report) = read(b"one\n\0\0\0\0");
    assert_eq!((lines, kinds(&report)), (vec!["one".to_owned()], vec!["nul-run"]));
}

#[test]
fn nul_bytes_inside_a_plain_log_cost_the_line_they_cut() {
    let (lines, report) = read(b"one\ntw\0\0\0{three}\nfour\n");
    assert_eq!(lines, ["one", "{three}", "four"]);
    assert_eq!((kinds(&report), report.damage[0].line), (vec!["nul-run"], Some(2)));
}

#[test]
fn a_plain_log_of_other_editors_is_read() {
    let (lines, report) = read(b"\xEF\xBB\xBFone\r\n\r\ntwo\r\nthree\r\n");
    assert_eq!(lines, ["one", "two", "three"]);
    assert_eq!(kinds(&report), ["bom", "crlf"]);
    assert!(!report.is_corrupt() && !report.is_torn());
}

#[test]
fn a_plain_last_line_without_newline_is_torn_and_not_counted() {
    let (lines, report) = read(b"one\ntwo");
    assert_eq!((lines, kinds(&report), report.torn_bytes), (vec!["one".to_owned()], vec!["torn-line"], 3));
    assert_eq!(report.damage[0].offset, 4);
}

#[test]
fn an_overlong_line_is_a_notice_and_the_rest_is_read() {
    let limits = Limits { line_bytes: 8, ..Limits::default() };
    for bytes in [b"one\n123456789\ntwo\n".to_vec(), [frame("one\n12345"), frame("6789\ntwo\n")].concat()] {
        let (lines, report) = read_within(&bytes, limits);
        assert_eq!((lines, kinds(&report)), (vec!["one".to_owned(), "two".to_owned()], vec!["limit"]));
        assert_eq!(report.damage[0].bytes, 9);
    }
}

#[test]
fn a_frame_that_grows_beyond_the_limit_is_stopped() {
    let bomb = frame(&"0".repeat(6 << 20));
    assert!(bomb.len() < 4096, "{} bytes", bomb.len());
    let limits = Limits { frame_bytes: 5 << 20, ..Limits::default() };
    let (_, report) = read_within(&[bomb, frame("\nafter\n")].concat(), limits);
    assert!(kinds(&report).contains(&"limit"), "{:?}", kinds(&report));
    assert!(report.is_corrupt());
}

#[test]
fn an_empty_archive_has_no_lines_and_no_damage() {
    let (lines, report) = read(b"");
    assert_eq!((lines.len(), report.damage.len(), report.bytes_compressed), (0, 0, 0));
}

proptest! {
    #[test]
    fn no_bytes_make_the_frame_walk_panic_or_run_past_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let framed = [&MAGIC[..], &bytes].concat();
        for candidate in [&bytes, &framed] {
            if let FrameExtent::Complete { stored, .. } | FrameExtent::Skippable { stored } = frame_extent(candidate) {
                prop_assert!(stored <= candidate.len());
            }
            let (_, report) = read(candidate);
            prop_assert_eq!(report.bytes_compressed, candidate.len() as u64);
        }
    }

    #[test]
    fn any_split_into_frames_gives_the_same_lines(text in "[a-c\n]{0,60}", cut in 0usize..60) {
        let cut = cut.min(text.len());
        let (plain, _) = read(text.as_bytes());
        let (framed, _) = read(&[frame(&text[..cut]), frame(&text[cut..])].concat());
        prop_assert_eq!(plain, framed);
    }
}
