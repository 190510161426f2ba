//! In: the [`Context`](super::Context).
//! Out: one draft of each rule, or nothing. A file is named as the rule's id, with `_` for `-`.
//! Always: a rule stays silent where another explanation fits as well; its conditions stand in its page, in words.

pub(super) mod always_on_intrinsic;
pub(super) mod autonomous_run_stopped;
pub(super) mod body_size_as_overflow;
pub(super) mod bodyless_400;
pub(super) mod budget_shrunk_by_cancelled_wait;
pub(super) mod budget_too_short;
pub(super) mod compaction_blamed;
pub(super) mod compaction_not_shrinking;
pub(super) mod compaction_storm;
pub(super) mod contradicted_overflow;
pub(super) mod deadline_cluster;
pub(super) mod deterministic_invalid_request;
pub(super) mod duplicate_generation;
pub(super) mod hidden_size_limit;
pub(super) mod idle_timeout_mismatch;
pub(super) mod masked_overflow;
pub(super) mod missed_overflow;
pub(super) mod number_read_as_status;
pub(super) mod open_compaction;
pub(super) mod orphan_tool_call;
pub(super) mod output_reservation_overflow;
pub(super) mod overflow_coded_otherwise;
pub(super) mod overflow_without_compaction;
pub(super) mod policy_lint;
pub(super) mod quota_vs_rate_limit;
pub(super) mod rate_limit_as_overflow;
pub(super) mod retry_after_abandoned;
pub(super) mod retry_before_retry_after;
pub(super) mod retry_storm;
pub(super) mod seq_fork;
pub(super) mod spurious_overflow_compaction;
pub(super) mod step_jump;
pub(super) mod torn_log;
pub(super) mod unclassified_transient;
pub(super) mod unknown_required_event;
pub(super) mod untrusted_usage;
pub(super) mod window_mismatch;
pub(super) mod window_unknown;
