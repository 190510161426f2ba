//! JUnit XML: one test case for each gate. Always English.

use super::{one_line, words};
use crate::check::{CheckResult, GateState, Outcome};
use crate::report::lang::Language;
use crate::report::numbers::grouped;

/// Problems listed in one test case.
const MOST_PROBLEMS: usize = 200;

/// The document.
pub fn render(result: &CheckResult) -> String {
    let count = |state: GateState| result.in_state(state).count();
    let skipped = count(GateState::Inconclusive) + count(GateState::NotSet);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{skipped}\"",
        result.outcomes.len(),
        count(GateState::Fired)
    );
    out.push_str(&format!("<testsuites name=\"dsh-forensics\" {totals}>\n"));
    out.push_str(&format!("  <testsuite name=\"dsh-forensics check\" {totals} time=\"0\">\n"));
    result.outcomes.iter().for_each(|outcome| out.push_str(&case(outcome, result)));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(outcome: &Outcome, result: &CheckResult) -> String {
    let open = format!("    <testcase name=\"{}\" classname=\"dsh-forensics.check\" time=\"0\"", outcome.gate.name());
    let why = escape(&words(&outcome.why, Language::English));
    match outcome.state {
        GateState::Passed => format!("{open}/>\n"),
        GateState::NotSet | GateState::Inconclusive => {
            format!("{open}>\n      <skipped message=\"{why}\"/>\n    </testcase>\n")
        }
        GateState::Fired => {
            let body = escape(&problems(outcome, result));
            format!(
                "{open}>\n      <failure message=\"{why}\" type=\"{}\">{body}</failure>\n    </testcase>\n",
                outcome.gate.name()
            )
        }
    }
}

fn problems(outcome: &Outcome, result: &CheckResult) -> String {
    let all: Vec<_> = result.problems_of(outcome.gate).collect();
    let mut lines: Vec<String> = all
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| {
            let place = problem.place.as_ref();
            let at = place.map_or_else(String::new, |p| format!(" at {}:{}", one_line(&p.session_id), p.seq));
            format!("{}{at}: {}", problem.rule, words(&problem.what, Language::English))
        })
        .collect();
    if all.len() > MOST_PROBLEMS {
        lines.push(format!("{} of {} shown", grouped(MOST_PROBLEMS as u64), grouped(all.len() as u64)));
    }
    lines.join("\n")
}

/// Text for XML 1.0: markup escaped, characters that no document may hold left out (section 2.2).
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_and_forbidden_characters_do_not_reach_the_document() {
        assert_eq!(escape("<a & \"b\"> 'c'\u{1}\u{fffe}中"), "&lt;a &amp; &quot;b&quot;&gt; &apos;c&apos;中");
    }
}
