//! Stored bytes to everything: rows, summary, JSON, verify.
#![no_main]

use std::sync::Arc;

use dsh_forensics::archive::{ArchiveReader, Limits};
use dsh_forensics::discover::{Archive, ArchiveSource, Discovery};
use dsh_forensics::filter::Filters;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use dsh_forensics::report::json::ScanV1;
use dsh_forensics::summary::Summary;
use dsh_forensics::verify::verify_one;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { frame_bytes: 4 << 20, line_bytes: 1 << 20, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    let archive = Archive {
        source: ArchiveSource::Memory(Arc::from(bytes)),
        display: "session.jsonl".to_owned(),
        project: None,
        id_from_path: Some("fuzz".to_owned()),
        generation: 0,
        bytes: bytes.len() as u64,
        walked: false,
    };
    if let Ok(mut reader) = ArchiveReader::new() {
        verify_one(&mut reader, &archive, options, true);
    }
    let discovery = Discovery { archives: vec![archive], ..Discovery::default() };
    let dataset = read_all(discovery, options, &|_| {});
    let filters = Filters::default();
    let summary = Summary::of(&dataset, &filters, &[]);
    let _ = serde_json::to_string(&ScanV1::new(&dataset, &summary, &[]));
});
