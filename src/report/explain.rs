//! The page of `explain`: one failure told in order, short enough to be pasted into a bug report.

use jiff::tz::TimeZone;

use super::definitions::Term;
use super::document::{Block, Cell, Column, Page, Table, Tone};
use super::failures::shorten;
use super::lang::Language;
use super::numbers::{bytes, grouped, moment, percent, span};
use crate::context_window::WindowSource;
use crate::evidence::Verdict;
use crate::explain::{Answer, Explanation, Vicinity};
use crate::message;
use crate::message::Message;
use crate::redact::redact;
use crate::session::{Fate, RequestSize, TokenMethod};

pub mod content;
pub mod json;
mod policy;
mod timeline;
mod words;

/// Longest error text shown, columns.
const TEXT_WIDTH: usize = 400;
/// Shortest silence worth a word, milliseconds.
const SILENCE_MS: i64 = 300;
/// Columns of a full bar.
const BAR: u64 = 24;

/// Builds the page.
pub fn page(explained: &Explanation<'_>, zone: &TimeZone, language: Language) -> Page {
    let mut writer = Writer { page: Page::default(), language };
    writer.head(explained, zone);
    writer.verdict(explained);
    writer.sent(explained);
    writer.came_back(explained);
    writer.rule(explained);
    writer.policy(explained);
    writer.route(&explained.vicinity);
    writer.repairs(explained);
    writer.timeline(&explained.timeline);
    writer.advice(explained);
    writer.page
}

struct Writer {
    page: Page,
    language: Language,
}

impl Writer {
    fn say(&mut self, message: &Message) {
        let text = self.language.render(message);
        self.page.text(text);
    }

    fn say_toned(&mut self, message: &Message, tone: Tone) {
        let text = self.language.render(message);
        self.page.text(Cell::toned(text, tone));
    }

    fn heading(&mut self, key: &'static str) {
        let text = self.language.say(key);
        self.page.blocks.push(Block::Heading(text));
    }

    fn head(&mut self, explained: &Explanation<'_>, zone: &TimeZone) {
        let (session, attempt) = (explained.session, explained.attempt);
        let title = message!(
            "explain.title",
            code = explained.failure.code.as_str(),
            session = session.id.as_str(),
            seq = attempt.seq
        );
        let title = self.language.render(&title);
        self.page.blocks.push(Block::Title(title));
        let place = format!("{}.{}.{}", attempt.turn, attempt.step, attempt.attempt);
        self.say(&message!(
            "explain.where",
            time = moment(attempt.time, zone),
            zone = zone.iana_name().unwrap_or("UTC"),
            place = place,
            route = format!("{}/{}", attempt.route.provider, attempt.route.model),
        ));
    }

    fn verdict(&mut self, explained: &Explanation<'_>) {
        let judgement = explained.judgement;
        let tone = match judgement.verdict {
            Verdict::Contradicted => Tone::Bad,
            Verdict::Supported => Tone::Good,
            Verdict::Undetermined | Verdict::Uninformative => Tone::Warn,
        };
        let supported = judgement.supported_code.as_str();
        let mut headline = words::verdict(judgement.verdict, &explained.failure.code, supported);
        headline.values.push(("confidence", format!("{:.2}", judgement.confidence).into()));
        self.say_toned(&headline, tone);
        let fixable = message!("explain.fixable").with_message("who", words::fixable_by(judgement.fixable_by));
        self.say(&fixable);
        self.heading("explain.heading-evidence");
        let language = self.language;
        let line = |fact: &crate::evidence::Fact| {
            let direction = words::direction(fact.direction);
            let sentence = language.render(&fact.message);
            let text = message!("explain.fact", fact = sentence).with_message("direction", direction);
            let tone = match fact.direction {
                "for" => Tone::Good,
                "against" => Tone::Bad,
                _ => Tone::Plain,
            };
            Cell::toned(language.render(&text), tone)
        };
        self.page.blocks.push(Block::List(judgement.facts.iter().map(line).collect()));
    }

    fn sent(&mut self, explained: &Explanation<'_>) {
        self.heading("explain.heading-sent");
        let Some(request) = explained.attempt.request.as_deref() else {
            self.say(&message!("explain.request-unknown"));
            return;
        };
        self.say(&size(request));
        match explained.attempt.window {
            Some(window) => self.say(&fill(request, window, explained.attempt.window_source)),
            None => self.say(&message!("explain.window-unknown", model = explained.attempt.route.model.as_str())),
        }
        self.breakdown(request);
    }

    fn breakdown(&mut self, request: &RequestSize) {
        let chars = request.chars;
        let parts = [
            ("explain.part-system", chars.system),
            ("explain.part-tools", chars.tools),
            ("explain.part-user", chars.user),
            ("explain.part-assistant", chars.assistant),
            ("explain.part-tool", chars.tool),
        ];
        let total: u64 = parts.iter().map(|(_, count)| count).sum();
        let rows = parts.iter().filter(|(_, count)| *count > 0).map(|(key, count)| {
            let length = (count * BAR).div_ceil(total.max(1)) as usize;
            vec![
                Cell::from(self.language.say(key)),
                grouped(*count).into(),
                percent(*count, total).into(),
                "█".repeat(length).into(),
            ]
        });
        let rows = rows.collect();
        let say = |key| self.language.say(key);
        let table = Table {
            title: String::new(),
            columns: vec![
                Column::text(say("explain.column-part"), 0),
                Column::number(say("explain.column-characters"), 0).means(Term::PromptTokens),
                Column::number(say("explain.column-share"), 0).means(Term::Share),
                Column::text("", 1),
            ],
            rows,
            note: None,
        };
        self.page.blocks.push(Block::Table(table));
    }

    fn came_back(&mut self, explained: &Explanation<'_>) {
        self.heading("explain.heading-back");
        let (failure, attempt) = (explained.failure, explained.attempt);
        let text = redact(&failure.message).replace(['\n', '\r', '\t'], " ");
        if text.trim().is_empty() {
            self.say(&message!("explain.no-text"));
        } else {
            self.page.text(Cell::toned(shorten(&text, TEXT_WIDTH), Tone::Strong));
        }
        let mut details = Vec::new();
        if let Some(duration) = attempt.duration_ms() {
            details.push(message!("explain.after", duration = span(duration)));
        }
        if let Some(status) = failure.status {
            details.push(message!("explain.status", status = status));
        }
        if let Some(wait) = failure.retry_after_ms {
            details.push(message!("explain.retry-after", wait = span(wait as i64)));
        }
        if attempt.chunks > 1 && attempt.longest_gap_ms >= SILENCE_MS {
            details.push(message!("explain.gap", gap = span(attempt.longest_gap_ms)));
        }
        if !details.is_empty() {
            self.say(&message!("explain.details").with_list("details", details));
        }
    }

    fn route(&mut self, near: &Vicinity) {
        self.heading("explain.heading-route");
        if near.sessions == 0 {
            self.say(&message!("explain.no-neighbours"));
        } else {
            let mut codes: Vec<String> = near.codes.iter().map(|(code, n)| format!("{n} × {code}")).collect();
            codes.truncate(3);
            let message = message!(
                "explain.neighbours",
                sessions = near.sessions,
                failing = near.failing_sessions,
                attempts = near.attempts,
                failures = near.failures,
            );
            self.say(&message);
            if !codes.is_empty() {
                self.say(&message!("explain.neighbour-codes").with_words("codes", codes));
            }
        }
        self.say(&near.answer.map_or_else(|| message!("explain.no-answer"), |answer| next_answer(&answer)));
    }

    fn advice(&mut self, explained: &Explanation<'_>) {
        self.heading("explain.heading-do");
        if let Some(destroyed) = explained.destroyed.filter(|d| d.destroyed_tokens() > 0) {
            self.say_toned(&message!("explain.destroyed", tokens = grouped(destroyed.destroyed_tokens())), Tone::Warn);
        }
        let steps = explained.advice.steps.iter().map(|step| Cell::from(self.language.render(step))).collect();
        self.page.blocks.push(Block::List(steps));
        if let Some(settings) = &explained.advice.settings {
            self.say(&message!("explain.paste"));
            self.page.blocks.push(Block::Verbatim(settings.trim_end().to_owned()));
        }
    }
}

fn size(request: &RequestSize) -> Message {
    let body = request
        .body_bytes
        .map_or_else(|| message!("explain.body-unknown"), |b| message!("explain.body", size = bytes(b)));
    let tokens = match request.tokens {
        None => message!("explain.tokens-unknown"),
        Some(t) if t.low == t.high => message!("explain.tokens-exact", value = grouped(t.value)),
        Some(t) => message!("explain.tokens", value = grouped(t.value), low = grouped(t.low), high = grouped(t.high)),
    };
    let method = match request.tokens.map(|t| t.method) {
        None => message!("explain.method-none"),
        Some(TokenMethod::Reported) => message!("explain.method-reported"),
        Some(TokenMethod::Anchored) => message!("explain.method-anchored"),
        Some(TokenMethod::Counted) => message!("explain.method-counted"),
    };
    message!("explain.size", messages = grouped(request.messages))
        .with_message("body", body)
        .with_message("tokens", tokens)
        .with_message("method", method)
}

fn fill(request: &RequestSize, window: u64, source: Option<WindowSource>) -> Message {
    let share = |tokens: u64| percent(tokens, window);
    let source = match source {
        Some(WindowSource::Settings) => message!("explain.window-settings"),
        Some(WindowSource::Typed) => message!("explain.window-typed"),
        Some(WindowSource::ErrorMessage) => message!("explain.window-from-text"),
        _ => message!("explain.window-logged"),
    };
    match (request.tokens, request.reserved_output) {
        (None, _) => message!("explain.fill-unknown", window = grouped(window)).with_message("source", source),
        (Some(tokens), None) => message!("explain.fill", window = grouped(window), share = share(tokens.value))
            .with_message("source", source),
        (Some(tokens), Some(reserved)) => message!(
            "explain.fill-with-output",
            window = grouped(window),
            share = share(tokens.value),
            reserved = grouped(reserved),
            both = share(tokens.value.saturating_add(reserved)),
        )
        .with_message("source", source),
    }
}

fn next_answer(answer: &Answer) -> Message {
    let after = span(answer.after_ms);
    let tokens = answer
        .tokens
        .map_or_else(|| message!("explain.answer-unsized"), |t| message!("explain.answer-tokens", tokens = grouped(t)));
    match (answer.identical, answer.same_session) {
        (true, _) => message!("explain.answer-identical", after = after).with_message("tokens", tokens),
        (false, true) => message!("explain.answer-same-session", after = after).with_message("tokens", tokens),
        (false, false) => message!("explain.answer-other-session", after = after).with_message("tokens", tokens),
    }
}

/// What became of the chain, in a sentence.
fn fate(fate: Option<Fate>) -> Message {
    match fate {
        Some(Fate::RecoveredByRetry) => message!("explain.fate-retry"),
        Some(Fate::RecoveredByCompaction) => message!("explain.fate-compaction"),
        Some(Fate::GaveUp) => message!("explain.fate-gave-up"),
        Some(Fate::Cancelled) => message!("explain.fate-cancelled"),
        Some(Fate::Open) | None => message!("explain.fate-open"),
    }
}
