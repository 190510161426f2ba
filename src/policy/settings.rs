//! Retry policies where the user writes them: `settings.yaml`, `cordis.patch.yml`, and our own `policies.toml`.

use super::model::RetryPolicy;
use super::named::{NamedPolicy, named_policies};
use super::node::{Entry, Node, SyntaxError};
use super::refusal::{Refusal, Wording};
use super::release::Release;
use super::resolve::resolve_policy;
use super::spelling::normalized;

/// The route that the `llm-deepseek` adapter owns.
pub const DEEPSEEK_ROUTE: &str = "deepseek-official";

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// The user settings of the harness (`$DSH_HOME/settings.yaml`, or JSON).
    Settings,
    /// Rows of plugins (`cordis.patch.yml`, `cordis.yml`).
    Cordis,
    /// Our own `policies.toml`.
    Policies,
}

impl FileKind {
    /// By name and, where the name leaves it open, by the text: rows of plugins are a list, settings a map.
    #[must_use]
    pub fn of(file_name: &str, text: &str) -> Self {
        let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name).to_lowercase();
        if name.ends_with(".toml") {
            return Self::Policies;
        }
        if name.contains("cordis") {
            return Self::Cordis;
        }
        let first =
            text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
        if first.is_some_and(|line| line.starts_with("- ") || line == "-" || line.starts_with('[')) {
            Self::Cordis
        } else {
            Self::Settings
        }
    }
}

/// The adapter that serves a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// `llm-pi-ai`: one policy per provider.
    PiAi,
    /// `llm-deepseek`: one policy for `deepseek-official`.
    DeepSeek,
}

/// One route that the file configures.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteSettings {
    /// The provider name, as the log has it.
    pub route: String,
    /// See [`Adapter`].
    pub adapter: Adapter,
    /// Line of the route's key.
    pub line: usize,
    /// The route's whole profile.
    pub profile: Node,
    /// The `retryPolicy` as written; `None`: the harness takes its default.
    pub written: Option<Entry>,
    /// The policy in force, or why the harness refuses it.
    pub policy: Result<RetryPolicy, Vec<Refusal>>,
}

impl RouteSettings {
    /// Line of a key of the policy (`maxRetries`) or of its backoff (`maxDelayMs`); else of `retryPolicy`, else of the
    /// route.
    #[must_use]
    pub fn line_of(&self, key: &str) -> usize {
        let Some(written) = &self.written else {
            return self.line;
        };
        let backoff = written.node.get("backoff");
        written
            .node
            .entry(key)
            .or_else(|| backoff.and_then(|backoff| backoff.entry(key)))
            .map_or(written.line, |entry| entry.line)
    }
}

/// A `retryPolicy` where nothing reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Misplaced {
    /// Keys from the root; list positions as numbers.
    pub path: Vec<String>,
    /// Line of the key.
    pub line: usize,
    /// It stands in the configuration of the `llm-retry` plugin.
    pub under_executor: bool,
}

/// A file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFile {
    /// See [`FileKind`].
    pub kind: FileKind,
    /// The whole document.
    pub root: Node,
    /// Routes in order of the file.
    pub routes: Vec<RouteSettings>,
    /// Policies that nothing reads.
    pub misplaced: Vec<Misplaced>,
    /// Policies of `policies.toml`.
    pub named: Vec<NamedPolicy>,
}

impl SettingsFile {
    /// The policy that the file gives a route; `None` when the file does not configure it or the harness refuses it.
    #[must_use]
    pub fn policy_of(&self, route: &str) -> Option<&RetryPolicy> {
        self.routes.iter().find(|found| found.route == route)?.policy.as_ref().ok()
    }
}

/// Read a file as the harness of this release would.
///
/// # Errors
/// Text that is no YAML or TOML. What the harness refuses beyond that stands in the result, policy by policy.
pub fn read_settings(text: &str, kind: FileKind, release: &Release) -> Result<SettingsFile, SyntaxError> {
    let root = if kind == FileKind::Policies { Node::from_toml(text)? } else { Node::from_yaml(text)? };
    let mut file = SettingsFile { kind, root, routes: Vec::new(), misplaced: Vec::new(), named: Vec::new() };
    match kind {
        FileKind::Settings => {
            for section in file.root.entries() {
                collect_section(&section.key, section, release, &mut file.routes);
            }
        }
        FileKind::Cordis => collect_rows(&file.root, release, &mut file.routes),
        FileKind::Policies => file.named = named_policies(&file.root, release),
    }
    if kind != FileKind::Policies {
        collect_misplaced(&file.root, kind, &Place::default(), &mut file.misplaced);
    }
    Ok(file)
}

fn collect_section(section: &str, entry: &Entry, release: &Release, routes: &mut Vec<RouteSettings>) {
    match section {
        "llm-deepseek" => routes.push(route(DEEPSEEK_ROUTE, Adapter::DeepSeek, entry, release)),
        "llm-pi-ai" => {
            let providers = entry.node.get("providers").map(Node::entries).unwrap_or_default();
            routes.extend(providers.iter().map(|provider| route(&provider.key, Adapter::PiAi, provider, release)));
        }
        _ => {}
    }
}

fn route(name: &str, adapter: Adapter, profile: &Entry, release: &Release) -> RouteSettings {
    let written = profile.node.entry("retryPolicy").cloned();
    let wording = if adapter == Adapter::PiAi { Wording::pi_ai(name) } else { Wording::deepseek() };
    let policy = match &written {
        None => Ok(RetryPolicy::default_for(release)),
        Some(entry) => resolve_policy(&entry.node, &wording, release),
    };
    RouteSettings {
        route: name.to_owned(),
        adapter,
        line: profile.line,
        profile: profile.node.clone(),
        written,
        policy,
    }
}

/// The section of the settings that a row of plugins corresponds to: by plugin name, else by id.
#[must_use]
pub fn plugin_of(row: &Node) -> Option<&str> {
    let name = row.get("name").and_then(Node::text);
    let plugin = match name {
        Some(name) => name.strip_prefix("@deepseek-ai/").unwrap_or(name).strip_prefix("dsh-")?,
        None => row.get("id").and_then(Node::text)?,
    };
    ["llm-deepseek", "llm-pi-ai", "llm-retry"].into_iter().find(|known| *known == plugin)
}

/// Rows stand in lists, below `insert`, and below the `config` of including rows: every map is looked at.
fn collect_rows(node: &Node, release: &Release, routes: &mut Vec<RouteSettings>) {
    if let (Some(plugin), Some(config)) = (plugin_of(node), node.entry("config")) {
        collect_section(plugin, config, release, routes);
    }
    node.entries().iter().for_each(|entry| collect_rows(&entry.node, release, routes));
    node.items().iter().for_each(|item| collect_rows(item, release, routes));
}

/// Where a walk stands: keys from the root, and keys from the section that an adapter reads.
#[derive(Clone, Default)]
struct Place {
    path: Vec<String>,
    section: Vec<String>,
}

impl Place {
    fn below(&self, key: &str) -> Self {
        let mut place = self.clone();
        place.path.push(key.to_owned());
        place.section.push(key.to_owned());
        place
    }

    fn counts(&self) -> bool {
        match self.section.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["llm-deepseek", key] | ["llm-pi-ai", "providers", _, key] => key == "retryPolicy",
            _ => false,
        }
    }
}

/// Every key that reads as `retryPolicy` and stands at none of the places that count.
fn collect_misplaced(node: &Node, kind: FileKind, place: &Place, found: &mut Vec<Misplaced>) {
    let plugin = if kind == FileKind::Cordis { plugin_of(node) } else { None };
    for entry in node.entries() {
        let mut here = place.below(&entry.key);
        if let (Some(plugin), "config") = (plugin, entry.key.as_str()) {
            here.section = vec![plugin.to_owned()];
        }
        if normalized(&entry.key) != normalized("retryPolicy") {
            collect_misplaced(&entry.node, kind, &here, found);
        } else if !here.counts() {
            let under_executor = here.section.first().is_some_and(|section| section == "llm-retry");
            found.push(Misplaced { path: here.path, line: entry.line, under_executor });
        }
    }
    for (index, item) in node.items().iter().enumerate() {
        collect_misplaced(item, kind, &place.below(&index.to_string()), found);
    }
}
