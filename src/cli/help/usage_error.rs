//! A command line that cannot be understood, in words.

use std::error::Error;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::message;
use crate::message::Message;
use crate::report::lang::{Language, Said};

/// What is wrong, what may have been meant, how the command is used.
pub(super) fn words(error: &clap::Error, language: Language) -> String {
    let Some(what) = what(error, language) else { return error.render().to_string() };
    let mut out = language.render(&message!("usage.error", what = what)) + "\n";
    let tips = tips(error);
    if !tips.is_empty() {
        out.push('\n');
    }
    for tip in tips {
        out.push_str(&format!("  {}\n", language.render(&message!("usage.tip", tip = tip))));
    }
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        let usage = usage.to_string();
        let usage = usage.trim_start_matches("Usage: ");
        out.push_str(&format!("\n{}\n", language.render(&message!("usage.usage", usage = usage))));
    }
    out + "\n" + &language.say("usage.more") + "\n"
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::Strings(list)) => list,
        Some(ContextValue::String(one)) => std::slice::from_ref(one),
        _ => &[],
    }
}

/// `None` where clap says it in a way of its own.
fn what(error: &clap::Error, language: Language) -> Option<Message> {
    let argument = || text(error, ContextKind::InvalidArg);
    let value = || text(error, ContextKind::InvalidValue);
    let names = |names: &[String]| names.iter().map(|name| format!("\n  {name}")).collect::<String>();
    let said = match error.kind() {
        ErrorKind::ArgumentConflict => {
            let others = list(error, ContextKind::PriorArg);
            if others == [argument()?.clone()] {
                message!("usage.repeated", argument = argument()?)
            } else if let [other] = others {
                message!("usage.conflict", argument = argument()?, other = other)
            } else {
                message!("usage.conflicts", argument = argument()?, others = names(others))
            }
        }
        ErrorKind::InvalidValue => {
            let said = if value()?.is_empty() {
                message!("usage.value-missing", argument = argument()?)
            } else {
                message!("usage.invalid-value", argument = argument()?, value = value()?)
            };
            with_choice(said, list(error, ContextKind::ValidValue))
        }
        ErrorKind::ValueValidation => {
            let said = message!("usage.invalid-value", argument = argument()?, value = value()?);
            match error.source() {
                Some(why) => message!("usage.because", what = said, why = reason(why, language)),
                None => said,
            }
        }
        ErrorKind::InvalidSubcommand => {
            message!("usage.unknown-command", command = text(error, ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::MissingRequiredArgument => {
            message!("usage.missing", arguments = names(list(error, ContextKind::InvalidArg)))
        }
        ErrorKind::TooManyValues => message!("usage.value-too-many", argument = argument()?, value = value()?),
        ErrorKind::UnknownArgument => message!("usage.unknown-argument", argument = argument()?),
        _ => return None,
    };
    Some(said)
}

fn with_choice(what: Message, choice: &[String]) -> Message {
    if choice.is_empty() {
        return what;
    }
    message!("usage.of-values", what = what).with_list("values", choice.iter().map(Message::verbatim))
}

/// Why a value is refused: our own parsers say it in both languages, and of clap's only two speak up here.
fn reason(why: &(dyn Error + 'static), language: Language) -> Message {
    if let Some(said) = why.downcast_ref::<Said>() {
        return said.0.clone();
    }
    let words = why.to_string();
    if language == Language::Chinese {
        if why.is::<ParseIntError>() {
            return message!("usage.no-whole-number");
        }
        if let Some((value, range)) = words.split_once(" is not in ") {
            return message!("usage.out-of-range", value = value, range = range);
        }
    }
    Message::verbatim(words)
}

fn tips(error: &clap::Error) -> Vec<Message> {
    let near = |kind| list(error, kind).iter().map(String::as_str).collect::<Vec<_>>();
    let quoted =
        |names: Vec<&str>| names.into_iter().map(|name| Message::verbatim(format!("'{name}'"))).collect::<Vec<_>>();
    let mut tips = Vec::new();
    for (kind, key) in [
        (ContextKind::SuggestedSubcommand, "usage.similar-commands"),
        (ContextKind::SuggestedArg, "usage.similar-arguments"),
        (ContextKind::SuggestedValue, "usage.similar-values"),
    ] {
        let names = near(kind);
        if !names.is_empty() {
            tips.push(Message::new(key).with("n", names.len()).with_list("names", quoted(names)));
        }
    }
    // A word with a hyphen before it may be meant as a value; clap says so in a sentence of its own.
    if error.get(ContextKind::Suggested).is_some()
        && let Some(argument) = text(error, ContextKind::InvalidArg)
    {
        tips.push(message!("usage.as-value", argument = argument));
    }
    tips
}
