//! Charts as SVG, drawn by hand: a legend, the drawing with its text alternative, and the numbers as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Writer;
use super::axis::{Span, name, number, ticks};
use super::data::{data, single_points};
use super::plot::{Frame, Plot};
use super::tables::{TABLE_BYTES, push_table};
use super::text::escape;
use crate::message::Message;
use crate::report::document::{Chart, Mark, Point, Series, Tone};

/// More dots than this of one series are thinned to one per place.
const PLACES: f64 = 60.0;
/// More bars, or joined dots, than this are not drawn: nobody could tell them apart. The table has their numbers.
const MOST_MARKS: usize = 1_000;
/// Height of a line of letters in a drawing, pixels.
const LINE: f64 = 14.0;

pub(super) fn push_chart(writer: &mut Writer<'_>, chart: &Chart) {
    writer.charts += 1;
    writer.out.push_str("<figure>\n");
    legend(writer, chart);
    for frame in [Frame::WIDE, Frame::NARROW] {
        draw(writer, &Plot::of(chart, frame));
    }
    let text = writer.sentence(&chart.alternative);
    let _ = writeln!(writer.out, "<figcaption>\n<p>{text}</p>");
    writer.say("<details>\n<summary>", &Message::new("html.data"), "</summary>\n");
    let table = data(writer, chart);
    push_table(writer, &table);
    writer.out.push_str("</details>\n</figcaption>\n</figure>\n");
}

fn draw(writer: &mut Writer<'_>, plot: &Plot<'_>) {
    let (chart, Frame { class, width, height, .. }) = (plot.chart, plot.frame);
    let id = format!("c{}{}", writer.charts, &class[..1]);
    let (title, text) = (escape(&chart.title), escape(&chart.alternative));
    let _ = write!(
        writer.out,
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}t {id}d\">\n<title id=\"{id}t\">{title}</title>\n<desc id=\"{id}d\">{text}</desc>\n"
    );
    plot.axes(writer);
    let joined = chart.series.iter().filter(|s| s.mark != Mark::Dot).map(|s| s.points.len()).sum::<usize>();
    if joined <= MOST_MARKS && writer.out.len() < TABLE_BYTES {
        plot.bars(writer);
        for (index, series) in chart.series.iter().enumerate() {
            plot.marks(writer, series, colour(series, index));
        }
        plot.tags(writer);
    }
    plot.levels(writer);
    writer.out.push_str("</svg>\n");
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
    let named_beside = single_points(chart) && chart.series.iter().all(|s| s.tag.is_none());
    if chart.series.len() < 2 || named_beside {
        return;
    }
    writer.out.push_str("<ul class=\"legend\">\n");
    for (index, series) in chart.series.iter().enumerate() {
        let colour = colour(series, index);
        let _ = writeln!(writer.out, "<li><i class=\"{colour}\"></i>{}</li>", escape(&series.name));
    }
    writer.out.push_str("</ul>\n");
}

impl Plot<'_> {
    fn axes(&self, writer: &mut Writer<'_>) {
        let out = &mut writer.out;
        let Frame { left, right, bottom, .. } = self.frame;
        for tick in ticks(self.y.low, self.y.high, 5.0) {
            let y = self.y.place(tick);
            let _ = writeln!(out, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\" />");
            let (text, at) = (number(tick), y + 4.0);
            let _ = writeln!(out, "<text x=\"{}\" y=\"{at}\" text-anchor=\"end\">{text}</text>", left - 8.0);
        }
        let zero = self.y.place(0.0_f64.max(self.y.low));
        let _ = writeln!(out, "<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{zero}\" y2=\"{zero}\" />");
        for (at, text) in self.x_labels(writer.meta) {
            let text = escape(&text);
            let _ = writeln!(out, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{text}</text>", bottom + 18.0);
        }
        let (x, y) = (escape(&self.chart.x.label), escape(&self.chart.y.label));
        let _ =
            writeln!(out, "<text class=\"name\" x=\"{right}\" y=\"{}\" text-anchor=\"end\">{x}</text>", bottom + 40.0);
        let _ = writeln!(out, "<text class=\"name\" x=\"2\" y=\"14\">{y}</text>");
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
                let top = from.min(to).min(from.max(to) - 1.5);
                let hint = self.hint(writer, series, point);
                let _ = writeln!(
                    writer.out,
                    "<rect class=\"bar {colour}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"1.5\">{hint}</rect>",
                    right - left,
                );
                self.whisker(writer, point, colour);
            }
        }
    }

    /// What a mouse that rests on a mark shows.
    fn hint(&self, writer: &Writer<'_>, series: &Series, point: &Point) -> String {
        let at = name(&self.chart.x, point.x, &writer.meta.zone);
        format!("<title>{}</title>", escape(&format!("{}: {at}, {}", series.name, number(point.y))))
    }

    fn marks(&self, writer: &mut Writer<'_>, series: &Series, colour: &str) {
        if series.mark == Mark::Bar {
            return;
        }
        let known = || series.points.iter().filter(|p| p.x.is_finite() && p.y.is_finite());
        if series.mark == Mark::Line {
            let path: Vec<String> = known().map(|p| format!("{},{}", self.middle(p.x), self.y.place(p.y))).collect();
            let _ = writeln!(writer.out, "<polyline class=\"line {colour}\" points=\"{}\" />", path.join(" "));
        }
        let mut seen = BTreeSet::new();
        for point in known() {
            let (x, y) = (self.middle(point.x), self.y.place(point.y));
            let place = |value: f64, span: &Span| ((value - span.from) / (span.to - span.from) * PLACES).round() as i64;
            if series.points.len() > MOST_MARKS && !seen.insert((place(x, &self.x), place(y, &self.y))) {
                continue;
            }
            self.whisker(writer, point, colour);
            let hint = self.hint(writer, series, point);
            let _ =
                writeln!(writer.out, "<circle class=\"dot {colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\">{hint}</circle>");
        }
    }

    /// Names beside dots that stand alone, each moved up or down until it lies upon nothing.
    fn tags(&self, writer: &mut Writer<'_>) {
        if !single_points(self.chart) {
            return;
        }
        let dots = self.chart.series.iter().flat_map(|s| s.points.iter().map(move |p| (s, p)));
        let dots: Vec<(&str, f64, f64)> = dots
            .filter(|(_, p)| p.x.is_finite() && p.y.is_finite())
            .map(|(s, p)| (s.tag.as_deref().unwrap_or(&s.name), self.middle(p.x), self.y.place(p.y)))
            .collect();
        let mut taken: Vec<[f64; 4]> = dots.iter().map(|(_, x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
        for (tag, x, y) in dots {
            let width = 8.0 * tag.chars().count() as f64;
            let boxes = (0..12).flat_map(|row| [row, -row]).flat_map(|row| {
                let top = y - LINE / 2.0 + f64::from(row) * LINE;
                [x + 8.0, x - 8.0 - width].map(|left| [left, top, left + width, top + LINE])
            });
            let fits = |place: &[f64; 4]| {
                let inside = place[0] > self.frame.left
                    && place[2] < self.frame.right
                    && place[1] > self.frame.top - LINE
                    && place[3] < self.frame.bottom + LINE;
                let apart = |t: &[f64; 4]| t[2] <= place[0] || t[0] >= place[2] || t[3] <= place[1] || t[1] >= place[3];
                inside && taken.iter().all(apart)
            };
            let Some(place) = { boxes }.find(fits) else { continue };
            let (at, base) = (place[0], place[3] - 3.0);
            let _ = writeln!(writer.out, "<text class=\"tag\" x=\"{at:.1}\" y=\"{base:.1}\">{}</text>", escape(tag));
            taken.push(place);
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
        let Frame { left, right, .. } = self.frame;
        for (name, value) in self.chart.levels.iter().filter(|(_, value)| value.is_finite()) {
            let y = self.y.place(*value);
            let _ = writeln!(writer.out, "<line class=\"level\" x1=\"{left}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\" />");
            let text = escape(name);
            let _ = writeln!(writer.out, "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{text}</text>", y - 5.0);
        }
    }
}
