//! Which columns go with failures, and what remains of each after the best explanation is taken out.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;

use super::column::{ALL, Column, Place};
use super::concurrency::Concurrency;
use super::trial::{SessionTrials, trials_of};
use super::window_study::Rate;
use crate::filter::Filters;
use crate::session::SessionRows;
use crate::stats::{Interval, Level, PooledRatio, ScanUnit, benjamini_hochberg, pooled_rate_ratio};

/// Share of false discoveries that is accepted.
const FALSE_DISCOVERIES: f64 = 0.05;
/// Explanations taken out, one after another.
const MOST_EXPLANATIONS: usize = 3;
/// A value seen in fewer sessions cannot be told from those sessions.
const FEWEST_CLUSTERS: usize = 5;
/// A value with fewer failures to be expected cannot show even a doubling.
const FEWEST_EXPECTED: f64 = 5.0;
/// Bursts of failures on one route hit many sessions at once; stretches of this length are taken as one.
const STRETCH_MS: i64 = 6 * 3_600_000;

/// What one value of a column goes with.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The column.
    pub column: Column,
    /// The value.
    pub level: String,
    /// Steps with it, and those that met a failure.
    pub with: Rate,
    /// Steps with another value.
    pub without: Rate,
    /// Rate with over rate without; `None`: infinite.
    pub ratio: Option<f64>,
    /// Its 95 % interval, which allows for bursts inside sessions and stretches of time.
    pub interval: Interval,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Benjamini and Hochberg's q-value among the values tested in its round.
    pub q_value: f64,
}

/// The scan of all columns. The outcome of a step is whether it met any failure, also one that a retry healed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnScan {
    /// Every value that could be tested, the surest first; nothing taken out.
    pub effects: Vec<Effect>,
    /// What survives: the surest explanation, then the surest that remains within its values, and so on.
    pub explanations: Vec<Effect>,
}

/// One step, ready to be counted.
struct Observation {
    met_failure: bool,
    session: usize,
    stretch: usize,
    stratum: usize,
    /// Interned value of each column.
    levels: [Option<usize>; ALL.len()],
}

impl ColumnScan {
    /// Scans the steps within the filters. Hours are those of `zone`.
    #[must_use]
    pub fn of(sessions: &[SessionRows], filters: &Filters, zone: &TimeZone) -> Self {
        let (mut observations, names) = observe(sessions, &trials_of(sessions, filters), zone);
        let mut scan = Self { effects: round(&observations, &names), explanations: Vec::new() };
        let mut effects = scan.effects.clone();
        for _ in 0..MOST_EXPLANATIONS {
            let Some(best) = effects.iter().find(|effect| explains(effect)).cloned() else { break };
            hold_fixed(&mut observations, best.column);
            scan.explanations.push(best);
            effects = round(&observations, &names);
        }
        scan
    }
}

/// More failures, surely.
fn explains(effect: &Effect) -> bool {
    effect.q_value <= FALSE_DISCOVERIES && effect.interval.lower > 1.0
}

type Names = [Vec<String>; ALL.len()];

fn observe(sessions: &[SessionRows], trials: &[SessionTrials], zone: &TimeZone) -> (Vec<Observation>, Names) {
    let concurrency = Concurrency::of(sessions);
    let mut names: Names = Default::default();
    let mut known: [HashMap<String, usize>; ALL.len()] = Default::default();
    let mut stretches: HashMap<i64, usize> = HashMap::new();
    let mut observations: Vec<Observation> = Vec::new();
    for (number, (session, trials)) in sessions.iter().zip(trials).enumerate() {
        for trial in &trials.trials {
            let attempt = &session.attempts[trial.attempt];
            let place = Place { session, attempt, time: trial.time, zone, concurrency: &concurrency };
            let mut levels = [None; ALL.len()];
            for (index, column) in ALL.iter().enumerate() {
                let Some(name) = column.value(&place) else { continue };
                // Mostly what the step before had.
                let before = observations.last().and_then(|last| last.levels[index]);
                levels[index] = before.filter(|level| names[index][*level] == name).or_else(|| {
                    known[index].get(&*name).copied().or_else(|| {
                        let level = names[index].len();
                        names[index].push(name.clone().into_owned());
                        known[index].insert(name.into_owned(), level);
                        Some(level)
                    })
                });
            }
            let next = stretches.len();
            let stretch = *stretches.entry(trial.time.unwrap_or(0).div_euclid(STRETCH_MS)).or_insert(next);
            observations.push(Observation {
                met_failure: trial.met_failure,
                session: number,
                stretch,
                stratum: 0,
                levels,
            });
        }
    }
    (observations, names)
}

/// Compares from now on only steps that have the same value of the column.
fn hold_fixed(observations: &mut [Observation], column: Column) {
    let Some(index) = ALL.iter().position(|known| *known == column) else { return };
    let mut strata: BTreeMap<(usize, Option<usize>), usize> = BTreeMap::new();
    for observation in observations {
        let next = strata.len();
        observation.stratum = *strata.entry((observation.stratum, observation.levels[index])).or_insert(next);
    }
}

/// Tests every value of every column, the surest first.
fn round(observations: &[Observation], names: &Names) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    // A column of one value has nothing to be compared with.
    for (index, column) in ALL.iter().enumerate().filter(|(index, _)| names[*index].len() > 1) {
        let by_session = Cells::of(observations, index, |o| o.session);
        let by_stretch = Cells::of(observations, index, |o| o.stretch);
        for (level, name) in names[index].iter().enumerate() {
            effects.extend(effect(*column, (level, name), &by_session, &by_stretch));
        }
    }
    let p_values: Vec<f64> = effects.iter().map(|effect| effect.p_value).collect();
    for (effect, q) in effects.iter_mut().zip(benjamini_hochberg(&p_values).unwrap_or_default()) {
        effect.q_value = q;
    }
    effects.sort_by(|left, right| {
        let strength = |effect: &Effect| effect.ratio.unwrap_or(f64::INFINITY);
        (left.p_value.total_cmp(&right.p_value))
            .then_with(|| strength(right).total_cmp(&strength(left)))
            .then_with(|| (left.column, &left.level).cmp(&(right.column, &right.level)))
    });
    effects
}

/// Failures and steps by stratum and cluster, and by value inside them.
struct Cells {
    cells: Vec<Cell>,
    /// By value, over all cells.
    totals: Vec<Rate>,
}

struct Cell {
    stratum: usize,
    cluster: usize,
    all: Rate,
    by_level: Vec<(usize, Rate)>,
}

impl Rate {
    fn merge(&mut self, other: Self) {
        self.failures += other.failures;
        self.steps += other.steps;
    }

    fn without(self, part: Self) -> Self {
        Self { failures: self.failures - part.failures, steps: self.steps - part.steps }
    }
}

impl Cells {
    fn of(observations: &[Observation], column: usize, cluster: impl Fn(&Observation) -> usize) -> Self {
        let place = |o: &Observation| Some((o.stratum, cluster(o), o.levels[column]?, o.met_failure));
        let mut places: Vec<(usize, usize, usize, bool)> = observations.iter().filter_map(place).collect();
        places.sort_unstable();
        let levels = places.iter().map(|(_, _, level, _)| level + 1).max().unwrap_or(0);
        let mut totals = vec![Rate::default(); levels];
        let mut cells: Vec<Cell> = Vec::new();
        for same_cell in places.chunk_by(|left, right| (left.0, left.1) == (right.0, right.1)) {
            let (stratum, cluster, ..) = same_cell[0];
            let mut cell = Cell { stratum, cluster, all: Rate::default(), by_level: Vec::new() };
            for same_level in same_cell.chunk_by(|left, right| left.2 == right.2) {
                let failures = same_level.iter().filter(|(.., met_failure)| *met_failure).count() as u64;
                let rate = Rate { failures, steps: same_level.len() as u64 };
                cell.all.merge(rate);
                totals[same_level[0].2].merge(rate);
                cell.by_level.push((same_level[0].2, rate));
            }
            cells.push(cell);
        }
        Self { cells, totals }
    }

    /// Steps with a value, and with another one.
    fn sides(&self, level: usize) -> (Rate, Rate) {
        let mut all = Rate::default();
        self.totals.iter().for_each(|rate| all.merge(*rate));
        let with = self.totals.get(level).copied().unwrap_or_default();
        (with, all.without(with))
    }

    /// One value against all others.
    fn units(&self, level: usize) -> Vec<ScanUnit> {
        let mut units = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let with =
                cell.by_level.iter().find(|(known, _)| *known == level).map_or(Rate::default(), |(_, rate)| *rate);
            for (exposed, rate) in [(true, with), (false, cell.all.without(with))] {
                if rate.steps > 0 {
                    let (stratum, cluster) = (cell.stratum, cell.cluster);
                    units.push(ScanUnit { stratum, cluster, exposed, events: rate.failures, trials: rate.steps });
                }
            }
        }
        units
    }
}

/// `None` where the data cannot tell: too few failures to be expected, sessions, or days.
fn effect(column: Column, (level, name): (usize, &str), by_session: &Cells, by_stretch: &Cells) -> Option<Effect> {
    let (with, without) = by_session.sides(level);
    let all = Rate { failures: with.failures + without.failures, steps: with.steps + without.steps };
    let expected = all.value()? * with.steps.min(without.steps) as f64;
    if expected < FEWEST_EXPECTED {
        return None;
    }
    let enough = |pooled: &PooledRatio| pooled.clusters.0.min(pooled.clusters.1) >= FEWEST_CLUSTERS;
    let sessions = pooled_rate_ratio(&by_session.units(level), Level::NINETY_FIVE).filter(enough)?;
    let stretches = pooled_rate_ratio(&by_stretch.units(level), Level::NINETY_FIVE).filter(enough);
    // An hour of one day is that day, not the hour.
    if column == Column::Hour && stretches.is_none() {
        return None;
    }
    // Whichever finds more hanging together: the larger p-value.
    let surer = [Some(sessions), stretches].into_iter().flatten();
    let (pooled, p_value) =
        surer.filter_map(|pooled| Some((pooled, pooled.p_value?))).max_by(|left, right| left.1.total_cmp(&right.1))?;
    let (ratio, interval) = (pooled.estimate, pooled.interval?);
    Some(Effect { column, level: name.to_owned(), with, without, ratio, interval, p_value, q_value: 1.0 })
}
