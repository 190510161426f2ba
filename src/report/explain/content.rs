//! The last messages of the request, at the end of the page of `explain --show-content`.

use crate::explain::ShownMessage;
use crate::message;
use crate::report::document::{Block, Cell, Page, Tone};
use crate::report::lang::Language;
use crate::report::numbers::grouped;

/// Adds the messages to the page.
pub fn push(page: &mut Page, messages: &[ShownMessage], language: Language) {
    page.blocks.push(Block::Heading(language.say("explain.heading-content")));
    page.text(Cell::toned(language.say("explain.content-note"), Tone::Warn));
    for message in messages {
        page.text(Cell::toned(message.role.clone(), Tone::Strong));
        page.blocks.push(Block::Verbatim(message.text.clone()));
        if message.left_out > 0 {
            let more = message!("explain.content-more", n = grouped(message.left_out));
            page.text(Cell::toned(language.render(&more), Tone::Faint));
        }
    }
}
