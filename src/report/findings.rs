//! Findings as blocks of a page and as JSON. All words come from the messages that the rules made.

use serde::Serialize;

use super::definitions::Term;
use super::document::{Block, Card, Cell, Column, Table, Tone};
use super::lang::Language;
use super::numbers::grouped;
use crate::evidence::FixableBy;
use crate::findings::{Confidence, Finding, LifeCycle, Severity, short_text};
use crate::message;
use crate::message::Message;
use crate::redact::redact;

/// What a scan leads with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The verdict in words.
    pub headline: Vec<Message>,
    /// The findings, worst first.
    pub findings: Vec<Finding>,
    /// Show every finding with all that is known about it.
    pub in_full: bool,
}

/// Findings shown with what was seen and what to do.
const IN_FULL: usize = 4;

/// The verdict and the findings for the top of a scan: the worst with their reasons, the others by a line, notes by name.
pub fn brief(found: &Found, language: Language) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        found.headline.iter().map(|m| Block::Text(Cell::toned(language.render(m), Tone::Strong))).collect();
    blocks.push(Block::Heading(language.render(&heading(&found.findings))));
    if found.in_full {
        blocks.extend(found.findings.iter().map(|finding| Block::Card(Box::new(card(finding, language)))));
        return blocks;
    }
    let (notes, shown): (Vec<&Finding>, Vec<&Finding>) =
        found.findings.iter().partition(|finding| finding.severity == Severity::Note);
    for (place, finding) in shown.iter().enumerate() {
        blocks.push(Block::Text(Cell::toned(language.render(&line(finding)), tone(finding.severity))));
        if place < IN_FULL {
            let seen = finding.seen.iter().take(3).map(|m| Cell::from(language.render(m)));
            let advice = finding.advice.first().map(|text| {
                Cell::from(language.render(&Message::new("findings.do").with_message("text", text.clone())))
            });
            blocks.push(Block::List(seen.chain(advice).collect()));
        }
    }
    if !notes.is_empty() {
        let more = message!("findings.more-findings", n = grouped(notes.len() as u64))
            .with_words("list", notes.iter().map(|finding| finding.id));
        blocks.push(Block::Text(Cell::toned(language.render(&more), Tone::Faint)));
    }
    if !found.findings.is_empty() {
        blocks.push(Block::Text(Cell::toned(language.say("findings.more"), Tone::Faint)));
    }
    blocks
}

/// One finding with everything that is known about it.
fn card(finding: &Finding, language: Language) -> Card {
    let say = |message: Message| language.render(&message);
    let known = message!("findings.known")
        .with_message("confidence", confidence(finding.confidence))
        .with_message("who", fixable(finding.fixable_by));
    let mut blocks = vec![Block::Text(Cell::toned(say(known), Tone::Faint))];
    blocks.push(Block::List(finding.seen.iter().map(|m| language.render(m).into()).collect()));
    blocks.push(Block::Text(say(message!("findings.why").with_message("text", finding.why.clone())).into()));
    for advice in &finding.advice {
        blocks.push(Block::Text(say(message!("findings.do").with_message("text", advice.clone())).into()));
    }
    let mut folded = Vec::new();
    if let Some(settings) = &finding.settings {
        folded.push((language.say("findings.paste"), vec![Block::Verbatim(settings.trim_end().to_owned())]));
    }
    if !finding.examples.is_empty() {
        let n = grouped(finding.examples.len() as u64);
        let tables = vec![Block::Table(routes(finding, language)), Block::Table(examples(finding, language))];
        folded.push((say(message!("findings.examples", n = n)), tables));
    }
    Card {
        badge: Cell::toned(language.render(&severity(finding.severity)), tone(finding.severity)),
        title: say(finding.title.clone()),
        id: say(id(finding)),
        blocks,
        folded,
    }
}

fn routes(finding: &Finding, language: Language) -> Table {
    Table {
        title: String::new(),
        columns: vec![
            Column::text(language.say("findings.column-provider"), 0).means(Term::Route),
            Column::text(language.say("findings.column-model"), 0).means(Term::Route),
            Column::number(language.say("findings.column-count"), 0).means(Term::Finding),
        ],
        rows: finding
            .routes
            .iter()
            .map(|(route, count)| {
                vec![short_text(&route.provider).into(), short_text(&route.model).into(), grouped(*count).into()]
            })
            .collect(),
        note: None,
    }
}

fn examples(finding: &Finding, language: Language) -> Table {
    Table {
        title: String::new(),
        columns: vec![
            Column::text(language.say("findings.column-session"), 0).means(Term::Session),
            Column::number(language.say("findings.column-seq"), 0).means(Term::Seq),
            Column::text(language.say("findings.column-what"), 0),
        ],
        rows: finding
            .examples
            .iter()
            .map(|example| {
                let (session, seq) = example
                    .place
                    .as_ref()
                    .map_or_else(|| ("–".to_owned(), "–".to_owned()), |p| (p.session_id.clone(), p.seq.to_string()));
                let text = redact(&language.render(&example.text)).into_owned();
                vec![short_text(&session).into(), seq.into(), text.into()]
            })
            .collect(),
        note: None,
    }
}

/// `Findings: 2 errors, 1 warning`
fn heading(findings: &[Finding]) -> Message {
    let count = |severity: Severity| findings.iter().filter(|f| f.severity == severity).count() as u64;
    let parts = [
        (count(Severity::Error), message!("findings.n-errors")),
        (count(Severity::Warning), message!("findings.n-warnings")),
        (count(Severity::Note), message!("findings.n-notes")),
    ];
    if findings.is_empty() {
        return message!("findings.none");
    }
    let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, message)| message.with("n", grouped(n)));
    message!("findings.heading").with_list("list", parts)
}

/// Severity, title and id of a finding on one line.
pub fn line(finding: &Finding) -> Message {
    Message::new("findings.line")
        .with_message("severity", severity(finding.severity))
        .with_message("title", finding.title.clone())
        .with_message("id", id(finding))
}

fn id(finding: &Finding) -> Message {
    let id = match finding.life_cycle {
        LifeCycle::Stable => Message::new("findings.id-stable"),
        LifeCycle::Preview => Message::new("findings.id-preview"),
    };
    id.with("id", finding.id)
}

/// The word for a severity.
pub fn severity(severity: Severity) -> Message {
    Message::new(match severity {
        Severity::Error => "findings.severity-error",
        Severity::Warning => "findings.severity-warning",
        Severity::Note => "findings.severity-note",
    })
}

/// The word for a confidence.
pub fn confidence(confidence: Confidence) -> Message {
    Message::new(match confidence {
        Confidence::High => "findings.confidence-high",
        Confidence::Medium => "findings.confidence-medium",
        Confidence::Low => "findings.confidence-low",
    })
}

/// The words for who can fix it.
pub fn fixable(by: FixableBy) -> Message {
    Message::new(match by {
        FixableBy::Time => "findings.by-time",
        FixableBy::Request => "findings.by-request",
        FixableBy::BodySize => "findings.by-body-size",
        FixableBy::Account => "findings.by-account",
        FixableBy::Config => "findings.by-config",
        FixableBy::User => "findings.by-user",
        FixableBy::Unknown => "findings.by-unknown",
    })
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Warn,
        Severity::Note => Tone::Faint,
    }
}

/// A finding in the JSON contract; always English.
#[derive(Debug, Serialize)]
pub struct FindingV1 {
    id: &'static str,
    severity: &'static str,
    confidence: &'static str,
    count: u64,
    unit: &'static str,
    title: String,
    fingerprint: String,
    life_cycle: &'static str,
    fixable_by: &'static str,
    seen: Vec<String>,
    why: String,
    advice: Vec<String>,
    settings_yaml: Option<String>,
    routes: Vec<RouteShareV1>,
    examples: Vec<ExampleV1>,
}

#[derive(Debug, Serialize)]
struct RouteShareV1 {
    provider: String,
    model: String,
    count: u64,
}

#[derive(Debug, Serialize)]
struct ExampleV1 {
    session_id: Option<String>,
    seq: Option<u64>,
    text: String,
    fingerprint: Option<String>,
}

impl From<&Finding> for FindingV1 {
    fn from(finding: &Finding) -> Self {
        let say = |message: &Message| Language::English.render(message);
        Self {
            id: finding.id,
            severity: finding.severity.name(),
            confidence: finding.confidence.name(),
            count: finding.count,
            unit: finding.unit.name(),
            title: say(&finding.title),
            fingerprint: finding.fingerprint.clone(),
            life_cycle: finding.life_cycle.name(),
            fixable_by: finding.fixable_by.as_str(),
            seen: finding.seen.iter().map(say).collect(),
            why: say(&finding.why),
            advice: finding.advice.iter().map(say).collect(),
            settings_yaml: finding.settings.clone(),
            routes: finding
                .routes
                .iter()
                .map(|(route, count)| RouteShareV1 {
                    provider: route.provider.clone(),
                    model: route.model.clone(),
                    count: *count,
                })
                .collect(),
            examples: finding
                .examples
                .iter()
                .map(|example| ExampleV1 {
                    session_id: example.place.as_ref().map(|place| place.session_id.clone()),
                    seq: example.place.as_ref().map(|place| place.seq),
                    text: redact(&say(&example.text)).into_owned(),
                    fingerprint: example.place.as_ref().map(|place| finding.place_fingerprint(place)),
                })
                .collect(),
        }
    }
}
