//! Axes: from values to places, and the values that get a label.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::report::document::{Axis, Scale};
use crate::report::numbers::grouped;

/// Values from `low` to `high`, laid over `from` to `to` of the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Span {
    /// The place of a value, rounded to a tenth of a pixel.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.high > self.low { (value - self.low) / (self.high - self.low) } else { 0.5 };
        ((self.from + share.clamp(-0.05, 1.05) * (self.to - self.from)) * 10.0).round() / 10.0
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into at most `most` parts.
pub(super) fn nice_step(range: f64, most: f64) -> f64 {
    let raw = (range / most).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= raw * 0.999_999).unwrap_or(power * 10.0)
}

/// Round values between `low` and `high`, both included where they are round.
pub(super) fn ticks(low: f64, high: f64, most: f64) -> Vec<f64> {
    let step = nice_step(high - low, most);
    let first = (low / step).ceil();
    let count = ((high / step).floor() - first).clamp(0.0, 50.0) as usize;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

/// `1,500`, `0.25`
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value.abs() >= 1.0 && (value - value.round()).abs() < 1e-9 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", grouped(value.abs().round() as u64));
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

/// What a value on an axis is called.
pub(super) fn name(axis: &Axis, value: f64, zone: &TimeZone) -> String {
    match &axis.scale {
        Scale::Linear => number(value),
        Scale::Time => time(value, zone, "%Y-%m-%d %H:%M:%S"),
        Scale::Categories(names) => names.get(value.max(0.0) as usize).cloned().unwrap_or_default(),
    }
}

pub(super) fn time(ms: f64, zone: &TimeZone, format: &str) -> String {
    let stamp = Timestamp::from_millisecond(ms as i64).ok();
    stamp.map_or_else(String::new, |t| t.to_zoned_datetime(zone.clone()).strftime(format).to_string())
}

/// Format of the labels of a time axis of this length, milliseconds.
pub(super) fn time_format(range: f64) -> &'static str {
    match range {
        r if r < 600_000.0 => "%H:%M:%S",
        r if r < 86_400_000.0 => "%H:%M",
        r if r < 5.0 * 86_400_000.0 => "%m-%d %H:%M",
        _ => "%Y-%m-%d",
    }
}
