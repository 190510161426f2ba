//! Charts as SVG, drawn by hand: a legend, the drawing with its text alternative, and the numbers as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::axis::{Span, name, nice_step, number, ticks, time, time_format};
use super::tables::{TABLE_BYTES, push_table};
use super::{Writer, escape};
use crate::message;
use crate::message::Message;
use crate::report::document::{Chart, Column, Mark, Point, Scale, Series, Table, Tone};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 744.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 250.0;
/// More dots than this of one series are thinned to one per place.
const PLACES: f64 = 60.0;
/// More bars, or joined dots, than this are not drawn: nobody could tell them apart. The table has their numbers.
const MOST_MARKS: usize = 1_000;

/// The chart's data laid out.
struct Plot<'a> {
    chart: &'a Chart,
    x: Span,
    y: Span,
    /// Width of a bar on the x axis.
    slot: f64,
    /// Where a bar or dot of a value lies in its slot: 0 begins there, 0.5 is centred on it.
    centre: f64,
}

pub(super) fn push_chart(writer: &mut Writer<'_>, chart: &Chart) {
    writer.charts += 1;
    let id = writer.charts;
    writer.out.push_str("<figure>\n");
    legend(writer, chart);
    let (title, text) = (escape(&chart.title), escape(&chart.alternative));
    let _ = write!(
        writer.out,
        "<div class=\"plot\" tabindex=\"0\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"c{id}t c{id}d\">\n<title id=\"c{id}t\">{title}</title>\n<desc id=\"c{id}d\">{text}</desc>\n"
    );
    let plot = Plot::of(chart);
    plot.axes(writer);
    let joined = chart.series.iter().filter(|s| s.mark != Mark::Dot).map(|s| s.points.len()).sum::<usize>();
    if joined <= MOST_MARKS && writer.out.len() < TABLE_BYTES {
        plot.bars(writer);
        for (index, series) in chart.series.iter().enumerate() {
            plot.marks(writer, series, colour(series, index));
        }
    }
    plot.levels(writer);
    writer.out.push_str("</svg>\n</div>\n");
    let _ = writeln!(writer.out, "<figcaption>{text}</figcaption>");
    writer.say("<details>\n<summary>", &Message::new("html.data"), "</summary>\n");
    let table = data(writer, chart);
    push_table(writer, &table);
    writer.out.push_str("</details>\n</figure>\n");
}

fn colour(series: &Series, index: usize) -> &'static str {
    match series.tone {
        Tone::Bad => "fb",
        Tone::Good => "fg",
        Tone::Warn => "fw",
        Tone::Faint => "f5",
        Tone::Plain | Tone::Strong => ["f0", "f1", "f2", "f3", "f4", "f5"][index % 6],
    }
}

fn legend(writer: &mut Writer<'_>, chart: &Chart) {
    if chart.series.len() < 2 || single_points(chart) {
        return;
    }
    writer.out.push_str("<ul class=\"legend\">\n");
    for (index, series) in chart.series.iter().enumerate() {
        let colour = colour(series, index);
        let _ = writeln!(writer.out, "<li><i class=\"{colour}\"></i>{}</li>", escape(&series.name));
    }
    writer.out.push_str("</ul>\n");
}

/// Every series is one dot: its name stands beside it and no legend is needed.
fn single_points(chart: &Chart) -> bool {
    chart.series.iter().all(|s| s.mark == Mark::Dot && s.points.len() == 1)
}

fn points(chart: &Chart) -> impl Iterator<Item = &Point> {
    chart.series.iter().flat_map(|s| &s.points).filter(|p| p.x.is_finite() && p.y.is_finite())
}

impl<'a> Plot<'a> {
    fn of(chart: &'a Chart) -> Self {
        let mut places: Vec<f64> = points(chart).map(|p| p.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let gap = places.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
        let slot = if gap.is_finite() { gap } else { 1.0 };
        let bars = chart.series.iter().any(|s| s.mark == Mark::Bar);
        let (low, high) = (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0));
        let (centre, low, high) = match &chart.x.scale {
            Scale::Categories(names) => (0.0, 0.0, names.len().max(1) as f64),
            Scale::Time if bars => (0.0, low, high + slot),
            _ if bars => (-0.5, low - slot / 2.0, high + slot / 2.0),
            _ => {
                let margin = (high - low).max(1e-9) * 0.06;
                (0.0, low - margin, high + margin)
            }
        };
        let slot = if matches!(chart.x.scale, Scale::Categories(_)) { 1.0 } else { slot };
        let (bottom, top) = heights(chart);
        Self {
            chart,
            x: Span { low, high, from: LEFT, to: RIGHT },
            y: Span { low: bottom, high: top, from: BOTTOM, to: TOP },
            slot,
            centre,
        }
    }

    fn middle(&self, x: f64) -> f64 {
        let categories = matches!(self.chart.x.scale, Scale::Categories(_));
        self.x.place(if categories { x + 0.5 } else { x })
    }

    fn axes(&self, writer: &mut Writer<'_>) {
        let out = &mut writer.out;
        for tick in ticks(self.y.low, self.y.high, 5.0) {
            let y = self.y.place(tick);
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y}\" y2=\"{y}\" />");
            let (text, at) = (number(tick), y + 4.0);
            let _ = writeln!(out, "<text x=\"{}\" y=\"{at}\" text-anchor=\"end\">{text}</text>", LEFT - 8.0);
        }
        let zero = self.y.place(0.0_f64.max(self.y.low));
        let _ = writeln!(out, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{zero}\" y2=\"{zero}\" />");
        for (at, text) in self.x_labels(writer.meta) {
            let _ = writeln!(
                out,
                "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 18.0,
                escape(&text)
            );
        }
        let (x, y) = (escape(&self.chart.x.label), escape(&self.chart.y.label));
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{x}</text>", BOTTOM + 40.0);
        let _ = writeln!(out, "<text x=\"4\" y=\"14\">{y}</text>");
    }

    fn x_labels(&self, meta: &super::Meta) -> Vec<(f64, String)> {
        match &self.chart.x.scale {
            Scale::Categories(names) => {
                let every = names.len().div_ceil(12).max(1);
                let named = names.iter().enumerate().step_by(every);
                named.map(|(i, name)| (self.middle(i as f64), name.clone())).collect()
            }
            Scale::Linear => {
                ticks(self.x.low, self.x.high, 8.0).into_iter().map(|t| (self.x.place(t), number(t))).collect()
            }
            Scale::Time => {
                let range = self.x.high - self.x.low;
                let format = time_format(range);
                let bins = (range / self.slot).round().max(1.0);
                // Labels stand at starts of bins, so that they are round times.
                let every = nice_step(bins, 6.0).max(1.0);
                let count = (bins / every).floor() as usize;
                (0..=count)
                    .map(|i| self.x.low + i as f64 * every * self.slot)
                    .filter(|at| *at < self.x.high)
                    .map(|at| (self.x.place(at).max(LEFT + 24.0), time(at, &meta.zone, format)))
                    .collect()
            }
        }
    }

    /// Bars of several series at one x stand upon each other.
    fn bars(&self, writer: &mut Writer<'_>) {
        let mut heights: BTreeMap<u64, f64> = BTreeMap::new();
        for (index, series) in self.chart.series.iter().enumerate().filter(|(_, s)| s.mark == Mark::Bar) {
            let colour = colour(series, index);
            for point in series.points.iter().filter(|p| p.y != 0.0 && p.y.is_finite()) {
                let base = heights.entry(point.x.to_bits()).or_default();
                let (from, to) = (self.y.place(*base), self.y.place(*base + point.y));
                *base += point.y;
                let left = point.x + self.centre * self.slot;
                let (mut left, mut right) = (self.x.place(left), self.x.place(left + self.slot));
                let gap = ((right - left) * 0.12).clamp(0.2, 8.0);
                (left, right) = (left + gap / 2.0, right - gap / 2.0);
                // One failure among thousands must still be seen.
                let height = (from - to).abs().max(1.5);
                let hint = format!(
                    "{}: {}, {}",
                    series.name,
                    name(&self.chart.x, point.x, &writer.meta.zone),
                    number(point.y)
                );
                let _ = writeln!(
                    writer.out,
                    "<rect class=\"bar {colour}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"1.5\"><title>{}</title></rect>",
                    from.min(to).min(from.max(to) - 1.5),
                    right - left,
                    escape(&hint)
                );
                self.whisker(writer, point, colour);
            }
        }
    }

    fn marks(&self, writer: &mut Writer<'_>, series: &Series, colour: &str) {
        if series.mark == Mark::Bar {
            return;
        }
        if series.mark == Mark::Line {
            let known = series.points.iter().filter(|p| p.x.is_finite() && p.y.is_finite());
            let path: Vec<String> = known.map(|p| format!("{},{}", self.middle(p.x), self.y.place(p.y))).collect();
            let _ = writeln!(writer.out, "<polyline class=\"line {colour}\" points=\"{}\" />", path.join(" "));
        }
        let alone = single_points(self.chart);
        let mut seen = BTreeSet::new();
        for point in series.points.iter().filter(|p| p.x.is_finite() && p.y.is_finite()) {
            let (x, y) = (self.middle(point.x), self.y.place(point.y));
            let place = |value: f64, span: &Span| ((value - span.from) / (span.to - span.from) * PLACES).round() as i64;
            if series.points.len() > MOST_MARKS && !seen.insert((place(x, &self.x), place(y, &self.y))) {
                continue;
            }
            self.whisker(writer, point, colour);
            let at = name(&self.chart.x, point.x, &writer.meta.zone);
            let hint = escape(&format!("{}: {at}, {}", series.name, number(point.y)));
            let _ = writeln!(
                writer.out,
                "<circle class=\"dot {colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\"><title>{hint}</title></circle>"
            );
            if alone {
                let end = x > (LEFT + RIGHT) / 2.0;
                let (at, anchor) = if end { (x - 8.0, "end") } else { (x + 8.0, "start") };
                let label = escape(&series.name);
                let _ =
                    writeln!(writer.out, "<text x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">{label}</text>", y - 5.0);
            }
        }
    }

    fn whisker(&self, writer: &mut Writer<'_>, point: &Point, colour: &str) {
        let Some((low, high)) = point.interval.filter(|(low, high)| low.is_finite() && high.is_finite()) else {
            return;
        };
        let (x, low, high) = (self.middle(point.x), self.y.place(low), self.y.place(high));
        let (left, right) = (x - 4.0, x + 4.0);
        let _ = writeln!(
            writer.out,
            "<path class=\"whisker {colour}\" d=\"M{x} {low}V{high}M{left} {low}H{right}M{left} {high}H{right}\" />"
        );
    }

    fn levels(&self, writer: &mut Writer<'_>) {
        for (name, value) in self.chart.levels.iter().filter(|(_, value)| value.is_finite()) {
            let y = self.y.place(*value);
            let _ = writeln!(writer.out, "<line class=\"level\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y}\" y2=\"{y}\" />");
            let text = escape(name);
            let _ = writeln!(writer.out, "<text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"end\">{text}</text>", y - 5.0);
        }
    }
}

/// Lowest and highest value of the y axis, widened to round numbers; zero is always on it.
fn heights(chart: &Chart) -> (f64, f64) {
    let mut stacks: BTreeMap<u64, f64> = BTreeMap::new();
    for series in chart.series.iter().filter(|s| s.mark == Mark::Bar) {
        series.points.iter().for_each(|p| *stacks.entry(p.x.to_bits()).or_default() += p.y);
    }
    let ends = points(chart).flat_map(|p| [p.y, p.interval.map_or(p.y, |i| i.0), p.interval.map_or(p.y, |i| i.1)]);
    let all = ends.chain(stacks.into_values()).chain(chart.levels.iter().map(|l| l.1)).filter(|v| v.is_finite());
    let (low, high) = all.fold((0.0_f64, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    let high = if high > low { high } else { low + 1.0 };
    let step = nice_step(high - low, 5.0);
    ((low / step).floor() * step, (high / step).ceil() * step)
}

/// The numbers of a chart: one row for each x, or for each point where several share an x.
fn data(writer: &Writer<'_>, chart: &Chart) -> Table {
    let zone = &writer.meta.zone;
    let value = |point: &Point| match point.interval {
        Some((low, high)) => writer.language.render(&message!(
            "html.interval",
            y = number(point.y),
            low = number(low),
            high = number(high)
        )),
        None => number(point.y),
    };
    let doubled = chart.series.iter().any(|s| {
        let mut seen = BTreeSet::new();
        !s.points.iter().all(|p| seen.insert(p.x.to_bits()))
    });
    if doubled || single_points(chart) {
        let rows = chart.series.iter().flat_map(|s| {
            s.points.iter().map(|p| vec![s.name.clone().into(), name(&chart.x, p.x, zone).into(), value(p).into()])
        });
        let columns = vec![
            Column::text("", 0),
            Column::number(chart.x.label.clone(), 0),
            Column::number(chart.y.label.clone(), 0),
        ];
        return Table { columns, rows: rows.collect(), ..Table::default() };
    }
    let mut places: Vec<f64> = points(chart).map(|p| p.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut columns = vec![Column::text(chart.x.label.clone(), 0)];
    columns.extend(chart.series.iter().map(|s| Column::number(s.name.clone(), 0)));
    let by_place =
        |s: &'_ Series| s.points.iter().map(|p| (p.x.to_bits(), value(p))).collect::<BTreeMap<u64, String>>();
    let series: Vec<BTreeMap<u64, String>> = chart.series.iter().map(by_place).collect();
    let rows = places.into_iter().map(|x| {
        let mut row = vec![name(&chart.x, x, zone).into()];
        let at = |points: &BTreeMap<u64, String>| points.get(&x.to_bits()).cloned().unwrap_or_else(|| "–".to_owned());
        row.extend(series.iter().map(|points| at(points).into()));
        row
    });
    Table { columns, rows: rows.collect(), ..Table::default() }
}
