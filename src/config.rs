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
    /// Gates of `check`.
    #[serde(default)]
    pub check: CheckConfig,
}

/// `[check]`: what fails a build.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckConfig {
    /// New places of findings at least as bad fail; without it `warning`.
    pub severity: Option<Severity>,
    /// Largest share of failed attempts whose code the evidence contradicts.
    pub max_contradicted_share: Option<Share>,
    /// Smallest share of failed turns that the policy of `--policy` would save.
    pub min_saved_share: Option<Share>,
    /// Most error texts that no wording decides.
    pub max_unknown_wordings: Option<u64>,
    /// Most failures that may be classified otherwise than in the baseline; without it none.
    pub max_reclassified: Option<u64>,
    /// Largest ratio of failure rates, now over baseline; without it 1.25.
    pub rate_ratio_limit: Option<RatioLimit>,
    /// Rules that never fail a build, or may be found so many times.
    #[serde(default)]
    pub rules: BTreeMap<String, RuleGate>,
}

/// A share, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Share(pub f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        let fits = (0.0..=1.0).contains(&value);
        if fits { Ok(Self(value)) } else { Err(format!("{value} is no share; write a number from 0 to 1")) }
    }
}

impl Share {
    /// `25.0 %`
    pub fn percent(self) -> String {
        format!("{:.1} %", 100.0 * self.0)
    }
}

/// A ratio of at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct RatioLimit(pub f64);

impl TryFrom<f64> for RatioLimit {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        let fits = value.is_finite() && value >= 1.0;
        if fits { Ok(Self(value)) } else { Err(format!("{value} is no limit; write a number of 1 or more")) }
    }
}

/// What a rule of its own means for a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "write \"off\", or the largest count that passes")]
pub enum RuleGate {
    /// It may be found so many times, whatever the baseline says.
    AtMost(u64),
    /// It never fails a build.
    Off(Off),
}

/// The word `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Off {
    /// `off`
    Off,
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
        let mut selection = config.selection(Vec::new(), Vec::new());
        selection.only.extend(config.check.rules.keys().cloned());
        if let Err(detail) = selection.checked() {
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
            ("[check]\nmax_contradicted_share = 20\n", ["team.toml", "line 2", "0 to 1"]),
            ("[check]\nrate_ratio_limit = 0.5\n", ["team.toml", "line 2", "1 or more"]),
            ("[check.rules]\ntorn-log = \"never\"\n", ["team.toml", "line 2", "off"]),
            ("[check.rules]\n\ntorn-lgo = 3\n", ["team.toml: line 3", "torn-lgo", "did you mean torn-log"]),
        ] {
            let error = parse(text).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{part:?} in {error}");
            }
        }
    }
}
