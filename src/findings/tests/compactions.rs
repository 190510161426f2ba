//! Rules about compactions.

use serde_json::json;

use super::builder::{Log, NO_BODY_413, OVERFLOW};
use super::{TOO_LONG, count};

#[test]
fn overflow_without_compaction_fires() {
    let mut log = Log::new("s");
    log.turn().step().ok(60_000).step().failed(OVERFLOW, TOO_LONG).gave_up();
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
    log.turn().step().ok(60_000).step().failed(OVERFLOW, TOO_LONG).overflow_compaction().ok(8_000);
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
