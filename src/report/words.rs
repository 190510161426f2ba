//! Names of the JSON contract in words that people read.

use crate::message::Message;

/// The fate of a failure chain, by its name in JSON.
pub fn fate(name: &str) -> Message {
    Message::new(match name {
        "recovered_by_retry" => "common.recovered-by-retry",
        "recovered_by_compaction" => "common.recovered-by-compaction",
        "gave_up" => "common.gave-up",
        "cancelled" => "common.cancelled",
        "open" => "common.open",
        other => return Message::verbatim(other),
    })
}

/// The same in few columns.
pub fn short_fate(name: &str) -> Message {
    match name {
        "recovered_by_retry" => Message::new("failures.retry-worked"),
        "recovered_by_compaction" => Message::new("failures.compaction-worked"),
        "open" => Message::new("failures.log-ends"),
        other => fate(other),
    }
}

/// A verdict on a code, by its name in JSON.
pub fn verdict(name: &str) -> Message {
    Message::new(match name {
        "supported" => "common.supported",
        "contradicted" => "common.contradicted",
        "undetermined" => "common.undetermined",
        "uninformative" => "common.uninformative",
        other => return Message::verbatim(other),
    })
}
