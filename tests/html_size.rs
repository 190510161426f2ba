//! Pages of ten thousand sessions: one small file, and a post that fits into a comment.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use dsh_forensics::charts::Charts;
use dsh_forensics::check::{Asked, Observed, Rules, judge};
use dsh_forensics::correlate::{CompactionList, CompactionStudy};
use dsh_forensics::evidence::Verdicts;
use dsh_forensics::filter::Filters;
use dsh_forensics::findings::{Context, Selection, Severity, find_all, headline};
use dsh_forensics::pipeline::{Dataset, ReadOptions, read_all};
use dsh_forensics::report::document::Page;
use dsh_forensics::report::findings::Found;
use dsh_forensics::report::html::{self, Meta};
use dsh_forensics::report::lang::Language;
use dsh_forensics::report::{ci, compactions, failures, markdown, scan};
use dsh_forensics::session::SessionRows;
use dsh_forensics::summary::Summary;
use jiff::tz::TimeZone;
use support::builder::{Log, NO_BODY_400, OVERFLOW};

const SESSIONS: usize = 10_000;
/// Milliseconds between the beginnings of two sessions.
const APART: i64 = 90_000;

/// Four kinds of sessions, read from logs.
fn kinds() -> Vec<SessionRows> {
    let root = tempfile::tempdir().unwrap();
    let long = "502 上游网关超时，请稍后再试 | <html>502 Bad Gateway</html> ".repeat(20);
    let mut kinds = Vec::new();
    for number in 0..4 {
        let mut log = Log::new(&format!("kind-{number}"));
        log.turn().step().ok(9_000);
        match number {
            0 => log.step().failed(OVERFLOW, NO_BODY_400).gave_up(),
            1 => log.step().failed("SERVER", &long).retry(500).failed("SERVER", &long).retry(1_000).ok(9_100),
            2 => log.pressure_compaction().step().failed("RATE_LIMIT", "429 请求过于频繁").retry(4_000).ok(1_200),
            _ => log.step().failed(OVERFLOW, NO_BODY_400).overflow_compaction().ok(1_000).step().ok(1_500),
        };
        kinds.push(log.write_zstd(root.path()));
    }
    let discovery = dsh_forensics::discover::discover(&kinds, ReadOptions::default().limits);
    let options = ReadOptions { hash: true, ..ReadOptions::default() };
    read_all(discovery, options, &|_| {}).sessions
}

/// As many sessions as asked for, each of its own id, project and time.
fn dataset() -> Dataset {
    let kinds = kinds();
    assert_eq!(kinds.len(), 4);
    let session = |number: usize| {
        let mut rows = kinds[number % kinds.len()].clone();
        rows.id = format!("{number:08x}-9346-447b-ada4-aedd76{number:06x}");
        rows.project = Some(format!("--srv-港口账本-{}--", number % 300));
        rows.path = format!("/srv/{number}/session.jsonl.zstd");
        let later = number as i64 * APART;
        rows.attempts.iter_mut().for_each(|attempt| attempt.time = attempt.time.map(|time| time + later));
        rows
    };
    let mut dataset = Dataset { sessions: (0..SESSIONS).map(session).collect(), ..Dataset::default() };
    (dataset.inputs.sessions, dataset.inputs.archives) = (SESSIONS as u64, SESSIONS as u64);
    dataset
}

/// Name and page of every command whose page grows with the archive.
fn pages(dataset: &Dataset, language: Language) -> Vec<(&'static str, Page)> {
    let (filters, zone) = (Filters::default(), TimeZone::UTC);
    let windows = ["8ev".parse().unwrap(), "60s".parse().unwrap()];
    let mut summary = Summary::of(dataset, &filters, &windows);
    let verdicts = Verdicts::of(&dataset.sessions);
    summary.add_verdicts(dataset, &filters, &verdicts);
    // The column scan adds a few sentences whatever the size, and takes longer than everything else together.
    let context = Context::new(dataset, &summary, &verdicts, &filters);
    let findings = find_all(&context, &Selection::default());
    let charts = Charts::of(&dataset.sessions, &filters);
    let observed = Observed::of(&context, &findings, &verdicts, &Rules::default());
    let asked = Asked { config: Default::default(), severity: Severity::Warning };
    let checked = judge(&asked, None, observed, false);
    let found = Found { headline: headline::of(&context), findings, in_full: true };
    let rows = failures::rows(dataset, &filters, &verdicts);
    assert!(rows.len() >= SESSIONS, "{} failed attempts", rows.len());
    let (list, study) =
        (CompactionList::of(&dataset.sessions, &filters), CompactionStudy::of(&dataset.sessions, &filters, &windows));
    let report = compactions::Report { summary: &summary, list: &list, study: &study };
    vec![
        ("scan", scan::page(dataset, &summary, &found, &charts, &zone, false, language)),
        ("failures", failures::page(&rows, &charts, None, false, &zone, language)),
        ("compactions", compactions::page(&report, &zone, language)),
        ("check", ci::page::page(&checked, ci::page::MOST_IN_FILE, language)),
    ]
}

#[test]
fn ten_thousand_sessions_make_small_pages_and_a_post_that_fits() {
    let dataset = dataset();
    for (name, page) in pages(&dataset, Language::Chinese) {
        let meta = Meta::of(&dataset, name, "", &TimeZone::UTC);
        let html = html::render(&page, &meta, Language::Chinese);
        let post = markdown::render(&page, Some(&meta), Language::Chinese);
        eprintln!("{name}: {} bytes of HTML, {} bytes of Markdown", html.len(), post.len());
        assert!(html.len() < html::MOST_BYTES && html.ends_with("</html>\n"), "{name}: {} bytes", html.len());
        assert!(post.len() <= markdown::MOST_BYTES, "{name}: {} bytes", post.len());
        assert_eq!(post.matches("<details>").count(), post.matches("</details>").count(), "{name}");
        assert!(html.contains("10,000") && post.contains("10,000"), "{name} counts its inputs");
        let rows = page.blocks.iter().filter(|b| matches!(b, dsh_forensics::report::document::Block::Table(_))).count();
        assert!(rows > 0, "{name} has tables");
    }
}
