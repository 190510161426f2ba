//! A sentence in no language yet: its key and its values. [`crate::report::lang`] puts it into words.

use std::fmt::Display;

/// A sentence by its key in `src/report/lang/*/AREA.toml`, with the values that stand in it.
///
/// Analyses hold messages; only renderers choose a language. Values are already formatted (grouped, with unit).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// `area.name`, the area being the name of the file.
    pub key: &'static str,
    /// Placeholder and value.
    pub values: Vec<(&'static str, Value)>,
}

/// What stands in a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Text that is the same in every language: numbers, names, codes, error texts.
    Text(String),
    /// Another sentence.
    Message(Box<Message>),
    /// Sentences set one after another, with a comma between.
    List(Vec<Value>),
}

impl<T: Display> From<T> for Value {
    fn from(value: T) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<Message> for Value {
    fn from(message: Message) -> Self {
        Self::Message(Box::new(message))
    }
}

impl Message {
    /// Words that are the same in every language: what the system, a library or the harness said.
    pub fn verbatim(words: impl Display) -> Self {
        Self::new("common.verbatim").with("words", words.to_string())
    }

    /// A sentence without values.
    pub fn new(key: &'static str) -> Self {
        Self { key, values: Vec::new() }
    }

    /// With one more value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// With a value that is itself a sentence.
    #[must_use]
    pub fn with_message(mut self, name: &'static str, message: Message) -> Self {
        self.values.push((name, message.into()));
        self
    }

    /// With a value that is a list of sentences.
    #[must_use]
    pub fn with_list(mut self, name: &'static str, messages: impl IntoIterator<Item = Message>) -> Self {
        let list = messages.into_iter().map(Value::from).collect();
        self.values.push((name, Value::List(list)));
        self
    }

    /// With a value that is a list of words which are the same in every language: codes, names.
    #[must_use]
    pub fn with_words<T: Display>(self, name: &'static str, words: impl IntoIterator<Item = T>) -> Self {
        self.with_list(name, words.into_iter().map(Self::verbatim))
    }
}

/// `message!("area.key", name = value, …)`.
#[macro_export]
macro_rules! message {
    ($key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::message::Message::new($key)$(.with(stringify!($name), $value))*
    };
}
