//! In: attempts with the window that the log states, windows typed by the user or configured, error messages.
//! Out: every attempt's window with its source.
//! Always: the log wins; then what was typed; then the harness's settings; then the provider's own error; else unknown.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::message;
use crate::policy::node::Node;
use crate::policy::settings::{RouteSettings, SettingsFile};
use crate::report::lang::Said;
use crate::session::{Route, SessionRows};

/// Where a context window comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// `request/context` in the log.
    Logged,
    /// `--context-window MODEL=N`.
    Typed,
    /// `--settings FILE`: `contextWindow` of the model in the harness's settings.
    Settings,
    /// A number in an error message of the same route.
    ErrorMessage,
}

/// Windows that stand in no log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownWindows {
    /// Typed: model and tokens; of several for one model the last counts.
    pub typed: Vec<(String, u64)>,
    /// From a settings file: route and tokens.
    pub settings: Vec<(Route, u64)>,
}

impl WindowSource {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logged => "logged",
            Self::Typed => "typed",
            Self::Settings => "settings",
            Self::ErrorMessage => "error_message",
        }
    }
}

/// Reads `MODEL=N`; N may be grouped by `_`.
///
/// # Errors
/// When the form is another, or N is no positive number.
pub fn parse_window(text: &str) -> Result<(String, u64), Said> {
    let parts = text.rsplit_once('=').filter(|(model, _)| !model.is_empty());
    let parsed = parts.and_then(|(model, tokens)| Some((model.to_owned(), tokens.replace('_', "").parse().ok()?)));
    let refused = || Said(message!("usage.no-context-window", text = format!("{text:?}")));
    parsed.filter(|(_, tokens)| *tokens > 0).ok_or_else(refused)
}

/// The windows that a settings file gives its models. Models without `contextWindow` are left out: what the harness
/// assumes for them depends on its catalogue.
pub fn configured(file: &SettingsFile) -> Vec<(Route, u64)> {
    let of_route = |route: &RouteSettings| -> Vec<(Route, u64)> {
        let models = route.profile.get("models").map(Node::items).unwrap_or_default();
        let window = |model: &Node| {
            let tokens = model.get("contextWindow")?.number().filter(|n| (1.0..1e15).contains(n))?;
            let route = Route { provider: route.route.clone(), model: model.get("id")?.text()?.to_owned() };
            Some((route, tokens as u64))
        };
        models.iter().filter_map(window).collect()
    };
    file.routes.iter().flat_map(of_route).collect()
}

/// Wordings in which providers state the limit (spec of the error texts: `docs/codes.md`).
#[allow(clippy::expect_used)] // A constant pattern; a test uses it.
static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:maximum (?:context|prompt) length|context (?:length|window|size)|maximum allowed input length)(?: limit)?(?: is| of|:)?\s*\(?(\d[\d,_]{2,11})",
    )
    .expect("constant pattern")
});

/// The window that an error message states, tokens.
pub fn stated_window(message: &str) -> Option<u64> {
    let digits = LIMIT.captures(message)?.get(1)?.as_str().replace([',', '_'], "");
    digits.parse().ok().filter(|n| *n >= 256)
}

/// Fills windows that the log does not state.
pub fn fill(sessions: &mut [SessionRows], known: &KnownWindows) {
    let mut stated: HashMap<Arc<Route>, u64> = HashMap::new();
    for attempt in sessions.iter_mut().flat_map(|s| &mut s.attempts) {
        if attempt.window.is_some() {
            attempt.window_source = Some(WindowSource::Logged);
        } else if let Some((_, tokens)) = known.typed.iter().rfind(|(model, _)| *model == attempt.route.model) {
            attempt.window = Some(*tokens);
            attempt.window_source = Some(WindowSource::Typed);
        } else if let Some((_, tokens)) = known.settings.iter().rfind(|(route, _)| *route == *attempt.route) {
            attempt.window = Some(*tokens);
            attempt.window_source = Some(WindowSource::Settings);
        } else if let Some(tokens) = attempt.failure.as_ref().and_then(|f| stated_window(&f.message)) {
            stated.insert(Arc::clone(&attempt.route), tokens);
        }
    }
    if stated.is_empty() {
        return;
    }
    for attempt in sessions.iter_mut().flat_map(|s| &mut s.attempts).filter(|a| a.window.is_none()) {
        if let Some(tokens) = stated.get(&attempt.route) {
            attempt.window = Some(*tokens);
            attempt.window_source = Some(WindowSource::ErrorMessage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{configured, parse_window, stated_window};
    use crate::policy::{FileKind, Release, read_settings};
    use crate::session::Route;

    #[test]
    fn limits_in_error_texts_are_read() {
        for (text, limit) in [
            ("This model's maximum context length is 131072 tokens. However, you requested 140000", Some(131_072)),
            ("the request exceeds the available context size (8192 tokens)", Some(8_192)),
            ("maximum prompt length is 256,000", Some(256_000)),
            ("400 status code (no body)", None),
        ] {
            assert_eq!(stated_window(text), limit, "{text}");
        }
    }

    #[test]
    fn a_typed_window_names_its_model() {
        assert_eq!(parse_window("a=b/c=1_000_000"), Ok(("a=b/c".to_owned(), 1_000_000)));
        assert!(parse_window("m=0").is_err() && parse_window("=5").is_err() && parse_window("m").is_err());
    }

    #[test]
    fn settings_give_windows_to_the_models_of_each_provider() {
        let text = "llm-pi-ai:\n  providers:\n    gw:\n      models:\n      - id: big\n        contextWindow: 131072\n      \
                    - id: plain\nllm-deepseek:\n  models:\n  - id: big\n    contextWindow: 1000000\n";
        let file = read_settings(text, FileKind::Settings, &"0.1.1".parse::<Release>().unwrap()).unwrap();
        let route = |provider: &str| Route { provider: provider.into(), model: "big".into() };
        assert_eq!(configured(&file), [(route("gw"), 131_072), (route("deepseek-official"), 1_000_000)]);
    }
}
