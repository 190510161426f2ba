use super::*;
use crate::evidence::test_rows::{Rows, WINDOW};
use crate::session::Trigger;

const NO_BODY: &str = "400 status code (no body)";

fn masked(rows: Rows) -> Masked {
    let sessions = vec![rows.done()];
    of(&sessions, &Verdicts::of(&sessions))
}

fn overflow_then_larger_model() -> Rows {
    let message = "This model's maximum context length is 100000 tokens. However, you requested 130000 tokens";
    Rows::new("switch").ok(60_000).failed(130_000, OVERFLOW, message).route("gateway", "huge", Some(400_000))
}

#[test]
fn a_success_on_a_larger_model_hides_the_overflow_of_the_first() {
    let found = masked(overflow_then_larger_model().ok(130_000)).route_switches;
    let expected = RouteSwitch {
        session: 0,
        before: 1,
        before_failed: true,
        after: 2,
        tokens: 130_000,
        first_window: WINDOW,
        second_window: Some(400_000),
    };
    assert_eq!(found, [expected]);
}

#[test]
fn a_switch_hides_nothing_after_a_compaction_or_within_the_first_window() {
    assert_eq!(masked(overflow_then_larger_model().compaction(Trigger::Pressure, 9).ok(130_000)).route_switches, []);
    assert_eq!(masked(overflow_then_larger_model().ok(90_000)).route_switches, []);
    let smaller = Rows::new("s").ok(60_000).route("gateway", "small", Some(50_000)).ok(120_000);
    assert_eq!(masked(smaller).route_switches, []);
}

#[test]
fn an_overflow_under_another_code_is_found_by_its_text() {
    let text = "prompt is too long: 130000 tokens > 100000 maximum";
    let found = masked(Rows::new("s").failed(130_000, "PI_AI_ERROR", text)).coded_otherwise;
    assert_eq!(found.iter().map(|f| (f.attempt, f.sign)).collect::<Vec<_>>(), [(0, OverflowSign::Text)]);
    // Under its own code it hides nowhere.
    assert_eq!(masked(Rows::new("s").failed(130_000, OVERFLOW, text)).coded_otherwise, []);
}

#[test]
fn a_silent_text_at_a_full_window_is_a_suspicion() {
    let found = |tokens| masked(Rows::new("s").failed(tokens, "INVALID_REQUEST", NO_BODY)).coded_otherwise;
    assert_eq!(found(110_000).iter().map(|f| f.sign).collect::<Vec<_>>(), [OverflowSign::Fill]);
    assert_eq!(found(50_000), []);
    // The identical request succeeded later: not its size.
    assert_eq!(masked(Rows::new("s").failed(110_000, "INVALID_REQUEST", NO_BODY).ok(110_000)).coded_otherwise, []);
}

#[test]
fn an_answer_cut_at_a_full_window_was_an_overflow() {
    let cut = |prompt| masked(Rows::new("s").ok(prompt).with(|a| a.cut_at_limit = true)).missed_overflows;
    let found = cut(99_000);
    assert_eq!(found.iter().map(|f| (f.prompt, f.output, f.shrunk_after)).collect::<Vec<_>>(), [(99_000, 40, false)]);
    // An ordinary answer that reached its own limit far from the window.
    assert_eq!(cut(50_000), []);
    // The same size, but the answer ended by itself.
    assert_eq!(masked(Rows::new("s").ok(99_000)).missed_overflows, []);
}

#[test]
fn an_answer_as_long_as_asked_for_is_no_overflow_unless_the_prompt_left_no_room() {
    let cut = |asked| {
        masked(Rows::new("s").ok(96_990).with(|a| {
            a.cut_at_limit = true;
            a.max_tokens = Some(asked);
        }))
        .missed_overflows
        .len()
    };
    assert_eq!((cut(40), cut(4_096)), (0, 1));
}

#[test]
fn one_step_across_the_threshold_is_a_jump() {
    let jump = |before, after| masked(Rows::new("s").ok(before).failed(after, OVERFLOW, NO_BODY)).step_jumps;
    let found = jump(60_000, 120_000);
    assert_eq!(
        found.iter().map(|j| (j.tokens_before, j.tokens_after, j.failed)).collect::<Vec<_>>(),
        [(60_000, 120_000, true)]
    );
    // Already above the threshold: the harness had its chance to compact.
    assert_eq!(jump(85_000, 120_000), []);
    // Above the threshold, below the window.
    assert_eq!(jump(60_000, 90_000), []);
    let compacted = Rows::new("s").ok(60_000).compaction(Trigger::Pressure, 1).failed(120_000, OVERFLOW, NO_BODY);
    assert_eq!(masked(compacted).step_jumps, []);
}

#[test]
fn reports_that_cannot_be_right_are_listed() {
    let found = masked(Rows::new("s").ok(10_000).with(|a| a.usage_untrusted = true).ok(10_000)).untrusted_usage;
    assert_eq!(found.iter().map(|u| (u.attempt, u.reported)).collect::<Vec<_>>(), [(0, 10_000)]);
}

#[test]
fn a_false_overflow_destroys_context() {
    let rows = Rows::new("s").ok(40_000).failed(20_000, OVERFLOW, NO_BODY);
    let found = masked(rows.prune(300).compaction(Trigger::Overflow, 12_000).ok(9_000)).false_compactions;
    let expected = FalseCompaction {
        session: 0,
        attempt: 1,
        compaction: Some(0),
        summarised_tokens: Some(12_000),
        pruned_tokens: 300,
    };
    assert_eq!(found, [expected]);
    assert_eq!(found[0].destroyed_tokens(), 12_300);
}

#[test]
fn a_compaction_after_a_real_overflow_destroyed_nothing_needlessly() {
    let text = "prompt is too long: 130000 tokens > 100000 maximum";
    let rows = Rows::new("s").failed(130_000, OVERFLOW, text).compaction(Trigger::Overflow, 12_000).ok(9_000);
    assert_eq!(masked(rows).false_compactions, []);
    let pressure = Rows::new("s").failed(20_000, OVERFLOW, NO_BODY).compaction(Trigger::Pressure, 12_000).ok(30_000);
    assert_eq!(masked(pressure).false_compactions, []);
}
