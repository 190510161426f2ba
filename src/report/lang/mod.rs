//! In: [`Message`]s.
//! Out: words in English or Chinese.
//! Always: each language has the same keys with the same placeholders; JSON is never translated.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use crate::message::{Message, Value};

#[cfg(test)]
mod tests;

/// The language of everything that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, serde::Deserialize)]
pub enum Language {
    /// English
    #[default]
    #[value(name = "en")]
    #[serde(rename = "en")]
    English,
    /// 中文
    #[value(name = "zh")]
    #[serde(rename = "zh")]
    Chinese,
}

macro_rules! areas {
    ($($area:literal),* $(,)?) => {
        /// Name, English texts, Chinese texts of every area.
        const AREAS: &[(&str, &str, &str)] = &[
            $(($area, include_str!(concat!("en/", $area, ".toml")), include_str!(concat!("zh/", $area, ".toml")))),*
        ];
    };
}

// One line per area, so that two people who add one do not meet.
areas! {
    "charts",
    "check",
    "common",
    "evidence",
    "explain",
    "compactions",
    "classify",
    "lint",
    "policy",
    "definitions",
    "errors",
    "export",
    "failures",
    "findings",
    "html",
    "notices",
    "rules",
    "scan",
    "usage",
    "verify",
    "what_if",
}

/// An error in words that people read, in their language; [`Language::explain`] finds it in a chain of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said(pub Message);

impl fmt::Display for Said {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.render(&self.0))
    }
}

impl std::error::Error for Said {}

type Texts = HashMap<String, String>;

impl Language {
    /// From the first of `LC_ALL`, `LC_MESSAGES`, `LANG` that is set and not empty (POSIX: XBD 8.2).
    pub fn from_environment() -> Self {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        named.map_or(Self::English, |value| Self::from_locale(&value))
    }

    /// From a locale name: `zh_CN.UTF-8`, `zh`, `en_GB`, `C`.
    pub fn from_locale(locale: &str) -> Self {
        if locale.to_ascii_lowercase().starts_with("zh") { Self::Chinese } else { Self::English }
    }

    /// The tag for HTML's `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// A sentence without values.
    pub fn say(self, key: &'static str) -> String {
        self.render(&Message::new(key))
    }

    /// The sentence in words. A key that no language has (the tests forbid it) stands for itself.
    pub fn render(self, message: &Message) -> String {
        let values: Vec<(&str, String)> =
            message.values.iter().map(|(name, value)| (*name, self.value(value))).collect();
        self.texts().get(message.key).map_or_else(|| message.key.to_owned(), |template| fill(template, &values))
    }

    /// The error with everything behind it, from the outside in; what other libraries say stays in their words.
    pub fn explain(self, error: &anyhow::Error) -> String {
        let words = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<Said>().map_or_else(|| cause.to_string(), |said| self.render(&said.0))
        };
        let separator = if self == Self::Chinese { "：" } else { ": " };
        error.chain().map(words).collect::<Vec<_>>().join(separator)
    }

    fn value(self, value: &Value) -> String {
        match value {
            Value::Text(text) => text.clone(),
            Value::Message(message) => self.render(message),
            Value::List(items) => {
                let separator = if self == Self::Chinese { "、" } else { ", " };
                items.iter().map(|item| self.value(item)).collect::<Vec<_>>().join(separator)
            }
        }
    }

    fn texts(self) -> &'static Texts {
        static ENGLISH: OnceLock<Texts> = OnceLock::new();
        static CHINESE: OnceLock<Texts> = OnceLock::new();
        match self {
            Self::English => ENGLISH.get_or_init(|| texts(|area| area.1)),
            Self::Chinese => CHINESE.get_or_init(|| texts(|area| area.2)),
        }
    }
}

/// All areas of one language; a file that does not parse leaves its area out, which the tests notice.
fn texts(of: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str) -> Texts {
    let mut all = Texts::new();
    for area in AREAS {
        let Ok(table) = of(area).parse::<toml::Table>() else { continue };
        for (name, text) in table {
            if let toml::Value::String(text) = text {
                all.insert(format!("{}.{name}", area.0), text);
            }
        }
    }
    all
}

/// Puts values into `{name}`; `{name?one|many}` chooses by whether the value is 1.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        out.push_str(&rest[..start]);
        let inside = &rest[start + 1..start + length];
        let (name, forms) = inside.split_once('?').map_or((inside, None), |(name, forms)| (name, Some(forms)));
        let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        match (value, forms.and_then(|f| f.split_once('|'))) {
            (Some(value), Some((one, many))) => out.push_str(if value == "1" { one } else { many }),
            (Some(value), None) => out.push_str(value),
            (None, _) => out.push_str(&rest[start..=start + length]),
        }
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}
