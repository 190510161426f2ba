//! Where the values of a chart lie in a drawing: the wide one, or the narrow one for telephones.

use std::collections::BTreeMap;

use super::Meta;
use super::axis::{Span, nice_step, number, ticks, time, time_format};
use super::data::points;
use crate::report::document::{Chart, Mark, Scale};

/// A drawing's size in pixels, and how many labels it has room for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) class: &'static str,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Most names of categories along the x axis.
    names: usize,
    /// Most numbers along the x axis.
    numbers: f64,
    /// Most times along the x axis.
    times: f64,
}

impl Frame {
    /// For screens and paper.
    pub(super) const WIDE: Self = Self {
        class: "wide",
        width: 760.0,
        height: 300.0,
        left: 58.0,
        right: 744.0,
        top: 28.0,
        bottom: 250.0,
        names: 12,
        numbers: 8.0,
        times: 6.0,
    };
    /// For telephones: the letters stay as large as on the page.
    pub(super) const NARROW: Self = Self {
        class: "narrow",
        width: 344.0,
        height: 270.0,
        left: 46.0,
        right: 338.0,
        top: 28.0,
        bottom: 220.0,
        names: 4,
        numbers: 5.0,
        times: 3.0,
    };
}

/// The chart's data laid out.
pub(super) struct Plot<'a> {
    pub(super) chart: &'a Chart,
    pub(super) frame: Frame,
    pub(super) x: Span,
    pub(super) y: Span,
    /// Width of a bar on the x axis.
    pub(super) slot: f64,
    /// Where a bar or dot of a value lies in its slot: 0 begins there, 0.5 is centred on it.
    pub(super) centre: f64,
}

impl<'a> Plot<'a> {
    pub(super) fn of(chart: &'a Chart, frame: Frame) -> Self {
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
            frame,
            x: Span { low, high, from: frame.left, to: frame.right },
            y: Span { low: bottom, high: top, from: frame.bottom, to: frame.top },
            slot,
            centre,
        }
    }

    /// The middle of a value's place along the x axis.
    pub(super) fn middle(&self, x: f64) -> f64 {
        let categories = matches!(self.chart.x.scale, Scale::Categories(_));
        self.x.place(if categories { x + 0.5 } else { x })
    }

    /// Places and texts along the x axis.
    pub(super) fn x_labels(&self, meta: &Meta) -> Vec<(f64, String)> {
        match &self.chart.x.scale {
            Scale::Categories(names) => {
                let every = names.len().div_ceil(self.frame.names).max(1);
                let named = names.iter().enumerate().step_by(every);
                named.map(|(i, name)| (self.middle(i as f64), name.clone())).collect()
            }
            Scale::Linear => {
                let ticks = ticks(self.x.low, self.x.high, self.frame.numbers);
                ticks.into_iter().map(|t| (self.x.place(t), number(t))).collect()
            }
            Scale::Time => {
                let range = self.x.high - self.x.low;
                let format = time_format(range);
                let bins = (range / self.slot).round().max(1.0);
                // Labels stand at starts of bins, so that they are round times.
                let every = nice_step(bins, self.frame.times).max(1.0);
                let count = (bins / every).floor() as usize;
                let half = format.len() as f64 * 4.5;
                (0..=count)
                    .map(|i| self.x.low + i as f64 * every * self.slot)
                    .filter(|at| *at < self.x.high)
                    .map(|at| {
                        let place = self.x.place(at).clamp(self.frame.left + half, self.frame.right - half);
                        (place, time(at, &meta.zone, format))
                    })
                    .collect()
            }
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
