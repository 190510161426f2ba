//! One file, nothing outside it, no script, well-formed, and never too large.

use jiff::tz::TimeZone;

use super::axis::{nice_step, number, ticks};
use super::{Input, MOST_BYTES, Meta, render};
use crate::message;
use crate::report::definitions::Term;
use crate::report::document::{Axis, Block, Cell, Chart, Column, Mark, Page, Point, Scale, Series, Table, Tone};
use crate::report::lang::Language;

fn meta(inputs: usize) -> Meta {
    let input = |i: usize| Input { session: format!("s-{i}"), format: Some(0), events: 7, sha256: "ab".repeat(32) };
    Meta {
        zone: TimeZone::UTC,
        method: vec![message!("html.version", version = "1", command = "scan")],
        inputs: (0..inputs).map(input).collect(),
        digest: "cd".repeat(32),
        left_out: Vec::new(),
    }
}

fn series(name: &str, mark: Mark, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let points = points.map(|(x, y)| Point { x, y, interval: Some((y - 1.0, y + 1.0)) }).collect();
    Series { name: name.to_owned(), mark, tone: Tone::Plain, points, tag: None }
}

fn chart(scale: Scale, series: Vec<Series>) -> Chart {
    let axis = |label: &str, scale| Axis::new(label, scale);
    Chart {
        title: "A <chart>".to_owned(),
        alternative: "what it shows & why".to_owned(),
        x: axis("x", scale),
        y: axis("y", Scale::Linear),
        series,
        levels: vec![("overall".to_owned(), 0.5)],
    }
}

fn page(rows: usize, hostile: &str) -> Page {
    let mut page = Page::default();
    page.blocks.push(Block::Title(format!("Title {hostile}")));
    page.text(Cell::toned(hostile, Tone::Warn));
    let two = |i: usize| (i as f64, (i % 7) as f64 - 2.0);
    for (scale, mark) in [(Scale::Linear, Mark::Dot), (Scale::Time, Mark::Bar), (Scale::Linear, Mark::Line)] {
        page.blocks.push(Block::Chart(chart(
            scale,
            vec![series("a", mark, (0..rows).map(two)), series("b", mark, (0..3).map(two))],
        )));
    }
    page.blocks.push(Block::Table(Table {
        title: "Table".to_owned(),
        columns: vec![Column::text("name", 0), Column::number("steps", 0).means(Term::Step), Column::text("text", 0)],
        rows: (0..rows).map(|i| vec![format!("session {i}").into(), "12".into(), hostile.into()]).collect(),
        note: Some(hostile.to_owned()),
    }));
    page.blocks.push(Block::List(vec![hostile.into()]));
    page.blocks.push(Block::Verbatim(hostile.to_owned()));
    page
}

/// Names of the elements that are open at the end, or what is wrong. Attributes must be quoted.
fn open_elements(html: &str) -> Result<Vec<String>, String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = html.trim_start_matches("<!DOCTYPE html>");
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        if text.contains('>') && open.last().is_none_or(|name| name != "style") {
            return Err(format!("a bare > in {text:?}"));
        }
        let end = rest[start..].find('>').ok_or("a tag without an end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if !tag.matches('"').count().is_multiple_of(2) {
            return Err(format!("odd quotes in <{tag}>"));
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes something else"));
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap_or("").to_owned());
        }
    }
    Ok(open)
}

#[test]
fn nothing_leaves_the_file_and_nothing_runs_in_it() {
    let hostile = "</pre><script>alert(1)</script> \" onload='x' <img src=\"http://evil.example/x.png\"> `</code><b>` | \n \u{202e}gnp \u{1b}[31m & \u{0}";
    for language in [Language::English, Language::Chinese] {
        let html = render(&page(400, hostile), &meta(3), language);
        assert_eq!(open_elements(&html), Ok(Vec::new()));
        for outside in [
            "<script", "<img", "<link", "<iframe", "<object", "@import", "url(", "xlink", "\u{1b}", "\u{0}",
            "\u{202e}", "<b>",
        ] {
            assert!(!html.contains(outside), "{outside:?} in the page");
        }
        let markup: Vec<&str> = html.split('<').skip(1).filter_map(|tag| tag.split('>').next()).collect();
        assert!(
            markup.iter().all(|tag| !tag.contains("src=") && !tag.contains(" on")),
            "a tag loads or runs something"
        );
        assert!(
            markup.iter().filter(|tag| tag.contains("href=")).all(|tag| tag.contains("href=\"#")),
            "a link leads outside"
        );
    }
}

#[test]
fn every_link_has_its_place() {
    let html = render(&page(20, "x"), &meta(3), Language::Chinese);
    let links = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
    for anchor in links {
        assert!(html.contains(&format!("id=\"{anchor}\"")), "#{anchor} leads nowhere");
    }
    assert!(html.contains("#def-step"), "numbers lead to their definition");
}

#[test]
fn a_hundred_thousand_rows_stay_below_the_limit() {
    let long = "错误信息 & ".repeat(60);
    let mut page = page(100_000, &long);
    for _ in 0..20 {
        page.blocks.extend(self::page(2_000, &long).blocks.into_iter().skip(2));
    }
    let html = render(&page, &meta(100_000), Language::English);
    assert!(html.len() < MOST_BYTES, "{} bytes", html.len());
    assert_eq!(open_elements(&html), Ok(Vec::new()));
    assert!(html.contains("and 99,700 more"), "what is left out is said");
}

#[test]
fn axes_have_round_numbers() {
    assert_eq!([nice_step(100.0, 5.0), nice_step(7.0, 5.0), nice_step(0.3, 5.0)], [20.0, 2.0, 0.1]);
    assert_eq!(ticks(0.0, 10.0, 5.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!([number(1500.0), number(0.25), number(-0.5), number(0.0)], ["1,500", "0.25", "−0.5", "0"]);
}

#[test]
fn a_chart_without_numbers_is_drawn_all_the_same() {
    let mut empty = Page::default();
    empty.blocks.push(Block::Chart(chart(Scale::Linear, Vec::new())));
    let odd = series("a", Mark::Dot, [(f64::NAN, 1.0), (1.0, f64::INFINITY)].into_iter());
    empty.blocks.push(Block::Chart(chart(Scale::Categories(Vec::new()), vec![odd])));
    let html = render(&empty, &meta(0), Language::English);
    assert_eq!(open_elements(&html), Ok(Vec::new()));
    assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
}

/// Colours of one block of custom properties of the style sheet.
fn colours(block: &str) -> std::collections::BTreeMap<&str, [f64; 3]> {
    let declarations = block.split(['{', ';', '}']).filter_map(|one| one.trim().split_once(':'));
    let colours = declarations.filter_map(|(name, value)| {
        let hex = value.trim().strip_prefix('#')?;
        let wide: String = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
        let part = |at: usize| u8::from_str_radix(wide.get(at..at + 2)?, 16).ok().map(f64::from);
        Some((name.trim(), [part(0)?, part(2)?, part(4)?]))
    });
    colours.collect()
}

/// WCAG 2.2, relative luminance and contrast ratio.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let linear =
        |c: f64| if c <= 0.04045 * 255.0 { c / 255.0 / 12.92 } else { ((c / 255.0 + 0.055) / 1.055).powf(2.4) };
    let luminance = |c: [f64; 3]| 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_and_marks_stand_out_in_light_dark_and_print() {
    let style = super::STYLE;
    let roots: Vec<&str> = style.split(":root {").skip(1).map(|rest| rest.split('}').next().unwrap_or("")).collect();
    assert_eq!(roots.len(), 3, "light, dark, print");
    for (scheme, root) in ["light", "dark", "print"].into_iter().zip(roots) {
        let colours = colours(root);
        let of = |name: &str| colours.get(name).copied().unwrap_or_else(|| panic!("{scheme} has no {name}"));
        let texts = [
            ("--ink", "--paper"),
            ("--ink", "--card"),
            ("--soft", "--paper"),
            ("--soft", "--card"),
            ("--accent", "--paper"),
            ("--accent", "--card"),
            ("--bad", "--card"),
            ("--good", "--card"),
            ("--warn", "--card"),
            ("--bad", "--bad-bg"),
            ("--good", "--good-bg"),
            ("--warn", "--warn-bg"),
            ("--soft", "--faint-bg"),
            ("--ink", "--bad-bg"),
            ("--ink", "--good-bg"),
            ("--ink", "--warn-bg"),
        ];
        for (text, ground) in texts {
            let ratio = contrast(of(text), of(ground));
            assert!(ratio >= 4.5, "{scheme}: {text} on {ground} is {ratio:.2}");
        }
        for mark in ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--bad", "--good"] {
            let ratio = contrast(of(mark), of("--card"));
            assert!(ratio >= 3.0, "{scheme}: {mark} on a card is {ratio:.2}");
        }
    }
}

#[test]
fn words_that_are_defined_lead_to_their_definitions_and_typed_names_are_code() {
    let mut page = Page::default();
    page.text("2 attempts of 1 step; 3 attempts, use `scan --format json` in a stepladder at 5 % after 10 s");
    let html = render(&page, &meta(0), Language::English);
    assert!(html.contains("2 <a class=\"term\" href=\"#def-attempt\">attempts</a> of 1 <a class=\"term\" href=\"#def-step\">step</a>; 3 attempts"), "{html}");
    assert!(html.contains("<code>scan --format json</code> in a stepladder at 5\u{a0}% after 10\u{a0}s"));
    assert!(html.contains("id=\"def-attempt\"") && html.contains("id=\"def-step\""));
    let mut page = Page::default();
    page.text("共 13 次压缩");
    let html = render(&page, &meta(0), Language::Chinese);
    assert!(html.contains("共 13\u{a0}次<a class=\"term\" href=\"#def-compaction\">压缩</a>"), "{html}");
}

#[test]
fn many_dots_at_one_place_have_names_apart() {
    let dots =
        (0..8).map(|i| Series { tag: Some(i.to_string()), ..series("policy", Mark::Dot, [(1.0, 5.0)].into_iter()) });
    let mut page = Page::default();
    page.blocks.push(Block::Chart(chart(Scale::Linear, dots.collect())));
    let html = render(&page, &meta(0), Language::English);
    let places: Vec<&str> =
        html.split("<text class=\"tag\" ").skip(1).filter_map(|rest| rest.split('>').next()).collect();
    let unique: std::collections::BTreeSet<&&str> = places.iter().collect();
    assert_eq!((places.len(), unique.len()), (16, 16), "eight in each drawing: {places:?}");
}
