//! The six HTML pages as a reader meets them: order, definitions, charts and their numbers, structure, validity.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use support::run;

/// Every command that writes HTML, with what it needs beside `--demo`.
const PAGES: [(&str, &[&str]); 6] = [
    ("scan", &["scan"]),
    ("failures", &["failures"]),
    ("compactions", &["compactions"]),
    ("what-if", &["policy", "what-if", "--draws", "120"]),
    ("explain", &["explain"]),
    ("check", &["check", "--baseline", "testdata/baseline.json"]),
];

fn page(args: &[&str], format: &str, language: &str) -> String {
    let run = run(&[args, &["--demo", "--format", format, "--lang", language]].concat());
    assert!(matches!(run.status, 0 | 1), "{args:?}: {}", run.err);
    assert_eq!(run.err, "", "{args:?}");
    run.out
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&page(args, "json", "en")).unwrap()
}

type Named = (&'static str, &'static str, String);

static MADE: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let of = |(name, args): (&'static str, &[&str])| ["en", "zh"].map(|lang| (name, lang, page(args, "html", lang)));
    PAGES.into_iter().flat_map(of).collect()
});

/// Name, language and text of every page.
fn pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    MADE.iter().map(|(name, language, html)| (*name, *language, html.as_str()))
}

/// The English page.
fn english(name: &str) -> &'static str {
    pages().find(|page| page.0 == name && page.1 == "en").unwrap().2
}

/// Every element of this name: its attributes and what stands in it, tags and all.
fn elements<'a>(html: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let is_tag = |rest: &&str| rest.starts_with([' ', '>']);
    let inside = html.split(open.as_str()).skip(1).filter(is_tag).filter_map(|rest| rest.split_once('>'));
    inside.map(|(attributes, rest)| (attributes, rest.split(close.as_str()).next().unwrap_or(""))).collect()
}

/// What a reader sees of it.
fn text(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    out.replace("&amp;", "&").replace('\u{a0}', " ").trim().to_owned()
}

/// Rows of the first table behind this heading.
fn table_under(html: &str, heading: &str) -> Vec<Vec<String>> {
    let section = html.split("<section").find(|section| section.contains(&format!("<h2>{heading}</h2>")));
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let table = elements(section, "tbody")[0].1;
    let cells = |row: &str| elements(row, "td").into_iter().map(|(_, cell)| text(cell)).collect();
    elements(table, "tr").into_iter().map(|(_, row)| cells(row)).collect()
}

fn number(text: &str) -> f64 {
    text.replace('−', "-").replace(',', "").parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn is_close(shown: f64, exact: f64) -> bool {
    (shown - exact).abs() <= 0.000_501_f64.max(exact.abs() * 1e-9)
}

/// `0.25 (0.1 to 0.5)`
fn with_interval(cell: &str) -> [f64; 3] {
    let parts: Vec<f64> =
        cell.split([' ', '(', ')']).filter(|part| !part.is_empty() && *part != "to").map(number).collect();
    parts.try_into().unwrap_or_else(|_| panic!("{cell} has no interval"))
}

#[test]
fn the_verdict_stands_before_the_findings_these_before_charts_tables_and_what_stands_behind_them() {
    for (name, language, html) in pages() {
        let place = |mark: &str| html.find(mark);
        let header = place("<header>").unwrap();
        let order = [
            Some(header),
            place("<nav"),
            place("<article"),
            place("<figure"),
            place("class=\"long broad\"").or_else(|| place("<footer>")),
            place("<dl>"),
            place("<footer>"),
        ];
        let known: Vec<usize> = order.into_iter().flatten().collect();
        let dl = place("<dl>").unwrap_or_else(|| panic!("{name} {language} explains no number"));
        assert!(
            known[..known.len() - 2].is_sorted() && dl < place("<footer>").unwrap(),
            "{name} {language}: {order:?}"
        );
        let verdict = text(elements(html, "header")[0].1);
        assert!(verdict.chars().count() > 40, "{name} {language} opens with {verdict}");
        let foot = text(elements(html, "footer")[0].1);
        assert!(foot.contains(env!("CARGO_PKG_VERSION")) && foot.contains("SHA-256"), "{name} {language}: {foot}");
        // The folder that this tree stands in, where that is no root: nothing of this machine is on a page.
        let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
        let around =
            tree.parent().filter(|folder| folder.parent().is_some()).map(|folder| format!("{}/", folder.display()));
        let places = around.into_iter().chain([tree.display().to_string()]);
        places.for_each(|place| assert!(!html.contains(&place), "{name} {language} has the path {place}"));
    }
}

#[test]
fn every_number_leads_to_a_definition() {
    for (name, language, html) in pages() {
        for table in elements(html, "table") {
            let heads = elements(table.1, "th");
            let numbers = heads.iter().filter(|(attributes, _)| attributes.contains("class=\"n\""));
            for (_, head) in numbers {
                // Rows with names of their own, and the bars of a breakdown.
                let by_row =
                    ["total", "总数", "failed", "失败"].contains(head) && table.1.contains("<td><a href=\"#def-");
                let known = head.contains("href=\"#def-") || text(head).is_empty() || by_row;
                assert!(known, "{name} {language}: {head} is not defined");
            }
        }
        let links = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
        for anchor in links {
            assert_eq!(html.matches(&format!("id=\"{anchor}\"")).count(), 1, "{name} {language}: #{anchor}");
        }
    }
}

#[test]
fn the_contents_name_each_section_once() {
    for (name, language, html) in pages() {
        let names: Vec<String> = elements(elements(html, "nav")[0].1, "a").iter().map(|a| text(a.1)).collect();
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{name} {language}: {names:?}");
        assert!(names.len() <= 20, "{name} {language}: {} entries", names.len());
    }
}

#[test]
fn the_language_is_named_headings_descend_by_one_and_heads_have_a_scope() {
    for (name, language, html) in pages() {
        let tag = if language == "zh" { "zh-CN" } else { "en" };
        assert!(html.contains(&format!("<html lang=\"{tag}\">")), "{name}");
        let levels: Vec<u32> =
            html.split("<h").skip(1).filter_map(|rest| rest.chars().next().and_then(|c| c.to_digit(10))).collect();
        assert_eq!(levels[0], 1, "{name} {language}");
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{name} {language}");
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{name} {language}: {levels:?}");
        assert!(elements(html, "th").iter().all(|(attributes, _)| attributes.contains("scope=")), "{name} {language}");
    }
}

#[test]
fn every_chart_stands_where_it_belongs_with_words_and_numbers() {
    let belongs: [(&str, &[&str]); 4] = [
        (
            "scan",
            &[
                "Failures over time, by code",
                "How full the context window was",
                "Failure rate by how full the window was",
                "Delay and outcome of the retries",
            ],
        ),
        (
            "failures",
            &["Failures over time, by code", "How full the context window was", "Delay and outcome of the retries"],
        ),
        ("compactions", &["Failed steps by distance from a compaction"]),
        ("what-if", &["Policies: turns saved against added wait"]),
    ];
    for (name, charts) in belongs {
        let html = english(name);
        for chart in charts {
            assert!(!table_under(html, chart).is_empty(), "{name}: {chart}");
        }
        for (_, drawing) in elements(html, "svg") {
            for part in ["title", "desc"] {
                assert!(text(elements(drawing, part)[0].1).chars().count() > 8, "{name}: a drawing without {part}");
            }
        }
        assert_eq!(elements(html, "svg").len(), 2 * elements(html, "figure").len(), "a wide and a narrow drawing each");
    }
}

#[test]
fn the_rates_around_compactions_are_those_of_the_json() {
    let study = json(&["compactions"]);
    let lags = study["event_study"].as_array().unwrap().iter();
    let known: Vec<&Value> = lags.filter(|lag| lag["clock"] == "attempts" && !lag["rate"].is_null()).collect();
    let rows = table_under(english("compactions"), "Failed steps by distance from a compaction");
    assert_eq!(rows.len(), known.len());
    assert!(rows.len() > 4, "the demo has steps around its compactions");
    for (row, lag) in rows.iter().zip(known) {
        assert_eq!(number(&row[0]), lag["lag"].as_f64().unwrap());
        for (shown, field) in with_interval(&row[1]).into_iter().zip(["rate", "lo", "hi"]) {
            assert!(is_close(shown, lag[field].as_f64().unwrap()), "{field} of {row:?}: {lag}");
        }
    }
}

#[test]
fn the_policies_of_the_chart_are_those_of_the_json() {
    let args = ["policy", "what-if", "--draws", "120"];
    let answer = json(&args);
    let rows = table_under(english("what-if"), "Policies: turns saved against added wait");
    let policies = answer["policies"].as_array().unwrap();
    assert_eq!(rows.len(), policies.len());
    let chains = answer["chains"].as_f64().unwrap();
    for (row, policy) in rows.iter().zip(policies) {
        assert!(row[0].ends_with(policy["name"].as_str().unwrap()), "{row:?}");
        let wait = policy["added_wait_ms"]["total"].as_f64().unwrap() / 1e3 / chains;
        assert!(is_close(number(&row[1]), wait), "{row:?}: {wait}");
        for (shown, field) in with_interval(&row[2]).into_iter().zip(["expected", "pessimistic", "optimistic"]) {
            let exact = policy["net"][field].as_f64().unwrap();
            assert!(is_close(shown, exact), "{field} of {row:?}: {exact}");
        }
    }
}

#[test]
fn the_bars_add_up_to_the_counts_of_the_json() {
    let (scan, html) = (json(&["scan"]), english("scan"));
    let sum = |rows: &[Vec<String>], column: usize| rows.iter().map(|row| number(&row[column])).sum::<f64>();
    let over_time = table_under(html, "Failures over time, by code");
    for (index, code) in scan["failures_by_code"].as_array().unwrap().iter().take(5).enumerate() {
        assert_eq!(sum(&over_time, index + 1), code["failed_attempts"].as_f64().unwrap(), "{code}");
    }
    let retries = table_under(html, "Delay and outcome of the retries");
    assert_eq!(sum(&retries, 1), scan["retries"]["failed"].as_f64().unwrap());
    assert_eq!(sum(&retries, 2), scan["retries"]["succeeded"].as_f64().unwrap());
    let fill = table_under(html, "How full the context window was");
    let counts = &scan["counts"];
    let unknown = text(html).contains("The size or the window of");
    assert!(!unknown, "the demo's sizes are known");
    assert_eq!(sum(&fill, 1), counts["failed_attempts"].as_f64().unwrap());
}

/// The Nu Html Checker where `.ci/run` puts it, or where `VNU_JAR` says.
fn checker() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/npm/node_modules/vnu-jar/build/dist/vnu.jar");
    let jar = std::env::var_os("VNU_JAR").map_or(beside, PathBuf::from);
    let has_java = Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
    if !has_java || !jar.is_file() {
        eprintln!("skipped: no HTML checker (npm install --prefix target/npm vnu-jar, and Java)");
        return None;
    }
    Some(jar)
}

#[test]
fn every_page_is_valid_html() {
    let Some(jar) = checker() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (name, language, html) in pages() {
        let file = folder.path().join(format!("{name}-{language}.html"));
        std::fs::write(&file, html).unwrap();
        files.push(file);
    }
    // A broken page must be found, else the checker checks nothing.
    let broken = folder.path().join("broken.html");
    std::fs::write(&broken, "<!DOCTYPE html><html lang=\"en\"><title>t</title><p><table></p>").unwrap();
    let check = |files: &[PathBuf]| {
        let output = Command::new("java").arg("-jar").arg(&jar).arg("--errors-only").args(files).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(!check(&[broken]).0, "the checker finds nothing wrong with a broken page");
    let (valid, said) = check(&files);
    assert!(valid, "{said}");
}
