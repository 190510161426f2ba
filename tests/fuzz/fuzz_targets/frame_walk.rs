//! Stored bytes: frames end where their headers say, and reading ends.
#![no_main]

use dsh_forensics::archive::{FrameExtent, Limits, frame_extent, read_archive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let FrameExtent::Complete { stored, .. } | FrameExtent::Skippable { stored } = frame_extent(bytes) {
        assert!(stored > 0 && stored <= bytes.len());
    }
    let limits = Limits { frame_bytes: 4 << 20, line_bytes: 1 << 20, ..Limits::default() };
    let mut last = 0;
    let mut input = bytes;
    let report = read_archive(&mut input, limits, &mut |line| {
        assert!(line.place.line >= last);
        last = line.place.line;
    });
    if let Ok(report) = report {
        assert_eq!(report.bytes_compressed, bytes.len() as u64);
    }
});
