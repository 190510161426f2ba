//! The answer in one word and one paragraph: do compactions make steps fail?

use super::trial::SessionTrials;
use super::window_study::WindowStudy;
use crate::message;
use crate::message::Message;
use crate::report::numbers::{grouped, percent, ratio};
use crate::windows::{Clock, Window};

/// Level of the answer over all windows together.
const ALARM: f64 = 0.05;
/// Fewer expected failures inside cannot show even a doubling.
const FEWEST_EXPECTED: f64 = 5.0;
/// Fewer failures inside are no pattern.
const FEWEST_INSIDE: u64 = 3;

/// What the windows say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Enough failures to see an effect, and none is seen.
    NoEvidence,
    /// Steps after a compaction fail more often.
    Raises,
    /// Steps after a compaction fail less often.
    Lowers,
    /// Too few failures or compactions to tell.
    TooFew,
}

impl Verdict {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoEvidence => "no_evidence",
            Self::Raises => "raises",
            Self::Lowers => "lowers",
            Self::TooFew => "too_few",
        }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// In one word.
    pub verdict: Verdict,
    /// The window it rests on: index into the windows asked for; `None` without windows.
    pub window: Option<usize>,
    /// Its p-value, times the number of windows (Bonferroni and Holm), at most 1.
    pub adjusted_p: Option<f64>,
    /// Steps that failed, of all windows' steps.
    pub failed_steps: u64,
    /// More than half of the failed steps may be owed to compactions.
    pub may_be_main_cause: bool,
}

impl Answer {
    /// Judges the windows together: one that stands out must do so after allowing for the number of windows.
    pub(super) fn of(windows: &[WindowStudy], sessions: &[SessionTrials]) -> Self {
        let failed_steps = sessions.iter().flat_map(|s| &s.trials).filter(|trial| trial.failed).count() as u64;
        let smallest = windows
            .iter()
            .enumerate()
            .filter_map(|(index, study)| Some((index, study, direction(study)?, study.p_value?)))
            .min_by(|left, right| left.3.total_cmp(&right.3));
        let adjusted = |p: f64| (p * windows.len() as f64).min(1.0);
        if let Some((index, study, verdict, p)) = smallest.filter(|(.., p)| adjusted(*p) <= ALARM) {
            return Self {
                verdict,
                window: Some(index),
                adjusted_p: Some(adjusted(p)),
                failed_steps,
                may_be_main_cause: verdict == Verdict::Raises && 2 * study.attributable_at_most() > failed_steps,
            };
        }
        let enough = windows.iter().position(|study| study.expected_inside >= FEWEST_EXPECTED);
        let window = enough.or((!windows.is_empty()).then_some(0));
        Self {
            verdict: if enough.is_some() { Verdict::NoEvidence } else { Verdict::TooFew },
            window,
            adjusted_p: window.and_then(|index| windows[index].p_value).map(adjusted),
            failed_steps,
            may_be_main_cause: false,
        }
    }

    /// The sentences of the answer. `counted`: failed steps that end inside the window and all failed steps, as `scan` counts them.
    #[must_use]
    pub fn text(&self, windows: &[WindowStudy], counted: (u64, u64)) -> Vec<Message> {
        let Some(study) = self.window.and_then(|index| windows.get(index)) else {
            return vec![message!("compactions.no-window")];
        };
        if self.failed_steps == 0 {
            return vec![message!("compactions.no-failure")];
        }
        let facts = [lies(study.window, counted), rates(study), Some(self.conclusion(study))];
        facts.into_iter().flatten().collect()
    }

    fn conclusion(&self, study: &WindowStudy) -> Message {
        let most = study.attributable_at_most();
        let rest = self.failed_steps.saturating_sub(most);
        match self.verdict {
            Verdict::NoEvidence => message!("compactions.no-evidence"),
            Verdict::Lowers => message!("compactions.lowers"),
            Verdict::TooFew if study.inside.steps == 0 => message!("compactions.too-few-none"),
            Verdict::TooFew => message!("compactions.too-few", expected = format!("{:.1}", study.expected_inside)),
            Verdict::Raises if already_before(study) => message!(
                "compactions.raises-before",
                failures = grouped(study.before.failures),
                steps = grouped(study.before.steps),
                share = percent(study.before.failures, study.before.steps),
            ),
            Verdict::Raises if self.may_be_main_cause => message!("compactions.raises"),
            Verdict::Raises => message!(
                "compactions.raises-few",
                most = grouped(most),
                total = grouped(self.failed_steps),
                share = percent(most, self.failed_steps),
                rest = grouped(rest),
                rest_share = percent(rest, self.failed_steps),
            ),
        }
    }
}

/// Which way a window points, where its interval leaves 1 out and the failures are not too few.
fn direction(study: &WindowStudy) -> Option<Verdict> {
    if study.ratio.lower? > 1.0 && study.inside.failures >= FEWEST_INSIDE {
        return Some(Verdict::Raises);
    }
    (study.ratio.upper? < 1.0 && study.expected_inside >= FEWEST_EXPECTED).then_some(Verdict::Lowers)
}

/// The rate before compactions is nearly as high as after: what they share comes first.
fn already_before(study: &WindowStudy) -> bool {
    let rates = study.before.value().zip(study.inside.value());
    study.before.failures >= FEWEST_INSIDE && rates.is_some_and(|(before, after)| before > 0.7 * after)
}

/// `8 events`, in words of either language.
#[must_use]
pub fn in_words(window: Window) -> Message {
    let n = format!("{}", window.length);
    match window.clock {
        Clock::Events => message!("compactions.events", n = n),
        Clock::Attempts => message!("compactions.attempts", n = n),
        Clock::Seconds => message!("compactions.seconds", n = n),
    }
}

fn lies(window: Window, (inside, total): (u64, u64)) -> Option<Message> {
    let known =
        message!("compactions.lies", inside = grouped(inside), total = grouped(total), share = percent(inside, total),);
    (total > 0).then(|| known.with_message("window", in_words(window)))
}

fn rates(study: &WindowStudy) -> Option<Message> {
    if study.inside.steps == 0 || study.outside.steps == 0 {
        return None;
    }
    let (inside, outside) = (study.inside, study.outside);
    let rates = message!(
        "compactions.rates",
        steps = grouped(inside.steps),
        failures = grouped(inside.failures),
        rate = percent(inside.failures, inside.steps),
        other_steps = grouped(outside.steps),
        other_failures = grouped(outside.failures),
        other_rate = percent(outside.failures, outside.steps),
    );
    let comparison = match (study.ratio.estimate, study.ratio.lower, study.ratio.upper) {
        (Some(times), Some(lower), Some(upper)) => {
            message!("compactions.ratio", times = ratio(times), lower = ratio(lower), upper = ratio(upper))
        }
        (None, Some(lower), _) => message!("compactions.ratio-infinite", lower = ratio(lower)),
        _ => message!("compactions.ratio-unknown"),
    };
    Some(rates.with_message("ratio", comparison))
}
