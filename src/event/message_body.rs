//! The `data` of a message event beside its content: place, usage, embedded stream, and what it does to the surface.

use serde::Deserialize;

use super::bodies::{Decoded, optional_number};
use super::content::Beside;
use super::fast::usage_of;
use super::stream::{UsageWire, embedded_summary};
use super::text::Text;
use super::{Body, LoggedMessage, Message, MessageKind, SurfaceOp, Usage};

/// The kind of a message event.
pub(super) fn message_kind(kind: &str) -> Option<MessageKind> {
    Some(match kind {
        "system/message" => MessageKind::System,
        "developer/message" => MessageKind::Developer,
        "user/message" => MessageKind::User,
        "assistant/message" => MessageKind::Assistant,
        "tool/result" => MessageKind::ToolResult,
        _ => return None,
    })
}

/// What is read of an assistant message beside its content.
#[derive(Default)]
pub(super) struct MessageWire<'a> {
    turn: Option<u64>,
    step: Option<u64>,
    usage: Option<Usage>,
    interrupted: bool,
    stream: Option<&'a str>,
}

impl<'a> MessageWire<'a> {
    pub(super) fn of(beside: Beside<'a>, kind: MessageKind) -> Decoded<Self> {
        if kind != MessageKind::Assistant {
            return Ok(Self::default());
        }
        let usage = match beside.usage {
            None => None,
            Some(raw) => match usage_of(raw) {
                Some(usage) => Some(usage),
                None => serde_json::from_str::<Option<UsageWire>>(raw)?.map(Usage::from),
            },
        };
        Ok(Self {
            turn: beside.turn.map(optional_number).transpose()?.flatten(),
            step: beside.step.map(optional_number).transpose()?.flatten(),
            usage: usage.filter(|u| u.is_report()),
            interrupted: match beside.interrupted {
                None | Some("false" | "null") => false,
                Some(raw) => serde_json::from_str(raw)?,
            },
            stream: beside.stream,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpWire {
    op: Option<Text>,
    start: Option<u64>,
    end: Option<u64>,
    start_seq: Option<u64>,
    end_seq: Option<u64>,
}

pub(super) fn message<'a>(
    kind: MessageKind,
    raw: &'a str,
    op: Option<&str>,
    wire: MessageWire<'a>,
    logged: Option<LoggedMessage<'a>>,
) -> Decoded<Body<'a>> {
    let op = match op {
        None | Some("null") => None,
        Some("\"append\"") => Some(SurfaceOp::Append),
        Some(other) => {
            let wire: OpWire = serde_json::from_str(other)?;
            match (wire.op.as_ref().map(|o| o.0.as_str()), wire.start.or(wire.start_seq), wire.end.or(wire.end_seq)) {
                (Some("append"), ..) => Some(SurfaceOp::Append),
                (Some("replace"), Some(start), Some(end)) => Some(SurfaceOp::Replace { start, end }),
                _ => None,
            }
        }
    };
    let stream = wire.stream.map(embedded_summary).transpose()?;
    Ok(Body::Message(Box::new(Message {
        kind,
        op,
        raw,
        logged,
        turn: wire.turn,
        step: wire.step,
        usage: wire.usage,
        stream,
        interrupted: wire.interrupted,
    })))
}
