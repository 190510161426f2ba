//! In: the command line as typed.
//! Out: [`Cli`], or help and usage errors in the reader's language.
//! Always: the English words are the doc comments of the arguments; the Chinese ones stand in `report/lang/zh/help.toml`,
//! keyed by the English, so that a changed argument without a new translation fails a test.

mod chinese;
mod usage_error;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, ValueEnum};

use super::args::Cli;
use super::plan::columns;
use crate::report::lang::Language;

/// Help is easiest to read up to this width.
const WIDEST: usize = 100;

/// Parses the command line of this process; what is left to do where it asks for help or cannot be understood is an
/// exit status.
///
/// # Errors
/// When there is nothing to run: help or an error was printed.
pub fn parse() -> Result<Cli, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let language = asked_language(&arguments).unwrap_or_else(Language::from_environment);
    let mut command = command(language, columns(io::stdout().is_terminal()).unwrap_or(WIDEST).min(WIDEST));
    let parsed =
        command.try_get_matches_from_mut(language_last(arguments)).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        print(&error, language);
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// The commands and arguments, described in `language`; Chinese is set for `width` columns, English by clap itself.
pub fn command(language: Language, width: usize) -> Command {
    match language {
        Language::English => Cli::command(),
        Language::Chinese => chinese::command(Cli::command(), width),
    }
}

/// The value of `--lang`, wherever it stands: it must be known before the rest can be found wrong.
fn asked_language(arguments: &[OsString]) -> Option<Language> {
    let before_values = || arguments.iter().take_while(|argument| *argument != "--");
    let after = before_values().position(|argument| argument == "--lang").and_then(|at| arguments.get(at + 1));
    let joined = || before_values().find_map(|argument| argument.to_str()?.strip_prefix("--lang="));
    let name = after.and_then(|name| OsStr::to_str(name)).or_else(joined)?;
    Language::from_str(name, true).ok()
}

/// Moves a `--lang` that stands in front of the command behind it, where clap knows it; `help` and what stands alone take
/// none, and have been given their language already.
fn language_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_lang =
        |argument: &OsString| argument == "--lang" || argument.to_str().is_some_and(|a| a.starts_with("--lang="));
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let leading = arguments.get(1).is_some_and(is_lang);
    let help = arguments.get(1).is_some_and(|argument| argument == "help");
    let Some(at) = arguments.iter().take(end).position(is_lang).filter(|_| leading || help) else { return arguments };
    let length = if arguments[at] == "--lang" { 2.min(arguments.len() - at) } else { 1 };
    let language: Vec<OsString> = arguments.drain(at..at + length).collect();
    if arguments.get(1).is_some_and(|first| first != "help" && !first.to_string_lossy().starts_with('-')) {
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        arguments.splice(end..end, language);
    }
    arguments
}

fn print(error: &clap::Error, language: Language) {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    // A closed pipe is no error: the reader has seen enough.
    let _ = match (is_help, language) {
        (true, Language::English) => error.print(),
        (true, Language::Chinese) if error.use_stderr() => {
            io::stderr().write_all(trimmed(error, io::stderr().is_terminal()).as_bytes())
        }
        (true, Language::Chinese) => io::stdout().write_all(trimmed(error, io::stdout().is_terminal()).as_bytes()),
        (false, _) => io::stderr().write_all(usage_error::words(error, language).as_bytes()),
    };
}

/// The help without the blanks that stand at the end of lines, and with Chinese colons.
fn trimmed(error: &clap::Error, to_terminal: bool) -> String {
    let color = to_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = if color { error.render().ansi().to_string() } else { error.render().to_string() };
    // clap sets a colon of its own behind its headings, with the end of their style where there is one.
    let heading = |line: &str| !line.starts_with(' ') && (line.ends_with(':') || line.ends_with(":\u{1b}[0m"));
    let line = |line: &str| if heading(line) { line.replacen(':', "：", 1) } else { line.trim_end().to_owned() };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Language> {
        asked_language(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_language_is_found_before_the_line_is_understood() {
        assert_eq!(asked("dsh-forensics scan --no-such --lang zh"), Some(Language::Chinese));
        assert_eq!(asked("dsh-forensics --lang=en scan"), Some(Language::English));
        assert_eq!(asked("dsh-forensics classify -- --lang zh"), None);
        assert_eq!(asked("dsh-forensics scan --lang"), None);
    }

    #[test]
    fn a_language_before_the_command_is_moved_behind_it() {
        use super::language_last;

        for (typed, read) in [
            ("d --lang zh scan --demo", "d scan --demo --lang zh"),
            ("d --lang=zh policy show x -- y", "d policy show x --lang=zh -- y"),
            ("d --lang zh --help", "d --help"),
            ("d help scan --lang zh", "d help scan"),
            ("d scan --lang zh", "d scan --lang zh"),
            ("d scan -- --lang zh", "d scan -- --lang zh"),
            ("d --lang", "d"),
        ] {
            let arguments = typed.split(' ').map(Into::into).collect();
            assert_eq!(language_last(arguments).join(std::ffi::OsStr::new(" ")), *read, "{typed}");
        }
    }
}
