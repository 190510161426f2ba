#![allow(clippy::unwrap_used)]

use jiff::tz::TimeZone;

use super::event_frame::event_frame;
use super::findings::FindingPlaces;
use super::partition::{by_day, day, directory};
use super::run::EXPORT_TABLES;
use super::verdicts::verdict_frame;
use crate::evidence::Verdicts;
use crate::filter::Filters;
use crate::tables::columns::{column, frame};
use crate::tables::{TABLES, Tables};

#[test]
fn names_of_partitions_are_safe_and_can_be_read_back() {
    assert_eq!(directory("project", Some("--srv-harbour--")), "project=--srv-harbour--");
    assert_eq!(directory("project", Some("港口 a/b=c%")), "project=%E6%B8%AF%E5%8F%A3%20a%2Fb%3Dc%25");
    assert_eq!(directory("project", None), "project=__HIVE_DEFAULT_PARTITION__");
    let odd = "__HIVE_DEFAULT_PARTITION__";
    assert_eq!(directory("project", Some(odd)), "project=%5F_HIVE_DEFAULT_PARTITION__", "a name is not 'unknown'");
}

#[test]
fn long_names_fit_a_directory_and_stay_apart() {
    for shift in 0..3 {
        let long = "a".repeat(shift) + &"港".repeat(85);
        let (one, other) = (directory("project", Some(&long)), directory("project", Some(&(long.clone() + "b"))));
        assert!(one.len() <= 208 && one != other, "{one}");
        let (encoded, _) = one.rsplit_once('~').unwrap();
        assert!(encoded.ends_with(|c: char| c.is_ascii_hexdigit()), "no half escape: {one}");
        assert!(!encoded[encoded.len() - 2..].contains('%'), "no half escape: {one}");
    }
}

#[test]
fn the_zone_decides_the_day_and_a_wild_time_has_none() {
    let late = Some(1_795_478_400_000 + 20 * 3_600_000); // 2026-11-24 20:00 UTC
    assert_eq!(day(late, &TimeZone::UTC).as_deref(), Some("2026-11-24"));
    assert_eq!(day(late, &TimeZone::get("Asia/Shanghai").unwrap()).as_deref(), Some("2026-11-25"));
    assert_eq!((day(None, &TimeZone::UTC), day(Some(i64::MAX), &TimeZone::UTC)), (None, None));
}

#[test]
fn rows_are_taken_apart_by_day_in_their_order() {
    const DAY: i64 = 86_400_000;
    let rows = [(1u64, Some(DAY)), (2, None), (3, Some(0)), (4, Some(DAY + 5))];
    let table =
        frame(vec![column("seq", &rows, |(seq, _)| *seq), column("time_ms", &rows, |(_, time)| *time)]).unwrap();
    let days = by_day("attempts", table, &TimeZone::UTC).unwrap();
    let seqs = |rows: &polars::prelude::DataFrame| -> Vec<u64> {
        rows.column("seq").unwrap().u64().unwrap().iter().flatten().collect()
    };
    let found: Vec<(Option<&str>, Vec<u64>)> = days.iter().map(|(day, rows)| (day.as_deref(), seqs(rows))).collect();
    assert_eq!(found, [(None, vec![2]), (Some("1970-01-01"), vec![3]), (Some("1970-01-02"), vec![1, 4])]);
}

#[test]
fn the_tables_that_only_an_export_has_are_documented() {
    let documented = include_str!("../../docs/tables.md");
    let frames = [
        ("events", event_frame(&[]).unwrap()),
        ("verdicts", verdict_frame(&[], 0, &Verdicts::default(), &Filters::default()).unwrap()),
        ("findings", FindingPlaces::default().frame(&[]).unwrap()),
    ];
    for (name, frame) in &frames {
        let section = documented.split("\n## ").find(|s| s.starts_with(&format!("{name}\n"))).unwrap();
        let listed: Vec<&str> = section.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(frame.get_column_names().iter().map(|n| n.as_str()).collect::<Vec<_>>(), listed, "table {name}");
    }
    assert!(TABLES.iter().all(|table| EXPORT_TABLES.contains(table)), "every table can be exported");
    let order: Vec<&str> = documented.split("\n## ").skip(1).filter_map(|section| section.lines().next()).collect();
    assert_eq!(order, EXPORT_TABLES, "the order of the page is the order of the export");
}

#[test]
fn the_types_of_the_page_are_those_of_the_frames() {
    let documented = include_str!("../../docs/tables.md");
    let tables = Tables::build(&[]).unwrap();
    for name in EXPORT_TABLES {
        let frame = match name {
            "events" => event_frame(&[]).unwrap(),
            "verdicts" => verdict_frame(&[], 0, &Verdicts::default(), &Filters::default()).unwrap(),
            "findings" => FindingPlaces::default().frame(&[]).unwrap(),
            name => tables.get(name).unwrap().clone(),
        };
        let section = documented.split("\n## ").find(|s| s.starts_with(&format!("{name}\n"))).unwrap();
        let listed: Vec<&str> = section
            .lines()
            .filter(|l| l.starts_with("| `"))
            .filter_map(|l| l.split('|').nth(2))
            .map(str::trim)
            .collect();
        let types: Vec<&str> = frame.columns().iter().map(|c| super::cells::type_name(c.dtype())).collect();
        assert_eq!(types, listed, "types of {name}");
    }
}
