//! In: `dsh-forensics.toml` in the working directory, or the file of `--config`.
//! Out: [`Config`]: what a team always wants, so that nobody has to type it.
//! Always: unknown keys are errors that name file and line; the command line beats the file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::findings::{Selection, Severity};
use crate::message;
use crate::message::{Message, Value};
use crate::report::lang::{Language, Said};

/// The file looked for in the working directory.
pub const FILE_NAME: &str = "dsh-forensics.toml";

/// The configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Exit status 1 when a finding is at least as bad.
    pub fail_on: Option<Severity>,
    /// `en` or `zh`.
    pub lang: Option<Language>,
    /// Context windows by model, tokens, where the log does not state them.
    #[serde(default)]
    pub context_windows: BTreeMap<String, u64>,
    /// Which rules run.
    #[serde(default)]
    pub rules: RulesConfig,
}

/// `[rules]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesConfig {
    /// Rules that do not run.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Severities that differ from the rules' own.
    #[serde(default)]
    pub severity: BTreeMap<String, Severity>,
}

impl Config {
    /// Reads the file that was named, else the one in the working directory, else nothing.
    ///
    /// # Errors
    /// When the named file is absent, or a file has unknown keys or wrong values.
    pub fn load(named: Option<&Path>) -> Result<Self, Said> {
        let path = named.unwrap_or(Path::new(FILE_NAME));
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Said(message!("findings.unreadable", path = path.display(), why = error))),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Said> {
        let wrong = |detail: Message| {
            Said(Message::new("findings.config-wrong").with("path", path.display()).with_message("detail", detail))
        };
        let config: Self = toml::from_str(text)
            .map_err(|error| wrong(message!("findings.config-parser", text = error.to_string().trim_end())))?;
        // The names of rules are checked here, so that the error names the file.
        if let Err(detail) = config.selection(Vec::new(), Vec::new()).checked() {
            let name = detail.values.first().and_then(|(_, value)| match value {
                Value::Text(name) => Some(name.trim_matches('"').to_owned()),
                _ => None,
            });
            let named = |line: &str| name.as_ref().is_some_and(|name| line.contains(name.as_str()));
            let line = text.lines().position(named).map_or(0, |line| line + 1);
            return Err(wrong(message!("findings.config-line", line = line).with_message("detail", detail)));
        }
        Ok(config)
    }

    /// The choice of rules: what was typed, and what the file ignores. A rule named with `--only` runs whatever the file
    /// says.
    pub fn selection(&self, only: Vec<String>, ignore: Vec<String>) -> Selection {
        let from_file = self.rules.ignore.iter().filter(|name| !only.contains(name)).cloned();
        let ignore = ignore.into_iter().chain(from_file).collect();
        Selection { only, ignore, severities: self.rules.severity.clone() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::path::Path;

    use super::Config;
    use crate::findings::Severity;
    use crate::report::lang::Language;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("team.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_sets_what_a_team_wants() {
        let config = parse(
            "fail_on = \"error\"\nlang = \"zh\"\n[rules]\nignore = [\"torn-log\"]\n[rules.severity]\nbodyless-400 = \"note\"\n[context_windows]\n\"deepseek-chat\" = 131072\n",
        )
        .unwrap();
        assert_eq!((config.fail_on, config.lang), (Some(Severity::Error), Some(Language::Chinese)));
        assert_eq!(config.context_windows["deepseek-chat"], 131_072);
        let selection = config.selection(vec!["torn-log".to_owned()], vec!["seq-fork".to_owned()]);
        assert_eq!(selection.ignore, ["seq-fork"], "a rule asked for by name runs");
        assert_eq!(selection.severities["bodyless-400"], Severity::Note);
    }

    #[test]
    fn mistakes_name_file_and_line() {
        for (text, parts) in [
            ("\nfail_at = \"error\"\n", ["team.toml", "line 2", "fail_at"]),
            ("fail_on = \"fatal\"\n", ["team.toml", "line 1", "fatal"]),
            ("\n[rules]\nignore = [\"torn-lgo\"]\n", ["team.toml: line 3", "torn-lgo", "did you mean torn-log"]),
            ("[context_windows]\nm = \"big\"\n", ["team.toml", "line 2", "big"]),
        ] {
            let error = parse(text).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{part:?} in {error}");
            }
        }
    }
}
