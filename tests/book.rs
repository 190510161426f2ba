//! The pages of `docs/` are true: links lead somewhere, outputs shown are those of the commands, and every query of
//! `docs/recipes.md` is run over an export of the demo, by DuckDB and polars where they are installed
//! (`pip install duckdb polars`; `DSH_FORENSICS_PYTHON` names the interpreter if it is not `python3`).
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::builder::Log;
use support::{run, scan_json};

/// Runs the blocks in order and prints `{name: rows}`; a query that fails ends it with the name.
const RUNNER: &str = r#"
import json, sys
import duckdb
import polars
answers = {}
connection = duckdb.connect()
for block in json.load(open("blocks.json")):
    try:
        if block["language"] == "sql":
            result = connection.execute(block["text"])
            if block["name"] != "views":
                names = [column[0] for column in result.description]
                answers[block["name"]] = [dict(zip(names, row)) for row in result.fetchall()]
        else:
            scope = {}
            exec(block["text"].replace("print(answer)", ""), scope)
            answers[block["name"]] = scope["answer"].to_dicts()
    except Exception as error:
        sys.exit(f"{block['name']}: {error}")
print(json.dumps(answers, default=str))
"#;

struct Block {
    language: String,
    name: String,
    text: String,
}

/// Blocks that have a name: "```sql name".
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    for (index, part) in page.split("```").enumerate() {
        let Some((head, text)) = part.split_once('\n').filter(|_| index % 2 == 1) else { continue };
        if let Some((language, name)) = head.split_once(' ') {
            found.push(Block { language: language.to_owned(), name: name.to_owned(), text: text.to_owned() });
        }
    }
    found
}

fn python() -> Option<String> {
    let python = std::env::var("DSH_FORENSICS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let installed = Command::new(&python).args(["-c", "import duckdb, polars"]).output();
    if installed.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: {python} has no duckdb and polars (pip install duckdb polars)");
    None
}

fn answers(python: &str, folder: &Path, blocks: &[Block]) -> Value {
    let list: Vec<Value> =
        blocks.iter().map(|b| json!({"language": b.language, "name": b.name, "text": b.text})).collect();
    fs::write(folder.join("blocks.json"), Value::from(list).to_string()).unwrap();
    let output = Command::new(python).args(["-c", RUNNER]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn sum(answer: &Value, column: &str) -> u64 {
    answer.as_array().unwrap().iter().map(|row| row[column].as_u64().expect(column)).sum()
}

#[test]
fn every_recipe_runs_and_agrees_with_scan() {
    let page = include_str!("../docs/recipes.md");
    let blocks = blocks(page);
    assert!(blocks.len() >= 10, "the page still names its queries");
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("tables", "parquet"), ("tables-csv", "csv")] {
        let run = run(&["export", "--demo", "--format", format, "-o", folder.path().join(name).to_str().unwrap()]);
        assert_eq!(run.status, 0, "{}", run.err);
    }
    let answers = answers(&python, folder.path(), &blocks);
    for block in blocks.iter().filter(|block| block.name != "views") {
        assert!(!answers[&block.name].as_array().unwrap().is_empty(), "{} finds nothing in the demo", block.name);
    }
    let scan = scan_json(&["--demo"]);
    let counts = &scan["counts"];
    let same = |name: &str, column: &str, expected: &Value| {
        assert_eq!(Some(sum(&answers[name], column)), expected.as_u64(), "{name}: {column}");
    };
    same("failures-by-day", "failed_attempts", &counts["failed_attempts"]);
    same("failures-by-day", "contradicted", &scan["verdicts"]["contradicted"]);
    same("projects", "steps", &counts["steps"]);
    same("projects", "failed_steps", &counts["failed_steps"]);
    same("retries-by-delay", "retries", &counts["retries_started"]);
    same("retries-by-delay", "succeeded", &scan["retries"]["succeeded"]);
    same("bytes-by-type", "events", &counts["events"]);
    same("contradicted-sessions", "contradicted", &scan["verdicts"]["contradicted"]);
    same("csv", "failed", &counts["failed_attempts"]);
}

#[test]
fn names_in_partitions_are_read_back_as_they_were() {
    let Some(python) = python() else { return };
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let names = ["--港口账本--", "2026", "a=b %41+c", "__HIVE_DEFAULT_PARTITION__"];
    for name in names {
        let mut log = Log::new(&format!("session of {name}"));
        log.project = name.to_owned();
        log.turn().step().ok(1_200);
        log.write_zstd(root.path());
    }
    let tables = folder.path().join("tables");
    let run = run(&["export", root.path().to_str().unwrap(), "-o", tables.to_str().unwrap()]);
    assert_eq!(run.status, 0, "{}", run.err);
    let page = include_str!("../docs/recipes.md");
    let mut queries = blocks(page);
    queries.retain(|block| block.name == "views");
    for (language, name, text) in [
        ("sql", "duckdb", "SELECT DISTINCT project FROM turns"),
        (
            "python",
            "polars",
            "import polars\nanswer = polars.scan_parquet('tables/turns/**/*.parquet', hive_partitioning=True, \
             hive_schema={'project': polars.String, 'day': polars.Date}).select('project').unique().collect()",
        ),
    ] {
        queries.push(Block { language: language.to_owned(), name: name.to_owned(), text: text.to_owned() });
    }
    let answers = answers(&python, folder.path(), &queries);
    for reader in ["duckdb", "polars"] {
        let rows = answers[reader].as_array().unwrap();
        let mut found: Vec<&str> = rows.iter().map(|row| row["project"].as_str().unwrap_or("unknown")).collect();
        // polars decodes a name before it looks for "unknown", so it cannot tell the two apart.
        let mut expected =
            names.map(|name| if reader == "polars" && name.starts_with("__") { "unknown" } else { name });
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{reader}");
    }
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for entry in fs::read_dir(docs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for link in fs::read_to_string(&path).unwrap().split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            let found = target.is_empty() || target.starts_with("http") || docs().join(target).exists();
            assert!(found, "{} links to {target}", path.display());
        }
    }
}

/// The paragraph of an output that begins with a line that begins with `title`; `1` is the first one.
fn part<'o>(output: &'o str, title: &str) -> &'o str {
    let mut paragraphs = output.trim_matches('\n').split("\n\n");
    let found = if title == "1" { paragraphs.next() } else { paragraphs.find(|p| p.trim_start().starts_with(title)) };
    found.unwrap_or_else(|| panic!("no part {title:?} in:\n{output}")).trim_matches('\n')
}

/// Arguments of a command line; single quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let line = line.split("  #").next().unwrap();
    let pieces = line.split('\'').enumerate();
    let words = pieces.flat_map(|(index, piece)| match index % 2 {
        0 => piece.split_whitespace().map(str::to_owned).collect(),
        _ => vec![piece.to_owned()],
    });
    words.collect()
}

#[test]
fn the_first_report_shows_what_the_program_prints() {
    let path = docs().join("first-report.md");
    let page = fs::read_to_string(&path).unwrap();
    let (mut output, mut fresh, mut shown) = (String::new(), String::new(), 0);
    for (index, piece) in page.split("```").enumerate() {
        let Some((head, _)) = piece.split_once('\n').filter(|_| index % 2 == 1) else {
            fresh.push_str(piece);
            continue;
        };
        let block = match head.strip_prefix("text part=\"").and_then(|rest| rest.strip_suffix('"')) {
            Some(title) => {
                shown += 1;
                format!("{head}\n{}\n", part(&output, title))
            }
            None => {
                let line = piece.lines().nth(1).unwrap();
                let arguments = words(line.strip_prefix("dsh-forensics ").unwrap());
                if arguments.iter().any(|word| word == "--width") {
                    let run = run(&arguments);
                    assert_eq!((run.status, run.err.as_str()), (0, ""), "{line}");
                    output = run.out;
                }
                piece.to_owned()
            }
        };
        fresh.push_str(&format!("```{block}```"));
    }
    assert!(shown >= 7, "the page still shows outputs");
    if std::env::var_os("BOOK_UPDATE").is_some() {
        fs::write(&path, &fresh).unwrap();
    } else {
        assert_eq!(page, fresh, "BOOK_UPDATE=1 writes the page anew; read the diff");
    }
}
