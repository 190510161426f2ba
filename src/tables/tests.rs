#![allow(clippy::unwrap_used)]

use super::{TABLES, Tables};
use crate::demo;
use crate::filter::Filters;
use crate::pipeline::{ReadOptions, read_all};
use crate::summary::Summary;

#[test]
fn tables_hold_one_row_for_everything_that_scan_counts() {
    let dataset = read_all(demo::discovery(), ReadOptions::default(), &|_| {});
    let counts = Summary::of(&dataset, &Filters::default(), &[]).counts;
    let tables = Tables::build(&dataset.sessions).unwrap();
    let heights = TABLES.map(|name| tables.get(name).unwrap().height() as u64);
    let counted = [16, counts.turns, counts.steps, counts.attempts, counts.retries_scheduled, counts.compactions];
    assert_eq!(heights, counted);
    let failed = tables.steps.column("failed").unwrap().bool().unwrap().sum().unwrap();
    assert_eq!(u64::from(failed), counts.failed_steps);
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
