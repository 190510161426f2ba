//! A settings document as a tree that knows the line of every key and value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy, Spanned};
use toml::de::{DeTable, DeValue};

use super::model::{js_number, json_string};

/// One value and the line (from 1) where it stands; 0 where the parser does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Line from 1.
    pub line: usize,
    /// What stands there.
    pub value: Value,
}

/// What a [`Node`] holds. Numbers are JavaScript's: one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// Text; also dates.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in order of the file.
    Map(Vec<Entry>),
}

/// One key of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Line of the key, from 1.
    pub line: usize,
    /// What it holds.
    pub node: Node,
}

/// The text is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    /// Line from 1; 0 where unknown.
    pub line: usize,
    /// The parser's words.
    pub message: String,
}

impl Node {
    /// Read YAML 1.2 (JSON is a part of it), with the rules of the harness's parser: duplicate keys are an error,
    /// `yes` and `1_000` are text, `<<` is a key like any other.
    ///
    /// # Errors
    /// Text that is no YAML, with the line.
    pub fn from_yaml(text: &str) -> Result<Self, SyntaxError> {
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Self { line: 1, value: Value::Null });
        }
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::Error,
            strict_booleans: true,
            underscored_numbers_as_strings: true,
            merge_keys: MergeKeyPolicy::AsOrdinary,
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options::<Self>(text, options).map_err(|error| {
            let line = error.location().map_or(0, |location| usize::try_from(location.line()).unwrap_or(0));
            let message = error.to_string();
            SyntaxError { line: tab_line(text, line, &message), message: plain_words(message) }
        })
    }

    /// Read TOML.
    ///
    /// # Errors
    /// Text that is no TOML, with the line.
    pub fn from_toml(text: &str) -> Result<Self, SyntaxError> {
        let lines = LineIndex::new(text);
        let table = DeTable::parse(text).map_err(|error| SyntaxError {
            line: error.span().map_or(0, |span| lines.line(span.start)),
            message: error.message().to_owned(),
        })?;
        Ok(Self { line: 1, value: toml_map(table.get_ref(), &lines) })
    }

    /// The entries of a map; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// One entry of a map.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of one entry of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The items of a list; none for anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text of a text node.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a number node.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether nothing stands there.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The value as `JSON.stringify` writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => js_number(*value),
            Value::Text(text) => json_string(text),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_json).collect();
                format!("[{}]", items.join(","))
            }
            Value::Map(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|entry| format!("{}:{}", json_string(&entry.key), entry.node.to_json()))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { line: usize::try_from(spanned.referenced.line()).unwrap_or(0), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
                Value::deserialize(deserializer)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
                Ok(Value::Number(value as f64))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Number(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Value::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    let line = usize::try_from(key.referenced.line()).unwrap_or(0);
                    entries.push(Entry { key: key.value, line, node: map.next_value()? });
                }
                Ok(Value::Map(entries))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

/// The parser names the start of the text before a tab; the reader wants the line of the tab.
fn tab_line(text: &str, line: usize, message: &str) -> usize {
    let indented_by_tab = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    let rest = || text.lines().enumerate().skip(line.saturating_sub(1)).take(2);
    let found = rest().find(|(_, line)| indented_by_tab(line)).map(|(index, _)| index + 1);
    if message.contains("tab") { found.unwrap_or(line) } else { line }
}

/// The parser's words without its advice to programmers.
fn plain_words(message: String) -> String {
    if message.contains("multiple YAML documents") {
        return "more than one document (---) in the file".to_owned();
    }
    if message.contains("budget breached") {
        return "too deep, or too many values (aliases that repeat each other?)".to_owned();
    }
    message.replace(", set DuplicateKeyPolicy in Options if acceptable", "")
}

/// Byte offset → line.
struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}

fn toml_map(table: &DeTable<'_>, lines: &LineIndex) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            line: lines.line(key.span().start),
            node: toml_node(value.get_ref(), lines.line(value.span().start), lines),
        })
        .collect();
    // The parser sorts keys by name; a reader expects the order of the file.
    entries.sort_by_key(|entry| entry.line);
    Value::Map(entries)
}

fn toml_node(value: &DeValue<'_>, line: usize, lines: &LineIndex) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            // Hexadecimal, octal and binary arrive without their prefix.
            i128::from_str_radix(&digits, number.radix()).map_or(Value::Text(digits), |n| Value::Number(n as f64))
        }
        DeValue::Float(number) => {
            let digits = number.as_str().replace('_', "");
            digits.parse().map_or(Value::Text(digits), Value::Number)
        }
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(items) => Value::List(
            items.iter().map(|item| toml_node(item.get_ref(), lines.line(item.span().start), lines)).collect(),
        ),
        DeValue::Table(table) => toml_map(table, lines),
    };
    Node { line, value }
}
