//! A zip as people attach it to bug reports: entries, ratios, names.
#![no_main]

use dsh_forensics::archive::Limits;
use dsh_forensics::discover::discover;
use dsh_forensics::pipeline::{ReadOptions, read_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { buffered_bytes: 16 << 20, zip_entries: 64, ..Limits::default() };
    let Ok(file) = tempfile::NamedTempFile::new() else { return };
    if std::fs::write(file.path(), [b"PK\x03\x04", bytes].concat()).is_err() {
        return;
    }
    let discovery = discover(&[file.path().to_path_buf()], limits);
    read_all(discovery, ReadOptions { limits, ..ReadOptions::default() }, &|_| {});
});
