//! After all sessions are read: which reports are to be trusted, the fits over models, and every estimate.

use std::collections::BTreeMap;

use super::estimate::{anchored, counted, from_bytes, reported};
use super::evidence::Evidence;
use super::fit::{Coefficients, MODEL_SPREAD, SESSION_SPREAD, Sample, UNFITTED, fit};
use crate::message;
use crate::notice::Notice;
use crate::session::{AttemptRow, Outcome, SessionRows, TokenEstimate};

/// A report this many times off the usual ratio of its model is not believed.
const USUAL_FACTOR: f64 = 2.2;
/// Tokens per byte where nothing is known: 4 bytes a token, in English as in Chinese.
const TOKENS_PER_BYTE: f64 = 0.25;

/// Usual tokens per byte by model: the median over sessions of each session's median.
fn usual_ratios(sessions: &[SessionRows]) -> BTreeMap<String, (f64, usize)> {
    let mut by_model: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for session in sessions {
        let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for attempt in &session.attempts {
            if let Some(ratio) = attempt.tokens_per_byte() {
                ratios.entry(&attempt.route.model).or_default().push(ratio);
            }
        }
        for (model, mut ratios) in ratios {
            if let Some(median) = median(&mut ratios) {
                by_model.entry(model.to_owned()).or_default().push(median);
            }
        }
    }
    by_model.into_iter().filter_map(|(model, mut ratios)| Some((model, (median(&mut ratios)?, ratios.len())))).collect()
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Fits of every model and of all together; a model's fit can leave one session out.
#[derive(Debug)]
pub struct Fits<'a> {
    samples: Vec<(&'a str, usize, &'a [Sample])>,
}

impl<'a> Fits<'a> {
    /// Gathers the samples of all sessions.
    pub fn new(sessions: &'a [SessionRows]) -> Self {
        let samples = sessions
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.token_samples.is_empty())
            .map(|(index, s)| (s.sampled_model(), index, s.token_samples.as_slice()))
            .collect();
        Self { samples }
    }

    /// The fit for a model without one session, and whether any report is behind it.
    pub fn model(&self, model: &str, without: Option<usize>) -> (Coefficients, bool) {
        let others = || self.samples.iter().filter(move |(_, index, _)| Some(*index) != without);
        let all = fit(others().flat_map(|(.., samples)| samples.iter()), UNFITTED, MODEL_SPREAD);
        let own: Vec<&Sample> =
            others().filter(|(name, ..)| *name == model).flat_map(|(.., samples)| samples.iter()).collect();
        let fitted = others().next().is_some();
        if own.is_empty() { (all, fitted) } else { (fit(own.into_iter(), all, MODEL_SPREAD), fitted) }
    }
}

/// The fit of a session, without the samples that touch one attempt.
pub fn session_fit(session: &SessionRows, model: Coefficients, without: Option<usize>) -> Coefficients {
    let samples = session
        .token_samples
        .iter()
        .filter(|s| without.is_none_or(|attempt| s.between.0 != attempt && s.between.1 != attempt));
    fit(samples, model, SESSION_SPREAD)
}

/// Marks the reports of a session that cannot be right, and counts them.
fn mark_untrusted(session: &mut SessionRows, usual: &BTreeMap<String, (f64, usize)>) -> u64 {
    let mut untrusted = 0;
    for attempt in &mut session.attempts {
        let Some(ratio) = attempt.tokens_per_byte() else { continue };
        let off = usual.get(&attempt.route.model).is_some_and(|(usual, sessions)| {
            *sessions >= 3 && !(usual / USUAL_FACTOR..usual * USUAL_FACTOR).contains(&ratio)
        });
        if off || !attempt.is_plausible() {
            attempt.usage_untrusted = true;
            untrusted += 1;
        }
    }
    untrusted
}

/// A success whose provider says that its prompt had no tokens. Failures are left out: pi-ai logs 0 for every one of them.
fn reports_zero(attempt: &AttemptRow) -> bool {
    attempt.outcome == Outcome::Succeeded && attempt.usage.is_some() && attempt.reported_prompt().is_none()
}

/// Marks reports that cannot be right and fills the estimate of every attempt that has evidence.
pub fn resolve(sessions: &mut [SessionRows], notices: &mut Vec<Notice>) {
    let usual = usual_ratios(sessions);
    for session in sessions.iter_mut() {
        let untrusted = mark_untrusted(session, &usual);
        let zero = session.attempts.iter().filter(|a| reports_zero(a)).count() as u64;
        let with_images = session.token_evidence.iter().filter(|(_, e)| e.image_tokens > 0).count() as u64;
        let session = &session.id;
        let told = [
            ("untrusted-usage", untrusted, message!("notices.untrusted-usage", session = session, n = untrusted)),
            ("zero-usage", zero, message!("notices.zero-usage", session = session, n = zero)),
            (
                "assumed-image-tokens",
                with_images,
                message!("notices.assumed-image-tokens", session = session, n = with_images),
            ),
        ];
        notices.extend(told.into_iter().filter(|(_, n, _)| *n > 0).map(|(kind, _, said)| Notice::new(kind, said)));
    }
    let fits = Fits::new(sessions);
    let mut cache: BTreeMap<String, (Coefficients, bool)> = BTreeMap::new();
    let mut found: Vec<Vec<(usize, TokenEstimate)>> = Vec::with_capacity(sessions.len());
    for session in sessions.iter() {
        let mut estimates = Vec::new();
        for (index, attempt) in session.attempts.iter().enumerate() {
            if let Some(prompt) = attempt.trusted_prompt() {
                estimates.push((index, reported(prompt)));
            }
        }
        for (index, evidence) in &session.token_evidence {
            let Some(attempt) = session.attempts.get(*index) else { continue };
            if attempt.trusted_prompt().is_some() {
                continue;
            }
            let model = attempt.route.model.as_str();
            let (coefficients, fitted) = *cache.entry(model.to_owned()).or_insert_with(|| fits.model(model, None));
            if let Some(estimate) =
                estimate(session, attempt, evidence, coefficients, fitted, usual.get(model).map(|u| u.0))
            {
                estimates.push((*index, estimate));
            }
        }
        found.push(estimates);
    }
    for (session, estimates) in sessions.iter_mut().zip(found) {
        for (index, estimate) in estimates {
            if let Some(request) = session.attempts.get_mut(index).and_then(|a| a.request.as_mut()) {
                request.tokens = Some(estimate);
            }
        }
    }
}

fn estimate(
    session: &SessionRows,
    attempt: &AttemptRow,
    evidence: &Evidence,
    model: Coefficients,
    fitted: bool,
    usual: Option<f64>,
) -> Option<TokenEstimate> {
    let prompt = |index: usize| session.attempts.get(index).and_then(AttemptRow::trusted_prompt);
    if let Some(tokens) = evidence.identical.and_then(prompt) {
        return Some(reported(tokens));
    }
    let own = session_fit(session, model, None);
    let raw = anchored(evidence, prompt, own).or_else(|| counted(evidence, model, fitted)).or_else(|| {
        let bytes = attempt.request.as_ref()?.body_bytes?;
        Some(from_bytes(bytes, usual.unwrap_or(TOKENS_PER_BYTE)))
    })?;
    Some(raw.rounded())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::resolve;
    use crate::event::Usage;
    use crate::evidence::test_rows::Rows;
    use crate::report::lang::Language;
    use crate::session::{SessionRows, TokenMethod};
    use crate::tokens::Evidence;

    /// Two requests of a session, whose reports are `factor` times what the usual tokenizer would count.
    fn session(id: &str, factor: f64) -> SessionRows {
        let reports = |prompt: u64| Usage { input: (prompt as f64 * factor) as u64, ..Usage::default() };
        Rows::new(id)
            .ok(20_000)
            .with(|a| a.usage = Some(reports(20_000)))
            .ok(25_000)
            .with(|a| a.usage = Some(reports(25_000)))
            .done()
    }

    fn untrusted(sessions: &mut [SessionRows]) -> (Vec<bool>, Vec<&'static str>) {
        let mut notices = Vec::new();
        resolve(sessions, &mut notices);
        let marks = sessions.iter().map(|s| s.attempts.iter().all(|a| a.usage_untrusted)).collect();
        (marks, notices.iter().map(|notice| notice.kind).collect())
    }

    #[test]
    fn a_provider_that_counts_its_own_state_is_not_believed() {
        let mut sessions: Vec<SessionRows> = ["a", "b", "c", "d"].map(|id| session(id, 1.0)).to_vec();
        sessions.push(session("server-side", 2.5));
        let (marks, notices) = untrusted(&mut sessions);
        assert_eq!(marks, [false, false, false, false, true]);
        assert_eq!(notices, ["untrusted-usage"]);
        assert!(sessions[4].attempts.iter().all(|a| a.trusted_prompt().is_none() && a.reported_prompt().is_some()));
    }

    #[test]
    fn a_model_that_counts_otherwise_in_all_sessions_is_believed() {
        let mut sessions: Vec<SessionRows> = ["a", "b", "c"].map(|id| session(id, 1.9)).to_vec();
        assert_eq!(untrusted(&mut sessions), (vec![false; 3], Vec::new()));
    }

    #[test]
    fn a_report_that_no_tokenizer_makes_is_not_believed_even_alone() {
        assert_eq!(untrusted(&mut [session("alone", 3.3)]), (vec![true], vec!["untrusted-usage"]));
    }

    #[test]
    fn a_report_of_zero_is_none_and_is_told() {
        let mut sessions = [session("zero", 0.0)];
        assert_eq!(untrusted(&mut sessions), (vec![false], vec!["zero-usage"]));
        assert!(sessions[0].attempts.iter().all(|a| a.trusted_prompt().is_none()));
    }

    #[test]
    fn images_are_counted_by_a_rule_that_the_report_names() {
        let mut rows = Rows::new("pictures").ok(1_000).with(|a| a.usage = None).done();
        rows.attempts[0].request.as_mut().unwrap().tokens = None;
        rows.token_evidence =
            vec![(0, Evidence { whole: Some([800.0, 3.0, 0.0]), image_tokens: 1_600, ..Evidence::default() })];
        let mut notices = Vec::new();
        let mut sessions = [rows];
        resolve(&mut sessions, &mut notices);
        let estimate = sessions[0].attempts[0].request.as_ref().unwrap().tokens.unwrap();
        assert_eq!(estimate.method, TokenMethod::Counted);
        assert!(estimate.low <= 2_400 && estimate.high >= 2_400, "{estimate:?}");
        assert_eq!(notices[0].kind, "assumed-image-tokens");
        assert!(Language::English.render(&notices[0].message).contains("assumed rule"));
    }
}
