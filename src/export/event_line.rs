//! What the events table says of a line beside the decoded event: its type, its place, and how much text was streamed.
//! Texts are counted here and dropped at once.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::Text;

/// What stands in one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineDetails {
    /// Event type as logged.
    pub(super) kind: String,
    /// Turn, where logged.
    pub(super) turn: Option<u64>,
    /// Step, where logged.
    pub(super) step: Option<u64>,
    /// UTF-16 units of the streamed text, reasoning and tool arguments; `None` where the event holds no stream.
    pub(super) chars: Option<u64>,
}

#[derive(Deserialize)]
struct LineWire<'a> {
    r#type: Text,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct PlaceWire {
    turn: Option<u64>,
    step: Option<u64>,
}

#[derive(Deserialize, Default)]
struct StreamWire {
    turn: Option<u64>,
    step: Option<u64>,
    #[serde(flatten)]
    run: RunWire,
    stream: Option<Vec<RunWire>>,
}

/// A run of deltas, packed or not: a packed row, a stream record, or the data of a chunk event.
#[derive(Deserialize, Default)]
struct RunWire {
    texts: Option<Vec<Text>>,
    args: Option<Vec<Text>>,
    chunk: Option<ChunkWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChunkWire {
    text: Option<Text>,
    arguments_delta: Option<Text>,
}

impl RunWire {
    fn chars(&self) -> u64 {
        let packed = self.texts.iter().chain(&self.args).flatten();
        let single = self.chunk.iter().flat_map(|chunk| chunk.text.iter().chain(&chunk.arguments_delta));
        packed.chain(single).map(|text| text.0.encode_utf16().count() as u64).sum()
    }
}

/// Reads a line that the decoder has taken for an event. Data of an unexpected shape leaves the fields unknown.
pub(super) fn details(line: &[u8]) -> LineDetails {
    let Ok(wire) = serde_json::from_slice::<LineWire<'_>>(line) else {
        return LineDetails { kind: leading_type(line), ..LineDetails::default() };
    };
    let kind = wire.r#type.0;
    let data = wire.data.map_or("null", RawValue::get);
    let streams = kind == "assistant/chunk"
        || kind == "assistant/message"
        || kind == "assistant/attempt"
        || kind.ends_with("-chunks");
    if !streams {
        let place: PlaceWire = serde_json::from_str(data).unwrap_or_default();
        return LineDetails { kind, turn: place.turn, step: place.step, chars: None };
    }
    match serde_json::from_str::<StreamWire>(data) {
        Ok(wire) => {
            let chars = wire.run.chars() + wire.stream.iter().flatten().map(RunWire::chars).sum::<u64>();
            LineDetails { kind, turn: wire.turn, step: wire.step, chars: Some(chars) }
        }
        Err(_) => LineDetails { kind, ..LineDetails::default() },
    }
}

/// The type of a line in the harness's shape whose data is no JSON: the decoder takes such lines where it needs no data.
fn leading_type(line: &[u8]) -> String {
    let rest = line.strip_prefix(b"{\"type\":\"").unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'"').unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, turn: Option<u64>, step: Option<u64>, chars: Option<u64>) -> LineDetails {
        LineDetails { kind: kind.to_owned(), turn, step, chars }
    }

    #[test]
    fn deltas_are_counted_in_utf16_units_in_every_shape() {
        let packed = r#"{"type":"text-chunks","seq0":3,"time0":1,"data":{"turn":1,"step":2,"index":0,"dt":[1],"texts":["账目","😀a"]}}"#;
        assert_eq!(details(packed.as_bytes()), of("text-chunks", Some(1), Some(2), Some(5)));
        let tool = r#"{"type":"tool-call-chunks","seq0":3,"time0":1,"data":{"turn":1,"step":2,"index":0,"dt":[],"id":"c","args":["{\"a\""]}}"#;
        assert_eq!(details(tool.as_bytes()).chars, Some(4));
        let single = r#"{"type":"assistant/chunk","seq":3,"time":1,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"abc"}}}"#;
        assert_eq!(details(single.as_bytes()).chars, Some(3));
        let end = r#"{"type":"assistant/chunk","seq":3,"time":1,"data":{"turn":1,"step":2,"chunk":{"type":"block-end","index":0,"block":{"type":"text","text":"abc"}}}}"#;
        assert_eq!(details(end.as_bytes()).chars, Some(0), "the closing text repeats its deltas");
        let embedded = r#"{"type":"assistant/attempt","seq":9,"time":1,"data":{"turn":1,"step":2,"stream":[
            {"type":"chunk","time":1,"chunk":{"type":"reasoning-delta","index":0,"text":"ab"}},
            {"type":"text-chunks","index":0,"time0":1,"dt":[1],"texts":["c","d"]},
            {"type":"chunk","time":1,"chunk":{"type":"finish","reason":{"kind":"stop"}}}]}}"#;
        assert_eq!(details(embedded.as_bytes()), of("assistant/attempt", Some(1), Some(2), Some(4)));
    }

    #[test]
    fn other_events_keep_their_place_and_no_text() {
        let result = r#"{"type":"tool/result","seq":3,"time":1,"data":{"turn":4,"step":1,"texts":["secret"]}}"#;
        assert_eq!(details(result.as_bytes()), of("tool/result", Some(4), Some(1), None));
        let plugin = r#"{"type":"plugin/x","seq":3,"time":1,"data":[1]}"#;
        assert_eq!(details(plugin.as_bytes()), of("plugin/x", None, None, None));
        let broken = r#"{"type":"agent/inbox/spliced","seq":3,"time":1,"data":{nonsense}}"#;
        assert_eq!(details(broken.as_bytes()), of("agent/inbox/spliced", None, None, None));
    }
}
