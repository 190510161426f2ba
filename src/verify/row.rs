//! One storage line as strictly as the harness takes it apart when it loads a log.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::Text;

/// Largest integer that JavaScript keeps exact.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A line that the harness accepts as one event, or as a packed row of several.
#[derive(Debug)]
pub(super) struct StorageRow {
    pub(super) kind: String,
    pub(super) seq: Option<f64>,
    pub(super) members: u64,
    pub(super) ignorable: bool,
    /// Keys beside those of the event envelope, or one of them missing or of the wrong type.
    pub(super) odd_envelope: bool,
    pub(super) turn: Option<f64>,
}

#[derive(Deserialize)]
struct TurnOf {
    turn: Option<f64>,
}

/// Takes a line apart; `None` where the harness would call it unparsable.
pub(super) fn storage_row(line: &str) -> Option<StorageRow> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).ok()?;
    let number = |key: &str| fields.get(key).and_then(|raw| raw.get().parse::<f64>().ok());
    let kind = fields.get("type").and_then(|raw| serde_json::from_str::<Text>(raw.get()).ok())?.0;
    if matches!(kind.as_str(), "text-chunks" | "reasoning-chunks" | "tool-call-chunks") {
        let members = packed_members(&kind, &fields)?;
        return Some(StorageRow {
            kind: "assistant/chunk".to_owned(),
            seq: number("seq0"),
            members,
            ignorable: false,
            odd_envelope: false,
            turn: None,
        });
    }
    let known = ["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"];
    let odd_envelope = fields.keys().any(|key| !known.contains(&key.as_str()))
        || !number("seq").is_some_and(is_safe_natural)
        || !number("time").is_some_and(|t| t.fract() == 0.0)
        || !fields.contains_key("data")
        || fields.get("ignorable").is_some_and(|raw| raw.get() != "true");
    let turn = (kind == "turn/start")
        .then(|| fields.get("data").and_then(|raw| serde_json::from_str::<TurnOf>(raw.get()).ok()).and_then(|t| t.turn))
        .flatten();
    Some(StorageRow {
        seq: number("seq"),
        members: 1,
        ignorable: fields.get("ignorable").is_some_and(|raw| raw.get() == "true"),
        odd_envelope,
        turn,
        kind,
    })
}

fn is_safe_natural(value: f64) -> bool {
    value >= 0.0 && value.fract() == 0.0 && value <= SAFE_INTEGER
}

/// Members of a packed row whose shape is exactly what the harness writes.
fn packed_members(kind: &str, fields: &BTreeMap<String, &RawValue>) -> Option<u64> {
    let number = |raw: Option<&&RawValue>| raw.and_then(|raw| raw.get().parse::<f64>().ok());
    if fields.len() != 4 || !number(fields.get("seq0")).is_some_and(is_safe_natural) {
        return None;
    }
    number(fields.get("time0")).filter(|t| t.fract() == 0.0)?;
    let data: BTreeMap<String, &RawValue> = serde_json::from_str(fields.get("data")?.get()).ok()?;
    for key in ["turn", "step", "index"] {
        number(data.get(key))?;
    }
    let (payload_key, fixed) = if kind == "tool-call-chunks" {
        serde_json::from_str::<Text>(data.get("id")?.get()).ok()?;
        ("args", if data.contains_key("name") { 7 } else { 6 })
    } else {
        ("texts", 5)
    };
    let payload: Vec<Text> = serde_json::from_str(data.get(payload_key)?.get()).ok()?;
    let gaps: Vec<f64> = serde_json::from_str(data.get("dt")?.get()).ok()?;
    let whole = gaps.iter().all(|gap| gap.fract() == 0.0 && gap.abs() <= SAFE_INTEGER);
    (data.len() == fixed && whole && gaps.len() + 1 == payload.len()).then_some(payload.len() as u64)
}
