//! Hive-style partitions: `project=NAME/day=DATE`, names made safe for any file system.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use polars::prelude::{DataFrame, IdxCa, IdxSize, NamedFrom, PolarsResult};
use sha2::{Digest, Sha256};

/// What Hive and its readers take for "unknown".
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";
/// Longest encoded name, bytes; most file systems end at 255 for the whole name.
const LONGEST: usize = 200;

/// `key=VALUE`, the value percent-encoded as UTF-8 (RFC 3986 section 2.1) but for letters, digits, `.`, `_` and `-`.
/// A name too long for a directory is cut and ends in a part of its SHA-256, so that two of them stay apart.
pub(super) fn directory(key: &str, value: Option<&str>) -> String {
    let Some(value) = value else { return format!("{key}={UNKNOWN}") };
    let mut encoded = String::with_capacity(value.len() + 8);
    for (index, byte) in value.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        // The first byte of a project that is called like "unknown" is encoded, so that it is not taken for it.
        if plain && !(index == 0 && value == UNKNOWN) {
            encoded.push(byte as char);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    if encoded.len() > LONGEST {
        let hash = Sha256::digest(value.as_bytes());
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // Not inside an encoded character: its escapes are cut as a whole.
        let mut end = LONGEST - hash.len() - 1;
        while encoded.as_bytes()[end.saturating_sub(2)..end].contains(&b'%') {
            end -= 1;
        }
        encoded.truncate(end);
        encoded.push('~');
        encoded.push_str(&hash);
    }
    format!("{key}={encoded}")
}

/// Date of a moment in the zone; `None` where the time is unknown or beyond the calendar.
pub(super) fn day(time: Option<i64>, zone: &TimeZone) -> Option<String> {
    let moment = Timestamp::from_millisecond(time?).ok()?;
    Some(zone.to_datetime(moment).date().to_string())
}

/// Columns that tell the day of a row, the first that is known.
pub(super) fn time_columns(table: &str) -> &'static [&'static str] {
    match table {
        "sessions" => &["first_time_ms", "created_ms"],
        "turns" | "steps" | "compactions" => &["start_time_ms"],
        _ => &["time_ms"],
    }
}

/// Takes a frame apart by day; the rows of a day stay in order.
pub(super) fn by_day(
    table: &str,
    rows: DataFrame,
    zone: &TimeZone,
) -> PolarsResult<BTreeMap<Option<String>, DataFrame>> {
    let mut times: Vec<Option<i64>> = vec![None; rows.height()];
    for name in time_columns(table) {
        for (time, found) in times.iter_mut().zip(rows.column(name)?.i64()?.iter()) {
            *time = time.or(found);
        }
    }
    let mut indices: BTreeMap<Option<String>, Vec<IdxSize>> = BTreeMap::new();
    for (index, time) in times.into_iter().enumerate() {
        indices.entry(day(time, zone)).or_default().push(index as IdxSize);
    }
    if indices.len() == 1 {
        return Ok(indices.into_keys().map(|day| (day, rows.clone())).collect());
    }
    indices.into_iter().map(|(day, indices)| Ok((day, rows.take(&IdxCa::new("index".into(), indices))?))).collect()
}
