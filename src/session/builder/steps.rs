//! Turns and steps by their numbers. Nearly always the last one is meant; the maps are for the rest.

use super::{SessionBuilder, StepKey};
use crate::session::TurnRow;
use crate::session::chains::StepHistory;

impl SessionBuilder {
    pub(super) fn tool(&mut self, name: &str) {
        if self.last_tool.as_deref() != Some(name) {
            self.last_tool = Some(name.into());
        }
    }

    pub(super) fn turn(&mut self, turn: u64) -> &mut TurnRow {
        let rows = &mut self.rows.turns;
        // Nearly always the last one; the map is for the rest.
        if rows.last().is_some_and(|row| row.turn == turn) {
            let last = rows.len() - 1;
            return &mut rows[last];
        }
        let index = *self.turn_of.entry(turn).or_insert_with(|| {
            rows.push(TurnRow { turn, start_time: None, end_time: None, end: None, failure: None, steps: 0 });
            rows.len() - 1
        });
        &mut rows[index]
    }

    pub(super) fn known_history(&mut self, key: StepKey) -> Option<&mut StepHistory> {
        // Nearly always the last one; the map is for the rest.
        let last = self.histories.len().checked_sub(1)?;
        let index = if self.histories[last].0 == key { last } else { self.history_of.get(&key).copied()? };
        Some(&mut self.histories[index].1)
    }

    /// The last attempt of a step: a later event may still tell that it failed or succeeded.
    pub(super) fn last_attempt(&mut self, key: StepKey) -> Option<usize> {
        self.known_history(key)?.attempts.last().copied()
    }

    pub(super) fn ready(&mut self, key: StepKey, time: Option<i64>) {
        match self.known_history(key) {
            Some(history) => history.ready = time,
            None => drop(self.ready_elsewhere.insert(key, time)),
        }
    }

    pub(super) fn history(&mut self, key: StepKey) -> &mut StepHistory {
        let histories = &mut self.histories;
        if histories.last().is_some_and(|(last, _)| *last == key) {
            let last = histories.len() - 1;
            return &mut histories[last].1;
        }
        let elsewhere = &mut self.ready_elsewhere;
        let index = *self.history_of.entry(key).or_insert_with(|| {
            let ready = if elsewhere.is_empty() { None } else { elsewhere.remove(&key).flatten() };
            histories.push((key, StepHistory { ready, ..StepHistory::default() }));
            histories.len() - 1
        });
        &mut histories[index].1
    }
}
