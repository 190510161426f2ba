//! Bar charts in characters: a line of bars along a time, or a bar for each category. Other charts are left to pictures.

use unicode_width::UnicodeWidthStr;

use super::document::{Chart, Mark, Scale, Series, Tone};
use super::numbers::grouped;
use super::terminal::{Layout, paint};

const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Shades of stacked series, the first the darkest.
const SHADES: [char; 3] = ['█', '▒', '░'];
/// Longest bar, columns.
const LONGEST: usize = 48;
/// Categories beyond which a picture is clearer.
const MOST_CATEGORIES: usize = 24;

/// Draws a chart; empty where characters do not suit it.
pub(super) fn draw(chart: &Chart, layout: Layout) -> String {
    if chart.series.is_empty() || chart.series.iter().any(|s| s.mark != Mark::Bar || s.points.iter().any(|p| p.y < 0.0))
    {
        return String::new();
    }
    match &chart.x.scale {
        Scale::Time => sparklines(chart, layout),
        Scale::Categories(names) if names.len() <= MOST_CATEGORIES => stacks(chart, names, layout),
        _ => String::new(),
    }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn total(series: &Series) -> f64 {
    series.points.iter().map(|p| p.y).sum()
}

fn count(value: f64) -> String {
    grouped(value.round().max(0.0) as u64)
}

/// One line for each series: name, a bar for each time, total. All on one scale, so that lines can be compared.
fn sparklines(chart: &Chart, layout: Layout) -> String {
    let names = chart.series.iter().map(|s| s.name.width()).max().unwrap_or(0);
    let totals = chart.series.iter().map(|s| count(total(s)).width()).max().unwrap_or(0);
    let highest = chart.series.iter().flat_map(|s| &s.points).map(|p| p.y).fold(0.0, f64::max);
    let bins = chart.series.iter().map(|s| s.points.len()).max().unwrap_or(0);
    if bins < 2 || highest <= 0.0 || names + totals + bins + 4 > layout.width {
        return String::new();
    }
    let mut out = String::new();
    for series in &chart.series {
        let bar = |y: f64| {
            let eighth = (y / highest * 8.0).ceil().clamp(1.0, 8.0) as usize;
            if y > 0.0 { EIGHTHS[eighth - 1] } else { ' ' }
        };
        let line: String = series.points.iter().map(|p| bar(p.y)).collect();
        let (name, total) = (pad(&series.name, names), count(total(series)));
        let line = paint(&line, Tone::Bad, layout.color);
        out.push_str(&format!("{name}  {line}  {total:>totals$}\n"));
    }
    out
}

/// One line for each category: name, the series one after another, their counts. Empty categories at both ends are
/// left out.
fn stacks(chart: &Chart, names: &[String], layout: Layout) -> String {
    let value = |series: &Series, at: usize| series.points.iter().find(|p| p.x == at as f64).map_or(0.0, |p| p.y);
    let sum = |at: usize| chart.series.iter().map(|s| value(s, at)).sum::<f64>();
    let used: Vec<usize> = (0..names.len()).filter(|at| sum(*at) > 0.0).collect();
    let (Some(first), Some(last)) = (used.first(), used.last()) else { return String::new() };
    let highest = used.iter().map(|at| sum(*at)).fold(0.0, f64::max);
    let name_width = names[*first..=*last].iter().map(|n| n.width()).max().unwrap_or(0);
    let says = |at: usize| {
        let parts: Vec<String> = chart.series.iter().map(|s| count(value(s, at))).collect();
        parts.join(" + ")
    };
    let counts = (*first..=*last).map(|at| says(at).width()).max().unwrap_or(0);
    let room = layout.width.saturating_sub(name_width + counts + 4).min(LONGEST);
    if room < 8 {
        return String::new();
    }
    let mut out = String::new();
    let legend: Vec<String> = (chart.series.iter().enumerate())
        .map(|(i, s)| format!("{} {}", paint(&SHADES[i % 3].to_string(), s.tone, layout.color), s.name))
        .collect();
    out.push_str(&format!("{}\n", legend.join("   ")));
    for (at, name) in names.iter().enumerate().take(*last + 1).skip(*first) {
        let mut line = String::new();
        let mut left = room;
        for (index, series) in chart.series.iter().enumerate() {
            let value = value(series, at);
            // One failure among thousands must still be seen.
            let length = ((value / highest * room as f64).round() as usize).max(usize::from(value > 0.0)).min(left);
            left -= length;
            let bar = SHADES[index % 3].to_string().repeat(length);
            if length > 0 {
                line.push_str(&paint(&bar, series.tone, layout.color));
            }
        }
        let name = format!("{}{}", " ".repeat(name_width - name.width()), name);
        let line = format!("{name}  {line} {}", says(at));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::report::document::{Axis, Chart, Mark, Point, Scale, Series, Tone};
    use crate::report::terminal::Layout;

    fn chart(scale: Scale, series: &[(&str, &[f64])]) -> Chart {
        let axis = |scale| Axis::new("", scale);
        let of = |(name, values): &(&str, &[f64])| Series {
            name: (*name).to_owned(),
            mark: Mark::Bar,
            tone: Tone::Bad,
            points: values.iter().enumerate().map(|(i, y)| Point { x: i as f64, y: *y, interval: None }).collect(),
            tag: None,
        };
        Chart {
            title: String::new(),
            alternative: String::new(),
            x: axis(scale),
            y: axis(Scale::Linear),
            series: series.iter().map(of).collect(),
            levels: Vec::new(),
        }
    }

    const LAYOUT: Layout = Layout { width: 40, color: false };

    #[test]
    fn times_become_one_line_for_each_series() {
        let time = chart(Scale::Time, &[("限流 A", &[1.0, 0.0, 8.0]), ("B", &[0.0, 4.0, 0.0])]);
        assert_eq!(draw(&time, LAYOUT), "限流 A  ▁ █  9\nB        ▄   4\n");
        assert_eq!(draw(&time, Layout { width: 8, color: false }), "", "no room, no drawing");
    }

    #[test]
    fn categories_become_stacked_bars_and_a_single_one_is_seen() {
        let names = ["0 %", "50 %", "100 %", "> 100 %"].map(str::to_owned).to_vec();
        let fill =
            chart(Scale::Categories(names), &[("failed", &[0.0, 1.0, 0.0, 0.0]), ("ok", &[0.0, 999.0, 500.0, 0.0])]);
        let drawn = draw(&fill, LAYOUT);
        assert_eq!(drawn.lines().count(), 3, "{drawn}");
        assert!(drawn.contains(" 50 %  █▒▒") && drawn.contains("1 + 999") && drawn.contains("100 %  ▒▒"), "{drawn}");
    }
}
