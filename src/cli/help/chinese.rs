//! The command tree with Chinese descriptions. clap breaks lines at blanks only, which Chinese does not have, and counts a
//! Chinese character as one column: the lines are broken here, and clap only indents them.

use std::collections::HashMap;
use std::sync::LazyLock;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::report::terminal::wrap;

/// Columns before the help of an argument (it stands on a line of its own).
const INDENT: usize = 10;

/// As clap's own, with the heading of the usage line in Chinese.
const TEMPLATE: &str = "{before-help}{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}";

/// English text and Chinese text; a test holds the table against all texts of the command tree.
static TABLE: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../report/lang/zh/help.toml")).unwrap_or_default());

/// The Chinese for an English text; a text that has none stands for itself.
fn translated(english: &str) -> String {
    TABLE.get(english).cloned().unwrap_or_else(|| english.to_owned())
}

/// Describes the whole tree in Chinese, for a page of `width` columns.
pub(super) fn command(mut root: Command, width: usize) -> Command {
    // Makes --help, --version and `help`, whose texts are translated as well.
    root.build();
    describe(root, width, 0)
}

fn describe(command: Command, width: usize, list_indent: usize) -> Command {
    let about = command.get_about().map(plain);
    let after = command.get_after_help().map(plain);
    let names = command.get_subcommands().map(|sub| sub.get_name().len()).max();
    let takes_arguments = command.get_arguments().any(|arg| !is_builtin(arg));
    let mut command = command
        .help_template(TEMPLATE)
        .subcommand_help_heading("命令")
        .subcommand_value_name("命令")
        .term_width(width)
        .mut_args(|arg| describe_argument(arg, width))
        .mut_subcommands(|sub| describe(sub, width, names.map_or(0, |longest| longest + 4)));
    if takes_arguments {
        command = command.next_line_help(true);
    }
    if let Some(about) = about {
        let set = |columns: usize| wrap(&translated(&about), columns).join("\n");
        command = command.about(set(width.saturating_sub(list_indent))).long_about(set(width));
    }
    if let Some(after) = after {
        let lines: Vec<String> = after.lines().flat_map(|line| wrap(&translated(line), width)).collect();
        command = command.after_help(lines.join("\n"));
    }
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace("[OPTIONS]", "[选项]");
    command.override_usage(usage)
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}

fn is_builtin(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version")
}

fn describe_argument(arg: Arg, width: usize) -> Arg {
    let columns = width.saturating_sub(if is_builtin(&arg) { 2 * INDENT } else { INDENT });
    let heading = match arg.get_help_heading() {
        Some(heading) => translated(heading),
        None if arg.is_positional() => "参数".to_owned(),
        None => "选项".to_owned(),
    };
    let short = arg.get_help().map(plain);
    let long = arg.get_long_help().map(plain).or_else(|| short.clone());
    let names: Option<Vec<String>> =
        arg.get_value_names().map(|names| names.iter().map(|name| translated(name.as_str())).collect());
    let notes = Notes::of(&arg);
    let set = |text: String| wrap(&text, columns).join("\n");
    let short = short.map(|text| set(notes.after(&translated(&text))));
    let long = long.map(|text| set(notes.below(&translated(&text))));
    let mut arg = arg.help_heading(heading).hide_default_value(true).hide_possible_values(true);
    if let Some(names) = names {
        arg = arg.value_names(names);
    }
    if let Some(short) = short {
        arg = arg.help(short);
    }
    if let Some(long) = long {
        arg = arg.long_help(long);
    }
    arg
}

/// What clap adds to a help text: the default and the values to choose from.
struct Notes {
    defaults: Vec<String>,
    values: Vec<(String, Option<String>)>,
}

impl Notes {
    fn of(arg: &Arg) -> Self {
        if !arg.get_action().takes_values() {
            return Self { defaults: Vec::new(), values: Vec::new() };
        }
        let values = arg.get_possible_values();
        let values = values.iter().filter(|value| !value.is_hide_set());
        let hidden = arg.is_hide_possible_values_set();
        Self {
            defaults: arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect(),
            values: values
                .filter(|_| !hidden)
                .map(|value| (value.get_name().to_owned(), value.get_help().map(|help| translated(&plain(help)))))
                .collect(),
        }
    }

    fn default(&self) -> Option<String> {
        (!self.defaults.is_empty()).then(|| format!("[默认：{}]", self.defaults.join(" ")))
    }

    /// In one paragraph with the text, for `-h`.
    fn after(&self, text: &str) -> String {
        let names: Vec<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        let values = (!names.is_empty()).then(|| format!("[可选值：{}]", names.join("、")));
        let parts = [Some(text.to_owned()), self.default(), values];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Below the text, each value with what it means, for `--help`.
    fn below(&self, text: &str) -> String {
        let described = self.values.iter().any(|(_, help)| help.is_some());
        if !described {
            return self.after(text);
        }
        let value = |(name, help): &(String, Option<String>)| match help {
            Some(help) => format!("- {name}：{help}"),
            None => format!("- {name}"),
        };
        let list: Vec<String> = self.values.iter().map(value).collect();
        let parts = [Some(text.to_owned()), Some(format!("可选值：\n{}", list.join("\n"))), self.default()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;

    /// Every text of the tree that a reader sees. Lines of examples are the same in every language.
    fn texts(command: &Command, all: &mut BTreeSet<String>) {
        let is_example = |line: &str| line.starts_with("  ") && !TABLE.contains_key(line);
        all.extend(command.get_about().map(plain));
        let after = command.get_after_help().map(plain).unwrap_or_default();
        all.extend(after.lines().filter(|line| !line.is_empty() && !is_example(line)).map(str::to_owned));
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "--{} of {} has no help", arg.get_id(), command.get_name());
            all.extend(arg.get_help().map(plain));
            all.extend(arg.get_long_help().map(plain));
            all.extend(arg.get_help_heading().map(str::to_owned));
            if arg.get_action().takes_values() {
                all.extend(arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string));
                all.extend(arg.get_possible_values().iter().filter_map(|value| value.get_help().map(plain)));
            }
        }
        command.get_subcommands().for_each(|sub| texts(sub, all));
    }

    #[test]
    fn every_text_of_the_help_has_a_chinese_one_and_no_other_is_kept() {
        let mut root = Cli::command();
        root.build();
        let mut all = BTreeSet::new();
        texts(&root, &mut all);
        let missing: Vec<&String> = all.iter().filter(|text| !TABLE.contains_key(*text)).collect();
        assert!(missing.is_empty(), "no Chinese text for:\n{missing:#?}");
        let stale: Vec<&String> = TABLE.keys().filter(|text| !all.contains(*text)).collect();
        assert!(stale.is_empty(), "nothing says:\n{stale:#?}");
    }

    #[test]
    fn what_is_chinese_is_chinese() {
        for (english, chinese) in &*TABLE {
            let is_name = english.chars().all(|c| c.is_ascii_uppercase() || "=[]:|()".contains(c));
            let translated = chinese.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(translated || is_name || english == chinese && english.len() < 24, "{english}: {chinese}");
        }
    }
}
