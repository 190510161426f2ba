//! A route that is up or down, as a Markov process in continuous time that is only seen when somebody asks.
//!
//! Filter and backward sampling: L. R. Rabiner, *A Tutorial on Hidden Markov Models*, Proc. IEEE 77, 1989, and
//! S. L. Scott, *Bayesian Methods for Hidden Markov Models*, JASA 97, 2002, with the transition probabilities of the
//! two-state process over each gap.

use super::path::Path;
use super::probes::Probe;
use crate::stats::{SeededRng, exp, ln};

/// More expected switches than this between two probes are not worth sampling: no chain lives that long.
const MOST_SWITCHES: f64 = 400.0;

/// The process. Rates are per millisecond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoState {
    /// Rate of going down.
    pub fall_rate: f64,
    /// Rate of coming up.
    pub rise_rate: f64,
    /// Probability that a request succeeds while the route is up.
    pub success_up: f64,
    /// And while it is down: 0 in a hard outage.
    pub success_down: f64,
}

/// What the forward filter leaves behind.
#[derive(Debug, Clone, Default)]
pub struct Filtered {
    /// Probability of being down at each probe, given the probes up to it.
    pub down: Vec<f64>,
    /// exp(−(fall + rise)·gap) before each probe.
    pub decay: Vec<f64>,
    /// Logarithm of the probability of all outcomes.
    pub log_likelihood: f64,
}

impl TwoState {
    /// Sum of the rates: how fast the past is forgotten.
    fn forgetting(&self) -> f64 {
        self.fall_rate + self.rise_rate
    }

    /// Long-run share of time that the route is down.
    #[must_use]
    pub fn down_share(&self) -> f64 {
        self.fall_rate / self.forgetting()
    }

    /// Probability of an outcome in the up and in the down state.
    fn emission(&self, success: bool) -> (f64, f64) {
        if success { (self.success_up, self.success_down) } else { (1.0 - self.success_up, 1.0 - self.success_down) }
    }

    /// P(down later | up now) and P(down later | down now) after a gap with this decay.
    fn down_after(&self, decay: f64) -> (f64, f64) {
        let share = self.down_share();
        (share * (1.0 - decay), share + (1.0 - share) * decay)
    }

    /// Forward filter. Probes for which `hidden` holds are passed over: they change no belief and are not scored.
    #[must_use]
    pub fn filter(&self, probes: &[Probe], hidden: impl Fn(&Probe) -> bool) -> Filtered {
        let mut filtered = Filtered {
            down: Vec::with_capacity(probes.len()),
            decay: Vec::with_capacity(probes.len()),
            log_likelihood: 0.0,
        };
        let (mut belief, mut product, mut last) = (self.down_share(), 1.0_f64, None);
        for probe in probes {
            let decay = last.map_or(1.0, |last: f64| self.decay(probe.time_ms - last));
            last = Some(probe.time_ms);
            let (from_up, from_down) = self.down_after(decay);
            belief = belief * from_down + (1.0 - belief) * from_up;
            if !hidden(probe) {
                let (up, down) = self.emission(probe.success);
                let (joint_up, joint_down) = ((1.0 - belief) * up, belief * down);
                let total = (joint_up + joint_down).max(1e-300);
                belief = joint_down / total;
                product *= total;
                // One logarithm for many probes.
                if product < 1e-150 {
                    filtered.log_likelihood += ln(product);
                    product = 1.0;
                }
            }
            filtered.down.push(belief);
            filtered.decay.push(decay);
        }
        filtered.log_likelihood += ln(product);
        filtered
    }

    fn decay(&self, gap_ms: f64) -> f64 {
        if gap_ms > 0.0 { exp(-self.forgetting() * gap_ms) } else { 1.0 }
    }

    /// Probability of being down at each probe, given all probes that are not hidden.
    #[must_use]
    pub fn smooth(&self, probes: &[Probe], hidden: impl Fn(&Probe) -> bool) -> Vec<f64> {
        let filtered = self.filter(probes, &hidden);
        let mut smoothed = filtered.down.clone();
        // Likelihood of what comes later, given up and given down; only their ratio counts.
        let (mut later_up, mut later_down) = (1.0_f64, 1.0_f64);
        for index in (0..probes.len()).rev() {
            let belief = filtered.down[index];
            let (up, down) = ((1.0 - belief) * later_up, belief * later_down);
            smoothed[index] = if up + down > 0.0 { down / (up + down) } else { belief };
            let (emit_up, emit_down) =
                if hidden(&probes[index]) { (1.0, 1.0) } else { self.emission(probes[index].success) };
            let (next_up, next_down) = (emit_up * later_up, emit_down * later_down);
            let (from_up, from_down) = self.down_after(filtered.decay[index]);
            later_up = (1.0 - from_up) * next_up + from_up * next_down;
            later_down = (1.0 - from_down) * next_up + from_down * next_down;
            let scale = (later_up + later_down).max(1e-300);
            (later_up, later_down) = (later_up / scale, later_down / scale);
        }
        smoothed
    }

    /// One course of the route given all probes, followed past the last one for `tail_ms`.
    #[must_use]
    pub fn sample_path(&self, probes: &[Probe], tail_ms: f64, rng: &mut SeededRng) -> Path {
        let filtered = self.filter(probes, |_| false);
        let Some(last) = probes.last() else { return Path::default() };
        let mut down = rng.chance(filtered.down[probes.len() - 1]);
        let mut backward = Vec::new();
        let mut segment = Vec::new();
        self.forward(last.time_ms, last.time_ms + tail_ms, down, rng, &mut segment);
        backward.extend(segment.drain(..).rev());
        for index in (1..probes.len()).rev() {
            let (from_up, from_down) = self.down_after(filtered.decay[index]);
            let belief = filtered.down[index - 1];
            let (up, was_down) = if down {
                ((1.0 - belief) * from_up, belief * from_down)
            } else {
                ((1.0 - belief) * (1.0 - from_up), belief * (1.0 - from_down))
            };
            let total = up + was_down;
            let before = if total > 0.0 { rng.chance(was_down / total) } else { down };
            let (from, to) = (probes[index - 1].time_ms, probes[index].time_ms);
            self.bridge(from, to, before, down, filtered.decay[index], rng, &mut segment);
            backward.extend(segment.drain(..).rev());
            down = before;
        }
        backward.reverse();
        Path { starts_down: down, switches: backward }
    }

    /// Switches from `from` on without knowledge of the end; it ends up, at the
    /// first rise after `until` or after [`MOST_SWITCHES`].
    fn forward(&self, from: f64, until: f64, mut down: bool, rng: &mut SeededRng, switches: &mut Vec<f64>) {
        let mut time = from;
        loop {
            time -= ln(rng.uniform_open()) / if down { self.rise_rate } else { self.fall_rate };
            if !down && (time > until || switches.len() as f64 >= MOST_SWITCHES) {
                return;
            }
            switches.push(time);
            down = !down;
        }
    }

    /// Switches inside one gap whose two ends are known.
    #[allow(clippy::too_many_arguments, reason = "the gap, its ends, and where the result goes")]
    fn bridge(
        &self,
        from: f64,
        to: f64,
        mut down: bool,
        end_down: bool,
        decay: f64,
        rng: &mut SeededRng,
        switches: &mut Vec<f64>,
    ) {
        let mut start = from;
        let product = self.fall_rate * self.rise_rate;
        if 2.0 * product / self.forgetting() * (to - from) > MOST_SWITCHES {
            return self.long_bridge(from, to, down, end_down, rng, switches);
        }
        let mut decay = decay;
        loop {
            let gap = to - start;
            if down == end_down {
                let luck = rng.uniform();
                // Two switches at least; their probability is below product·gap²/2, so most gaps need no exponential.
                let (from_up, from_down) = self.down_after(decay);
                let same = if down { from_down } else { 1.0 - from_up };
                if luck * same >= 0.5 * product * gap * gap {
                    return;
                }
                let leave = if down { self.rise_rate } else { self.fall_rate };
                if luck >= 1.0 - exp(-leave * gap) / same {
                    return;
                }
            }
            let switch = start + self.first_switch(gap, down, end_down, rng.uniform());
            if switch >= to || switch <= start {
                // Too close for the clock: only an open difference needs the switch.
                if down != end_down {
                    switches.push(start + 0.5 * gap);
                }
                return;
            }
            switches.push(switch);
            down = !down;
            start = switch;
            decay = self.decay(to - start);
        }
    }

    /// Time to the first switch in a gap, given both ends and that there is one; inversion by bisection.
    fn first_switch(&self, gap: f64, down: bool, end_down: bool, luck: f64) -> f64 {
        let (leave, back) = if down { (self.rise_rate, self.fall_rate) } else { (self.fall_rate, self.rise_rate) };
        let total = leave + back;
        // Long-run share of the state that the switch leads to, and of the one it leaves.
        let (there, here) = (leave / total, back / total);
        let (constant, decaying) = if down == end_down { (here, -here) } else { (there, here) };
        let mass = |time: f64| {
            constant * (1.0 - exp(-leave * time))
                + decaying * leave / back * (exp(back * time - total * gap) - exp(-total * gap))
        };
        let target = luck * mass(gap);
        let (mut low, mut high) = (0.0, gap);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if mass(middle) < target { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// A gap much longer than the states last: its beginning as the process goes, its end as it must be, up between.
    fn long_bridge(
        &self,
        from: f64,
        to: f64,
        down: bool,
        end_down: bool,
        rng: &mut SeededRng,
        switches: &mut Vec<f64>,
    ) {
        let middle = from + 0.5 * (to - from);
        self.forward(from, middle, down, rng, switches);
        while switches.last().is_some_and(|last| *last > middle) {
            switches.pop();
        }
        let down_at_middle = down ^ (switches.len() % 2 == 1);
        if down_at_middle {
            switches.push(middle);
        }
        if end_down {
            // The process run backward has the same rates.
            let lasted = -ln(rng.uniform_open()) / self.rise_rate;
            switches.push((to - lasted).max(middle + 0.25 * (to - middle)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(rows: &[(f64, bool)]) -> Vec<Probe> {
        rows.iter().map(|(time_ms, success)| Probe::new(*time_ms, *success, 0)).collect()
    }

    const HARD: TwoState =
        TwoState { fall_rate: 1.0 / 3000.0, rise_rate: 1.0 / 1000.0, success_up: 1.0, success_down: 0.0 };

    #[test]
    fn the_filter_multiplies_the_probabilities_of_the_outcomes() {
        // By hand: P(up) = ¾; after 1 s exp(−4/3) = 0.2636; P(up→down) = ¼·(1 − 0.2636) = 0.18410.
        let filtered = HARD.filter(&probes(&[(0.0, true), (1000.0, false)]), |_| false);
        assert!((exp(filtered.log_likelihood) - 0.75 * 0.184_10).abs() < 1e-4);
        assert_eq!(filtered.down, [0.0, 1.0]);
    }

    #[test]
    fn a_path_agrees_with_every_probe_of_a_hard_outage() {
        let mut rng = SeededRng::new(1);
        let seen =
            probes(&[(0.0, true), (400.0, false), (420.0, false), (9000.0, false), (9000.5, true), (1e7, false)]);
        for _ in 0..500 {
            let path = HARD.sample_path(&seen, 60_000.0, &mut rng);
            assert!(path.switches.is_sorted());
            for probe in &seen {
                assert_eq!(path.is_down(probe.time_ms), !probe.success, "{probe:?} {path:?}");
            }
        }
    }

    #[test]
    fn switches_inside_a_gap_follow_the_process() {
        // Up at both ends of 2 s. P(up throughout) = exp(−⅔)/P(up→up), P(up→up) = ¾ + ¼·exp(−8/3).
        let mut rng = SeededRng::new(2);
        let seen = probes(&[(0.0, true), (2000.0, true)]);
        let draws = 20_000;
        let calm = (0..draws).filter(|_| HARD.sample_path(&seen, 0.0, &mut rng).place(2000.0) == 0).count() as f64;
        let expected = exp(-2.0 / 3.0) / (0.75 + 0.25 * exp(-8.0 / 3.0));
        assert!((calm / f64::from(draws) - expected).abs() < 0.012, "{} against {expected}", calm / f64::from(draws));
        // The share of time spent down in the middle of the gap, against the exact bridge.
        let half = exp(-4.0 / 3.0);
        let (up_down, up_up) = (0.25 * (1.0 - half), 0.75 + 0.25 * half);
        let exact = up_down * (0.75 * (1.0 - half)) / (up_down * (0.75 * (1.0 - half)) + up_up * up_up);
        let down = (0..draws).filter(|_| HARD.sample_path(&seen, 0.0, &mut rng).is_down(1000.0)).count() as f64;
        assert!((down / f64::from(draws) - exact).abs() < 0.012, "{} against {exact}", down / f64::from(draws));
    }

    #[test]
    fn a_hidden_probe_is_predicted_from_its_neighbours() {
        let mut seen = probes(&[(0.0, false), (100.0, false), (200.0, false)]);
        seen[1].success = true;
        let smoothed = HARD.smooth(&seen, |probe| probe.time_ms == 100.0);
        assert!(smoothed[1] > 0.97, "{smoothed:?}");
    }
}
