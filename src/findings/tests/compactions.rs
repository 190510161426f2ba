//! Rules about compactions.

use serde_json::json;

use super::builder::{Log, NO_BODY_413, OVERFLOW};
use super::{TOO_LONG, count};
use crate::report::lang::Language;

#[test]
fn overflow_without_compaction_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(280_000).step().failed(OVERFLOW, TOO_LONG).gave_up();
    assert_eq!(count("overflow-without-compaction", &mut [&mut log]), Some((1, "failed_steps")));
}

#[test]
fn overflow_without_compaction_is_silent_where_one_was_tried() {
    let mut log = Log::new("s");
    log.turn().step().failed(OVERFLOW, TOO_LONG).overflow_compaction().failed(OVERFLOW, TOO_LONG).gave_up();
    assert_eq!(count("overflow-without-compaction", &mut [&mut log]), None);
}

#[test]
fn spurious_overflow_compaction_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(60_000).step().failed(OVERFLOW, NO_BODY_413).overflow_compaction().ok(8_000);
    log.step().ok(90_000);
    assert_eq!(count("spurious-overflow-compaction", &mut [&mut log]), Some((1, "compactions")));
}

#[test]
fn spurious_overflow_compaction_is_silent_for_a_true_overflow() {
    let mut log = Log::new("s");
    log.turn().step().ok(280_000).step().failed(OVERFLOW, TOO_LONG).overflow_compaction().ok(8_000);
    assert_eq!(count("spurious-overflow-compaction", &mut [&mut log]), None);
}

fn compacting(times: usize) -> Log {
    let mut log = Log::new("s");
    log.turn();
    for _ in 0..times {
        log.step().ok(90_000).pressure_compaction();
    }
    log.step().ok(20_000);
    log
}

#[test]
fn compaction_storm_fires() {
    assert_eq!(count("compaction-storm", &mut [&mut compacting(4)]), Some((4, "compactions")));
}

#[test]
fn compaction_storm_is_silent_for_a_few() {
    assert_eq!(count("compaction-storm", &mut [&mut compacting(3)]), None);
}

#[test]
fn compaction_not_shrinking_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(98_000).pressure_compaction().step().ok(97_400);
    assert_eq!(count("compaction-not-shrinking", &mut [&mut log]), Some((1, "compactions")));
}

#[test]
fn compaction_not_shrinking_is_silent_where_it_shrank() {
    assert_eq!(count("compaction-not-shrinking", &mut [&mut compacting(1)]), None);
}

#[test]
fn open_compaction_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(9_000);
    log.compaction_start(json!(1));
    log.crash();
    assert_eq!(count("open-compaction", &mut [&mut log]), Some((1, "compactions")));
}

#[test]
fn open_compaction_is_silent_where_all_ended() {
    assert_eq!(count("open-compaction", &mut [&mut compacting(2)]), None);
}

/// Ten sessions of 40 steps with three compactions; the step right after one fails, or every seventh step does.
fn ten_sessions(after_compactions: bool) -> Vec<Log> {
    let session = |number: usize| {
        let mut log = Log::new(&format!("s{number}"));
        log.turn();
        for step in 0..40 {
            let compacts = step % 13 == 12;
            if compacts {
                log.pressure_compaction();
            }
            let fails = if after_compactions { compacts } else { (step + number) % 7 == 3 };
            if fails {
                log.step().failed("SERVER", "502 Bad Gateway").gave_up().turn()
            } else {
                log.step().ok(9_000)
            };
        }
        log
    };
    (0..10).map(session).collect()
}

#[test]
fn compaction_blamed_fires() {
    let mut logs = ten_sessions(true);
    let mut logs: Vec<&mut Log> = logs.iter_mut().collect();
    assert_eq!(count("compaction-blamed", &mut logs), Some((30, "failed_steps")));
}

#[test]
fn compaction_blamed_fires_for_an_innocent_compaction_too() {
    let mut logs = ten_sessions(false);
    let mut logs: Vec<&mut Log> = logs.iter_mut().collect();
    let finding = super::find("compaction-blamed", &super::archive(&mut logs)).unwrap();
    let title = Language::English.render(&finding.title);
    assert!(title.contains("no sign that compaction makes steps fail"), "{title}");
}

#[test]
fn compaction_blamed_is_silent_where_nothing_can_tell() {
    let mut log = Log::new("s");
    log.turn().step().ok(9_000).pressure_compaction().step().failed(OVERFLOW, NO_BODY_413).gave_up();
    assert_eq!(count("compaction-blamed", &mut [&mut log]), None);
}
