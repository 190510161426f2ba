//! Annotations of GitHub as workflow commands. A step shows ten; the rest is counted in a plain line.

use super::words;
use crate::check::{CheckResult, GateState, Problem};
use crate::findings::Severity;
use crate::message;
use crate::report::lang::Language;
use crate::report::numbers::grouped;

/// Annotations of one step that GitHub shows.
const MOST: usize = 10;

/// The lines. Gates that did not decide are notices, as far as there is room.
pub fn render(result: &CheckResult, language: Language) -> String {
    let problems = result.problems.iter().take(MOST).map(|problem| of_problem(problem, language));
    let unclear = result.in_state(GateState::Inconclusive);
    let unclear = unclear.map(|outcome| command("notice", outcome.gate.name(), &words(&outcome.why, language)));
    let mut lines: Vec<String> = problems.chain(unclear).take(MOST).collect();
    let all = result.problems.len();
    if all > MOST {
        let shown = message!("check.shown", shown = grouped(MOST as u64), all = grouped(all as u64));
        lines.push(language.render(&shown));
    }
    lines.push(words(&super::page::verdict(result), language));
    lines.join("\n") + "\n"
}

fn of_problem(problem: &Problem, language: Language) -> String {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let text = words(&problem.what, language);
    let text = match &problem.place {
        Some(place) => format!("{text} ({}:{})", super::one_line(&place.session_id), place.seq),
        None => text,
    };
    command(level, problem.rule, &text)
}

fn command(level: &str, title: &str, text: &str) -> String {
    format!("::{level} title={}::{}", property(title), data(text))
}

/// Text after the command, as the runner reads it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of the command: colons and commas end one.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn what_the_runner_would_read_as_syntax_is_escaped() {
        assert_eq!(command("error", "a:b,c", "100 %\n::error::no"), "::error title=a%3Ab%2Cc::100 %25%0A::error::no");
    }
}
