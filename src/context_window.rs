//! In: attempts with the window that the log states, windows typed by the user or configured, error messages.
//! Out: every attempt's window with its source.
//! Always: the log wins; then the harness's settings; then the provider's own error; then what the user gave; else unknown.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::message;
use crate::notice::Notice;
use crate::policy::node::Node;
use crate::policy::settings::{RouteSettings, SettingsFile};
use crate::report::lang::Said;
use crate::report::numbers::grouped;
use crate::session::{AttemptRow, Route, SessionRows};

/// Where a context window comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// `request/context` in the log.
    Logged,
    /// `--settings FILE`: `contextWindow` of the model in the harness's settings.
    Settings,
    /// A number in an error message of the same route.
    ErrorMessage,
    /// Given by the user: `--context-window MODEL=N`, or `[context_windows]` of the configuration file.
    Typed,
}

/// Windows that stand in no log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownWindows {
    /// Typed: model and tokens; of several for one model the last counts.
    pub typed: Vec<(String, u64)>,
    /// From the configuration file.
    pub configured: Vec<(String, u64)>,
    /// From a settings file: route and tokens.
    pub settings: Vec<(Route, u64)>,
}

impl WindowSource {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logged => "logged",
            Self::Settings => "settings",
            Self::ErrorMessage => "error_message",
            Self::Typed => "typed",
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

/// Fills windows that the log does not state. What the user gave and something nearer to the truth contradicts is not
/// used, and said so: nobody who types a number is silently ignored.
pub fn fill(sessions: &mut [SessionRows], known: &KnownWindows) -> Vec<Notice> {
    let stated = stated_by_route(sessions);
    let mut given: Vec<Given> = known.given().collect();
    for attempt in sessions.iter_mut().flat_map(|s| &mut s.attempts) {
        let typed = given.iter_mut().find(|given| given.model == attempt.route.model);
        let settings = || known.settings.iter().rfind(|(route, _)| *route == *attempt.route).map(|(_, tokens)| *tokens);
        let (window, source) = if let Some(logged) = attempt.window {
            (Some(logged), WindowSource::Logged)
        } else if let Some(tokens) = settings() {
            (Some(tokens), WindowSource::Settings)
        } else if let Some(tokens) = stated.get(&attempt.route) {
            (Some(*tokens), WindowSource::ErrorMessage)
        } else {
            (typed.as_ref().map(|given| given.tokens), WindowSource::Typed)
        };
        attempt.window = window;
        attempt.window_source = window.map(|_| source);
        if let (Some(given), Some(window)) = (typed, window) {
            given.attempts += 1;
            if window != given.tokens {
                *given.overruled.entry((source.name(), window)).or_default() += 1;
            }
        }
    }
    given.iter().flat_map(Given::notices).collect()
}

/// The last window that an error message of each route states; nothing where every attempt's window is logged.
fn stated_by_route(sessions: &[SessionRows]) -> HashMap<Arc<Route>, u64> {
    let attempts = || sessions.iter().flat_map(|s| &s.attempts);
    if attempts().all(|a| a.window.is_some()) {
        return HashMap::new();
    }
    let of = |a: &AttemptRow| Some((Arc::clone(&a.route), stated_window(&a.failure.as_ref()?.message)?));
    attempts().filter_map(of).collect()
}

/// A window that the user gave for a model, and what became of it.
struct Given {
    model: String,
    tokens: u64,
    typed: bool,
    /// Attempts of the model.
    attempts: u64,
    /// Attempts whose window is another, by its source and size.
    overruled: BTreeMap<(&'static str, u64), u64>,
}

impl Given {
    fn notices(&self) -> Vec<Notice> {
        if self.attempts == 0 && self.typed {
            let message = message!("notices.window-unused", model = &self.model, typed = grouped(self.tokens));
            return vec![Notice::new("window-unused", message)];
        }
        let of_source = |((source, window), attempts): (&(&'static str, u64), &u64)| {
            let by = match *source {
                "settings" => message!("notices.window-by-settings", window = grouped(*window)),
                "error_message" => message!("notices.window-by-error", window = grouped(*window)),
                _ => message!("notices.window-by-log", window = grouped(*window)),
            };
            let message = message!(
                "notices.window-overruled",
                model = &self.model,
                typed = grouped(self.tokens),
                n = grouped(*attempts)
            );
            Notice::new("window-overruled", message.with_message("by", by))
        };
        self.overruled.iter().map(of_source).collect()
    }
}

impl KnownWindows {
    /// One window for each model: of several the last counts, and what was typed beats the configuration file.
    fn given(&self) -> impl Iterator<Item = Given> {
        let all =
            self.configured.iter().map(|known| (known, false)).chain(self.typed.iter().map(|known| (known, true)));
        let by_model: BTreeMap<&str, (u64, bool)> =
            all.map(|((model, tokens), typed)| (model.as_str(), (*tokens, typed))).collect();
        by_model.into_iter().map(|(model, (tokens, typed))| Given {
            model: model.to_owned(),
            tokens,
            typed,
            attempts: 0,
            overruled: BTreeMap::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownWindows, WindowSource, configured, fill, parse_window, stated_window};
    use crate::evidence::test_rows::Rows;
    use crate::policy::{FileKind, Release, read_settings};
    use crate::report::lang::Language;
    use crate::session::{Route, SessionRows};

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

    const STATED: &str = "400 This model's maximum context length is 8192 tokens. However, you requested 9000";

    /// Two attempts of one route, the second of which fails; `logged`: the window in the log.
    fn session(logged: Option<u64>, message: &str) -> [SessionRows; 1] {
        let window = |a: &mut crate::session::AttemptRow| a.window = logged;
        [Rows::new("s").ok(1_000).with(window).failed(9_000, "CONTEXT_WINDOW_EXCEEDED", message).with(window).done()]
    }

    fn found(sessions: &mut [SessionRows], known: &KnownWindows) -> (Option<u64>, Option<WindowSource>, Vec<String>) {
        let notices = fill(sessions, known).iter().map(|n| Language::English.render(&n.message)).collect();
        (sessions[0].attempts[0].window, sessions[0].attempts[0].window_source, notices)
    }

    #[test]
    fn log_settings_error_and_user_are_asked_in_this_order() {
        let route = (*session(None, "x")[0].attempts[0].route).clone();
        let model = route.model.clone();
        let typed = vec![(model.clone(), 5_000)];
        let known = |settings: &[u64]| KnownWindows {
            typed: typed.clone(),
            configured: vec![(model.clone(), 4_000)],
            settings: settings.iter().map(|tokens| (route.clone(), *tokens)).collect(),
        };
        let by_log = found(&mut session(Some(9_000), STATED), &known(&[7_000]));
        assert_eq!((by_log.0, by_log.1), (Some(9_000), Some(WindowSource::Logged)));
        let by_settings = found(&mut session(None, STATED), &known(&[7_000]));
        assert_eq!((by_settings.0, by_settings.1), (Some(7_000), Some(WindowSource::Settings)));
        let by_error = found(&mut session(None, STATED), &known(&[]));
        assert_eq!((by_error.0, by_error.1), (Some(8_192), Some(WindowSource::ErrorMessage)));
        let by_user = found(&mut session(None, "400 status code (no body)"), &known(&[]));
        assert_eq!((by_user.0, by_user.1, by_user.2), (Some(5_000), Some(WindowSource::Typed), vec![]));
        let unknown = found(&mut session(None, "400 status code (no body)"), &KnownWindows::default());
        assert_eq!((unknown.0, unknown.1), (None, None));
    }

    #[test]
    fn a_typed_window_that_is_not_used_is_not_silently_ignored() {
        let model = session(None, "x")[0].attempts[0].route.model.clone();
        let typed = |model: &str| KnownWindows { typed: vec![(model.to_owned(), 5_000)], ..KnownWindows::default() };
        let (_, _, notices) = found(&mut session(None, STATED), &typed(&model));
        assert_eq!(notices.len(), 1);
        assert!(notices[0].contains("5,000") && notices[0].contains("8,192") && notices[0].contains("2 attempts"));
        let (_, _, notices) = found(&mut session(Some(9_000), STATED), &typed(&model));
        assert!(notices[0].contains("the log") && notices[0].contains("9,000"), "{notices:?}");
        let (_, _, notices) = found(&mut session(Some(5_000), STATED), &typed(&model));
        assert!(notices.is_empty(), "both say the same: {notices:?}");
        let (_, _, notices) = found(&mut session(None, STATED), &typed("other"));
        assert!(notices.len() == 1 && notices[0].contains("other"), "{notices:?}");
    }
}
