//! The page of a rule, and the list of all rules: for `explain`, and for the files under `docs/rules/`.

use super::document::{Block, Cell, Page, Tone};
use super::findings::severity;
use super::lang::Language;
use crate::findings::{LifeCycle, Rule};
use crate::message::Message;

/// The page of one rule.
pub fn page(rule: &Rule, language: Language) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(format!("{} ({})", language.say(rule.docs.name), rule.id)));
    page.text(Cell::toned(language.render(&facts(rule)), Tone::Faint));
    for (heading, text) in sections(rule) {
        page.blocks.push(Block::Heading(language.say(heading)));
        page.text(language.say(text));
    }
    page
}

fn facts(rule: &Rule) -> Message {
    let life = match rule.life_cycle {
        LifeCycle::Stable => Message::new("findings.life-stable"),
        LifeCycle::Preview => Message::new("findings.life-preview"),
    };
    Message::new("findings.page-facts").with_message("severity", severity(rule.severity)).with_message("life", life)
}

fn sections(rule: &Rule) -> [(&'static str, &'static str); 4] {
    [
        ("findings.page-what", rule.docs.what),
        ("findings.page-why", rule.docs.why),
        ("findings.page-do", rule.docs.advice),
        ("findings.page-example", rule.docs.example),
    ]
}

/// The same page as Markdown, where code stays code: the texts are written by hand and hold no log contents.
pub fn markdown(rule: &Rule, language: Language) -> String {
    let mut text = format!("# {}\n\n`{}`\n\n", language.say(rule.docs.name), rule.id);
    text.push_str(&format!("{}\n", language.render(&facts(rule))));
    for (heading, body) in sections(rule) {
        text.push_str(&format!("\n## {}\n\n{}\n", language.say(heading), language.say(body)));
    }
    text
}

/// The list of rules as Markdown, with links to their pages.
pub fn index_markdown(rules: &[&Rule], language: Language) -> String {
    let suffix = if language == Language::Chinese { ".zh" } else { "" };
    let mut text =
        format!("# {}\n\n{}\n\n", language.say("findings.index-title"), language.say("findings.index-intro"));
    let heads = ["findings.index-rule", "findings.index-name", "findings.index-severity"];
    text.push_str(&format!("| {} |\n|---|---|---|\n", heads.map(|head| language.say(head)).join(" | ")));
    for rule in rules {
        let preview = match rule.life_cycle {
            LifeCycle::Stable => String::new(),
            LifeCycle::Preview => format!(" ({})", language.say("findings.preview")),
        };
        text.push_str(&format!(
            "| [{id}]({id}{suffix}.md) | {} | {}{preview} |\n",
            language.say(rule.docs.name),
            language.render(&severity(rule.severity)),
            id = rule.id,
        ));
    }
    text
}
