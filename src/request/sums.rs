//! What a message adds to a request, and the assumed price of its images.

use serde::Deserialize;

use crate::session::RequestChars;

/// Size of one message, measured when it enters the surface.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Bytes with a comma behind each message, by variant.
    pub(super) bytes: [u64; 3],
    pub(super) messages: [u64; 3],
    pub(super) chars: RequestChars,
    pub(super) harness_tokens: u64,
    pub(super) clamp_tokens: u64,
    /// Nodes whose wire form the log does not hold (images, files, blocks of plugins).
    pub(super) opaque: u64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.change(other, u64::wrapping_add);
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        self.change(other, u64::wrapping_sub);
    }

    fn change(&mut self, other: &Self, apply: fn(u64, u64) -> u64) {
        for index in 0..3 {
            self.bytes[index] = apply(self.bytes[index], other.bytes[index]);
            self.messages[index] = apply(self.messages[index], other.messages[index]);
        }
        let chars = &mut self.chars;
        for (mine, theirs) in [
            (&mut chars.system, other.chars.system),
            (&mut chars.tools, other.chars.tools),
            (&mut chars.user, other.chars.user),
            (&mut chars.assistant, other.chars.assistant),
            (&mut chars.tool, other.chars.tool),
            (&mut self.harness_tokens, other.harness_tokens),
            (&mut self.clamp_tokens, other.clamp_tokens),
            (&mut self.opaque, other.opaque),
        ] {
            *mine = apply(*mine, theirs);
        }
    }
}

/// Tokens of an image by the rule width × height / 750, at most 1,600 (Anthropic's documentation); other providers count
/// otherwise, so this is an assumption that the report names.
pub(super) fn image_tokens(raw: &str) -> u64 {
    #[derive(Deserialize)]
    struct Attachment {
        width: Option<f64>,
        height: Option<f64>,
    }
    #[derive(Deserialize)]
    struct Image {
        attachment: Option<Attachment>,
    }
    let size = serde_json::from_str::<Image>(raw).ok().and_then(|image| image.attachment);
    match size.and_then(|a| a.width.zip(a.height)) {
        Some((width, height)) => (width * height / 750.0).clamp(0.0, 1_600.0) as u64,
        None => 0,
    }
}
