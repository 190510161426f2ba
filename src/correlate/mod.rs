//! In: the rows of all sessions, filtered.
//! Out: whether compactions make steps fail ([`CompactionStudy`]), and what else goes with failures ([`ColumnScan`]).
//! Always: the unit is the step, placed by its first request; retries are never counted as observations.

mod column;
mod column_scan;
mod compaction_list;
mod concurrency;
mod event_study;
mod marker;
#[cfg(test)]
mod tests;
mod trial;
mod verdict;
mod window_study;

pub use column::Column;
pub use column_scan::{ColumnScan, Effect};
pub use compaction_list::{CompactionList, Listed, NextFailure, Run, RunKind, TriggerSummary};
pub use event_study::{LAGS, Lag, SECONDS_PER_LAG, event_study};
pub use marker::{Marker, Markers};
pub use trial::{SessionTrials, Trial, trials_of};
pub use verdict::{Answer, Verdict, in_words};
pub use window_study::{Rate, WindowStudy};

use crate::filter::Filters;
use crate::session::SessionRows;
use crate::stats::ShiftPlan;
use crate::windows::Window;

/// Seed of everything random here: the same archive always gives the same answer.
const SEED: u64 = 0x6473_6866;

/// Takes the markers of one kind out of a session.
type MarkersOf = fn(&SessionRows) -> Markers;

/// Do compactions make steps fail?
#[derive(Debug, Clone)]
pub struct CompactionStudy {
    /// Failed steps in each window, as asked for.
    pub windows: Vec<WindowStudy>,
    /// The same windows for steps that met any failure, also one that a retry healed.
    pub any_failure: Vec<WindowStudy>,
    /// The first window by what started the compaction: pressure, manual, prune.
    pub by_trigger: Vec<(&'static str, WindowStudy)>,
    /// Rates by distance on the three clocks.
    pub lags: Vec<Lag>,
    /// The answer.
    pub answer: Answer,
}

impl CompactionStudy {
    /// Studies the steps within the filters.
    #[must_use]
    pub fn of(sessions: &[SessionRows], filters: &Filters, windows: &[Window]) -> Self {
        let trials = trials_of(sessions, filters);
        let plan = ShiftPlan::new(SEED);
        let study = |markers: &[Vec<Marker>], window: &Window, any: bool| {
            WindowStudy::of(&trials, markers, *window, any, &plan)
        };
        let of = |kind: MarkersOf| sessions.iter().map(|s| kind(s).list).collect::<Vec<_>>();
        let independent = of(Markers::independent);
        let windows: Vec<WindowStudy> = windows.iter().map(|w| study(&independent, w, false)).collect();
        let answer = Answer::of(&windows, &trials);
        let any_failure = windows.iter().map(|w| study(&independent, &w.window, true)).collect();
        let kinds: [(&'static str, MarkersOf); 3] =
            [("pressure", Markers::pressure), ("manual", Markers::manual), ("prune", Markers::prunes)];
        let by_trigger = windows.first().map_or_else(Vec::new, |first| {
            let studied = kinds.iter().map(|(name, kind)| (*name, of(*kind)));
            studied
                .filter(|(_, markers)| markers.iter().any(|list| !list.is_empty()))
                .map(|(name, markers)| (name, study(&markers, &first.window, false)))
                .collect()
        });
        Self { lags: event_study(&trials, &independent), windows, any_failure, by_trigger, answer }
    }
}
