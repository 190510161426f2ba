//! Words for verdicts, directions and who can fix it.

use crate::evidence::{FixableBy, Verdict};
use crate::message;
use crate::message::Message;

pub(super) fn verdict(verdict: Verdict, code: &str, supported: &str) -> Message {
    let known = supported != "UNDETERMINED";
    match (verdict, known) {
        (Verdict::Contradicted, true) => message!("explain.contradicted", code = code, supported = supported),
        (Verdict::Contradicted, false) => message!("explain.contradicted-unknown", code = code),
        (Verdict::Supported, _) => message!("explain.supported", code = code),
        (Verdict::Undetermined, _) => message!("explain.undetermined", code = code),
        (Verdict::Uninformative, true) => message!("explain.uninformative", code = code, supported = supported),
        (Verdict::Uninformative, false) => message!("explain.uninformative-unknown", code = code),
    }
}

pub(super) fn direction(direction: &str) -> Message {
    match direction {
        "for" => message!("explain.direction-for"),
        "against" => message!("explain.direction-against"),
        _ => message!("explain.direction-neutral"),
    }
}

pub(super) fn fixable_by(who: FixableBy) -> Message {
    match who {
        FixableBy::Time => message!("explain.by-time"),
        FixableBy::Request => message!("explain.by-request"),
        FixableBy::BodySize => message!("explain.by-body-size"),
        FixableBy::Account => message!("explain.by-account"),
        FixableBy::Config => message!("explain.by-config"),
        FixableBy::User => message!("explain.by-user"),
        FixableBy::Unknown => message!("explain.by-unknown"),
    }
}

/// An edit in plain words, with the edit itself where it is not one of the settings' own words.
pub(super) fn repair(edit: &str) -> Message {
    match edit.split_once(' ').unwrap_or((edit, "")) {
        ("retry", code) => message!("explain.repair-retry", code = code),
        ("gateway-503", _) => message!("explain.repair-gateway"),
        ("evidence-guard", _) => message!("explain.repair-guard"),
        ("clamp", _) => message!("explain.repair-clamp"),
        ("time-budget", _) => message!("explain.repair-time"),
        ("expose-retry-after", _) => message!("explain.repair-expose"),
        ("uncounted-cancelled", _) => message!("explain.repair-uncounted"),
        _ => Message::verbatim(edit),
    }
}
