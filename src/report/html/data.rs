//! The numbers of a chart as a table.

use std::collections::{BTreeMap, BTreeSet};

use super::Writer;
use super::axis::{name, number};
use crate::message;
use crate::report::document::{Axis, Chart, Column, Mark, Point, Series, Table};

/// Every series is one dot: its name, or its tag, stands beside it.
pub(super) fn single_points(chart: &Chart) -> bool {
    !chart.series.is_empty() && chart.series.iter().all(|s| s.mark == Mark::Dot && s.points.len() == 1)
}

/// The points that can be drawn.
pub(super) fn points(chart: &Chart) -> impl Iterator<Item = &Point> {
    chart.series.iter().flat_map(|s| &s.points).filter(|p| p.x.is_finite() && p.y.is_finite())
}

fn column(axis: &Axis) -> Column {
    Column { term: axis.term, ..Column::number(axis.label.clone(), 0) }
}

/// The numbers of a chart: one row for each x, or for each point where several share an x.
pub(super) fn data(writer: &Writer<'_>, chart: &Chart) -> Table {
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
        let columns = vec![Column::text(writer.language.say("html.series"), 0), column(&chart.x), column(&chart.y)];
        return Table { columns, rows: rows.collect(), ..Table::default() };
    }
    let mut places: Vec<f64> = points(chart).map(|p| p.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut columns = vec![Column { right: false, ..column(&chart.x) }];
    let values = |s: &Series| Column { term: chart.y.term, ..Column::number(s.name.clone(), 0) };
    columns.extend(chart.series.iter().map(values));
    let by_place =
        |s: &'_ Series| s.points.iter().map(|p| (p.x.to_bits(), value(p))).collect::<BTreeMap<u64, String>>();
    let series: Vec<BTreeMap<u64, String>> = chart.series.iter().map(by_place).collect();
    let rows = places.into_iter().map(|x| {
        let mut row = vec![name(&chart.x, x, zone).into()];
        let at = |points: &BTreeMap<u64, String>| points.get(&x.to_bits()).cloned().unwrap_or_else(|| "–".to_owned());
        row.extend(series.iter().map(|points| at(points).into()));
        row
    });
    let levels: Vec<String> = chart.levels.iter().map(|(name, y)| format!("{name}: {}", number(*y))).collect();
    let note = (!levels.is_empty()).then(|| levels.join("; "));
    Table { columns, rows: rows.collect(), note, ..Table::default() }
}
