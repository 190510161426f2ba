//! Numbers as people read them: grouped digits, percentages, spans and points in time. All but spans are the same in
//! every language; a span is a [`Message`], because its unit is a word.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::message;
use crate::message::Message;

/// `12,238`
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `4.3 %`; a dash where nothing was counted.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

/// `0.93`, `4.0`, `1,250`: a ratio in two or more figures.
pub fn ratio(value: f64) -> String {
    match value {
        v if v < 0.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => grouped(v.min(1e15).round() as u64),
    }
}

/// `0.042`; below a thousandth `< 0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// `165,000` or a dash.
pub fn optional(value: Option<u64>) -> String {
    value.map_or_else(|| "–".to_owned(), grouped)
}

/// `350 ms`, `1.5 s`, `12 min`, `3.2 h`, `6 d`
pub fn span(ms: i64) -> Message {
    let size = ms.unsigned_abs() as f64;
    let sign = if ms < 0 { "−" } else { "" };
    let tenths = |value: f64| format!("{sign}{}", format!("{value:.1}").trim_end_matches(".0"));
    match size {
        s if s < 1_000.0 => message!("common.milliseconds", n = format!("{sign}{s:.0}")),
        s if s < 60_000.0 => message!("common.seconds", n = tenths(s / 1e3)),
        s if s < 3_600_000.0 => message!("common.minutes", n = tenths(s / 6e4)),
        s if s < 86_400_000.0 => message!("common.hours", n = tenths(s / 3.6e6)),
        s => message!("common.days", n = tenths(s / 8.64e7)),
    }
}

/// `31.2 MB`
pub fn bytes(size: u64) -> String {
    let value = size as f64;
    match value {
        v if v < 1e3 => format!("{v:.0} B"),
        v if v < 1e6 => format!("{:.1} kB", v / 1e3),
        v if v < 1e9 => format!("{:.1} MB", v / 1e6),
        v => format!("{:.2} GB", v / 1e9),
    }
}

/// `2026-11-30 05:18:55` in `zone`, or a dash.
pub fn moment(ms: Option<i64>, zone: &TimeZone) -> String {
    let stamp = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    stamp
        .map_or_else(|| "–".to_owned(), |t| t.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::{bytes, grouped, percent, span};
    use crate::report::lang::Language;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([grouped(0), grouped(999), grouped(1000), grouped(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [percent(530, 12_238), percent(486, 530), percent(12, 530), percent(0, 0)],
            ["4.3 %", "91.7 %", "2.3 %", "–"]
        );
        let spans = [350, -1500, 720_000, 518_400_000].map(span);
        assert_eq!(spans.each_ref().map(|s| Language::English.render(s)), ["350 ms", "−1.5 s", "12 min", "6 d"]);
        assert_eq!(spans.each_ref().map(|s| Language::Chinese.render(s)), ["350 毫秒", "−1.5 秒", "12 分钟", "6 天"]);
        assert_eq!([bytes(12), bytes(31_200_000)], ["12 B", "31.2 MB"]);
    }
}
