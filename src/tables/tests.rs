#![allow(clippy::unwrap_used)]

use super::{TABLES, Tables};
use crate::demo;
use crate::filter::Filters;
use crate::pipeline::{ReadOptions, read_all};
use crate::summary::Summary;

#[test]
fn tables_hold_one_row_for_everything_that_scan_counts() {
    let dataset = read_all(demo::discovery(), ReadOptions::default(), &|_| {});
    let summary = Summary::of(&dataset, &Filters::default(), &[]);
    let counts = summary.counts;
    let tables = Tables::build(&dataset.sessions).unwrap();
    let heights = TABLES.map(|name| tables.get(name).unwrap().height() as u64);
    let counted =
        [16, counts.turns, counts.steps, counts.attempts, counts.retries_scheduled, counts.compactions, summary.prunes];
    assert_eq!(heights, counted);
    let failed = tables.steps.column("failed").unwrap().bool().unwrap().sum().unwrap();
    assert_eq!(u64::from(failed), counts.failed_steps);
}

#[test]
fn filtered_tables_hold_what_scan_counts_under_the_same_filters() {
    let times = |dataset: &crate::pipeline::Dataset| {
        let mut times: Vec<i64> = dataset.sessions.iter().flat_map(|s| &s.attempts).filter_map(|a| a.time).collect();
        times.sort_unstable();
        (times[times.len() / 4], times[times.len() / 2])
    };
    let (early, late) = times(&read_all(demo::discovery(), ReadOptions::default(), &|_| {}));
    let overflow = "CONTEXT_WINDOW_EXCEEDED".to_owned();
    for filters in [
        Filters { since: Some(early), until: Some(late), ..Filters::default() },
        Filters { providers: vec!["deepseek-official".to_owned()], ..Filters::default() },
        Filters { codes: vec![overflow.clone()], since: Some(early), ..Filters::default() },
    ] {
        let mut dataset = read_all(demo::discovery(), ReadOptions::default(), &|_| {});
        filters.apply(&mut dataset);
        let summary = Summary::of(&dataset, &filters, &[]);
        let counts = summary.counts;
        let tables = Tables::build_within(&dataset.sessions, &filters).unwrap();
        let failed = |table: &str, column: &str, value: &str| {
            let cells = tables.get(table).unwrap().column(column).unwrap().str().unwrap();
            cells.iter().flatten().filter(|cell| *cell == value).count() as u64
        };
        assert!(counts.failed_attempts > 0, "{filters:?} leaves something to compare");
        assert_eq!(failed("attempts", "outcome", "failed"), counts.failed_attempts, "{filters:?}");
        assert_eq!(failed("turns", "end", "error"), counts.failed_turns, "{filters:?}");
        let failed_steps = tables.steps.column("failed").unwrap().bool().unwrap().sum().unwrap();
        assert_eq!(u64::from(failed_steps), counts.failed_steps, "{filters:?}");
        assert_eq!(tables.compactions.height() as u64, counts.compactions, "{filters:?}");
        if filters.codes.is_empty() {
            let heights = [&tables.attempts, &tables.steps, &tables.turns, &tables.retries].map(|t| t.height() as u64);
            assert_eq!(heights, [counts.attempts, counts.steps, counts.turns, counts.retries_scheduled]);
        } else {
            assert!(tables.attempts.column("code").unwrap().str().unwrap().iter().flatten().all(|c| c == overflow));
        }
    }
}

#[test]
fn every_column_is_documented_and_every_documented_column_exists() {
    let documented = include_str!("../../docs/tables.md");
    let tables = Tables::build(&[]).unwrap();
    for name in TABLES {
        let section = documented.split("\n## ").find(|s| s.starts_with(&format!("{name}\n"))).unwrap();
        let listed: Vec<&str> = section.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
        let columns: Vec<String> = tables.get(name).unwrap().get_column_names().iter().map(|c| c.to_string()).collect();
        assert_eq!(columns, listed, "table {name}");
    }
}
