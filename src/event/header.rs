//! The first line of a log (spec of the session header, formats v0 to v4).

use serde::Deserialize;

use super::text::Text;

/// A session header.
#[derive(Debug, Clone, Default)]
pub struct SessionHeader {
    /// Format version.
    pub version: u32,
    /// Session id.
    pub id: String,
    /// Epoch milliseconds.
    pub created_at: Option<i64>,
    /// Working directory the session ran in.
    pub cwd: Option<String>,
    /// Session this one was forked or spawned from.
    pub parent_session: Option<String>,
    /// `subagent`, or nothing.
    pub origin: Option<String>,
    /// Sub-agent nesting.
    pub delegation_depth: u64,
    /// v0, v1: events with a smaller seq are the parent's.
    pub seed_length: Option<u64>,
    /// v2 and later: an inherited prefix is closed by a tagged end-seed.
    pub is_seeded: bool,
    /// Release of the harness, where a plugin or later format says so.
    pub harness_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    r#type: Text,
    version: Option<u32>,
    id: Option<Text>,
    created_at: Option<f64>,
    cwd: Option<Text>,
    parent_session: Option<Text>,
    origin: Option<Text>,
    delegation_depth: Option<u64>,
    seed_length: Option<u64>,
    is_seeded: Option<bool>,
    harness_version: Option<Text>,
}

impl SessionHeader {
    /// Reads a header line; `None` when the line is something else.
    pub fn parse(line: &[u8]) -> Option<Self> {
        // Every other line is told apart by its first bytes, so that this costs nothing on the hot path.
        if !line.trim_ascii_start().starts_with(b"{") || memchr::memmem::find(line, b"\"session\"").is_none() {
            return None;
        }
        let wire: Wire = serde_json::from_slice(line).ok()?;
        if wire.r#type.0 != "session" {
            return None;
        }
        Some(Self {
            version: wire.version.unwrap_or(0),
            id: wire.id?.0,
            created_at: wire.created_at.map(|t| t as i64),
            cwd: wire.cwd.map(|t| t.0),
            parent_session: wire.parent_session.map(|t| t.0),
            origin: wire.origin.map(|t| t.0),
            delegation_depth: wire.delegation_depth.unwrap_or(0),
            seed_length: wire.seed_length,
            is_seeded: wire.is_seeded.unwrap_or(false),
            harness_version: wire.harness_version.map(|t| t.0),
        })
    }
}
