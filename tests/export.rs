//! `export`: the tables read back from every format, what is refused, and that the bytes do not depend on the threads.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, ParquetReader, SerReader};
use serde_json::{Value, json};
use support::builder::{Log, NO_BODY_400, OVERFLOW, START};
use support::{failures_ndjson, recorded, run, run_with, scan_json};
use tempfile::TempDir;

const TABLES: [&str; 10] =
    ["sessions", "turns", "steps", "attempts", "retries", "compactions", "prunes", "verdicts", "findings", "events"];
const USAGE: i32 = 2;
const NO_INPUT: i32 = 3;
const PARTIAL: i32 = 4;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exports into a new directory; the run must end with `status`.
fn exported(args: &[&str], status: i32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&[&["export", "-o", text(folder.path())], args].concat());
    assert_eq!(run.status, status, "{}{}", run.out, run.err);
    folder
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap()
}

/// Rows of every table by the manifest.
fn rows(folder: &Path) -> BTreeMap<String, u64> {
    let tables = manifest(folder)["tables"].as_array().unwrap().clone();
    tables.iter().map(|t| (t["name"].as_str().unwrap().to_owned(), t["rows"].as_u64().unwrap())).collect()
}

/// Every file of a directory with its bytes, by its path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn parquet(path: &Path) -> DataFrame {
    ParquetReader::new(fs::File::open(path).unwrap()).finish().unwrap()
}

/// The parts of a Parquet table in the order of their paths.
fn parts(folder: &Path, table: &str) -> Vec<(String, DataFrame)> {
    let wanted = files(folder).into_keys().filter(|name| name.starts_with(&format!("{table}/")));
    wanted.map(|name| (name.clone(), parquet(&folder.join(&name)))).collect()
}

fn ndjson(folder: &Path, table: &str) -> Vec<Value> {
    let lines = fs::read_to_string(folder.join(format!("{table}.ndjson"))).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Header and rows of a CSV table.
fn csv_table(folder: &Path, table: &str) -> (Vec<String>, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_path(folder.join(format!("{table}.csv"))).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (header, reader.records().map(Result::unwrap).collect())
}

fn small_log(id: &str) -> Log {
    let mut log = Log::new(id);
    log.turn().step().ok(1_200).step().failed(OVERFLOW, NO_BODY_400).gave_up();
    log.turn().step().failed("RATE_LIMIT", "429 Too many requests").retry(500).ok(1_500);
    log
}

#[test]
fn every_format_holds_what_scan_counts() {
    let scan = scan_json(&["--demo"]);
    let count = |name: &str| scan["counts"][name].as_u64().unwrap();
    let expected = BTreeMap::from([
        ("sessions", scan["inputs"]["sessions"].as_u64().unwrap()),
        ("turns", count("turns")),
        ("steps", count("steps")),
        ("attempts", count("attempts")),
        ("retries", count("retries_scheduled")),
        ("compactions", count("compactions")),
        ("prunes", scan["compactions_by_trigger"]["prune"].as_u64().unwrap()),
        ("verdicts", count("failed_attempts")),
    ]);
    let [as_parquet, as_csv, as_ndjson] =
        ["parquet", "csv", "ndjson"].map(|format| exported(&["--demo", "--format", format], 0));
    for table in TABLES {
        let read: u64 = parts(as_parquet.path(), table).iter().map(|(_, rows)| rows.height() as u64).sum();
        let lines = ndjson(as_ndjson.path(), table);
        let (header, records) = csv_table(as_csv.path(), table);
        assert_eq!(rows(as_parquet.path())[table], read, "{table}: the manifest");
        assert_eq!((read, read), (records.len() as u64, lines.len() as u64), "{table}: the three formats");
        if let Some(expected) = expected.get(table) {
            assert_eq!(read, *expected, "{table}: scan");
        }
        // Cell by cell: the demo is one project and one day, so the Parquet rows are in the order of the others.
        for (row, (line, record)) in lines.iter().zip(&records).enumerate() {
            for (column, cell) in header.iter().zip(record) {
                let value = &line[column];
                let as_text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                assert_eq!(cell, if value.is_null() { "" } else { &as_text }, "{table}[{row}].{column}");
            }
        }
    }
    let events: u64 = ndjson(as_ndjson.path(), "events").iter().map(|e| e["members"].as_u64().unwrap()).sum();
    assert_eq!(events, count("events"), "packed rows stand for all their members");
}

#[test]
fn parquet_is_compressed_and_equals_ndjson() {
    let (as_parquet, as_ndjson) = (exported(&["--demo"], 0), exported(&["--demo", "--format", "ndjson"], 0));
    for table in TABLES {
        let lines = ndjson(as_ndjson.path(), table);
        let read = parts(as_parquet.path(), table);
        let [(name, frame)] = read.as_slice() else { panic!("{table} is in {} parts", read.len()) };
        for column in frame.columns() {
            for (row, line) in lines.iter().enumerate() {
                let cell = column.get(row).unwrap();
                let value = &line[column.name().as_str()];
                let same = match value {
                    Value::Null => cell.is_null(),
                    Value::String(text) => cell.get_str() == Some(text),
                    Value::Bool(flag) => cell == polars::prelude::AnyValue::Boolean(*flag),
                    value => cell.extract::<f64>() == value.as_f64(),
                };
                assert!(same, "{name}: row {row}, {}: {cell} is not {value}", column.name());
            }
        }
    }
    let bytes = fs::read(as_parquet.path().join(&parts(as_parquet.path(), "events")[0].0)).unwrap();
    let zstd_frame = [0x28, 0xB5, 0x2F, 0xFD];
    assert!(bytes.windows(4).any(|window| window == zstd_frame), "the pages are zstd frames");
}

#[test]
fn verdicts_are_those_of_failures() {
    let folder = exported(&["--demo", "--format", "ndjson", "--tables", "verdicts"], 0);
    let key = |row: &Value| (row["session_id"].to_string(), row["seq"].as_u64(), row["verdict"].to_string());
    let mut found: Vec<_> = ndjson(folder.path(), "verdicts").iter().map(key).collect();
    let mut expected: Vec<_> = failures_ndjson(&["--demo"]).iter().map(key).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(files(folder.path()).len(), 2, "only the table asked for, and the manifest");
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..12 {
        let mut log = small_log(&format!("session-{number:02}"));
        log.project = format!("--project-{}--", number % 3);
        for _ in 0..number * 40 {
            log.turn().step().ok(2_000);
        }
        log.at(START + 86_400_000 * number).turn().step().ok(1_000);
        log.write_zstd(root.path());
    }
    for format in ["parquet", "csv", "ndjson"] {
        let [one, four] =
            ["1", "4"].map(|jobs| files(exported(&[text(root.path()), "--format", format, "--jobs", jobs], 0).path()));
        assert_eq!(one.keys().collect::<Vec<_>>(), four.keys().collect::<Vec<_>>());
        for (name, bytes) in &one {
            assert!(*bytes == four[name], "{format}: {name} differs between 1 and 4 threads");
        }
    }
}

#[test]
fn rows_stand_in_the_partition_of_their_project_and_day() {
    let root = tempfile::tempdir().unwrap();
    let mut log = small_log("long");
    log.project = "--港口账本--".to_owned();
    log.at(START + 86_400_000).turn().step().ok(900);
    log.write_zstd(root.path());
    let folder = exported(&[text(root.path())], 0);
    let project = "project=--%E6%B8%AF%E5%8F%A3%E8%B4%A6%E6%9C%AC--";
    let turns: Vec<(String, usize)> =
        parts(folder.path(), "turns").into_iter().map(|(name, rows)| (name, rows.height())).collect();
    let expected = [("2026-11-24", 0, 2), ("2026-11-25", 1, 1)]
        .map(|(day, part, rows)| (format!("turns/{project}/day={day}/part-0000{part}.parquet"), rows));
    assert_eq!(turns, expected);
    assert_eq!(parts(folder.path(), "sessions").len(), 1, "a session stands on the day of its first event");
    let west = exported(&[text(root.path()), "--tz", "America/New_York"], 0);
    assert!(files(west.path()).keys().any(|name| name.starts_with(&format!("turns/{project}/day=2026-11-23/"))));
}

#[test]
fn a_log_without_a_project_stands_under_unknown() {
    let bytes = small_log("piped").jsonl();
    let folder = tempfile::tempdir().unwrap();
    let run = run_with(&["export", "-", "-o", text(folder.path())], &bytes);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        files(folder.path())
            .contains_key("attempts/project=__HIVE_DEFAULT_PARTITION__/day=2026-11-24/part-00000.parquet")
    );
    assert!(rows(folder.path())["events"] > 20, "standard input is read twice from memory");
}

#[test]
fn empty_tables_still_have_all_their_columns() {
    let root = tempfile::tempdir().unwrap();
    Log::new("quiet").turn().step().ok(1_000).clone().write_zstd(root.path());
    let documented = include_str!("../docs/tables.md");
    let columns = |table: &str| -> Vec<&str> {
        let section = documented.split("\n## ").find(|s| s.starts_with(&format!("{table}\n"))).unwrap();
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
    };
    let [as_parquet, as_csv] = ["parquet", "csv"].map(|f| exported(&[text(root.path()), "--format", f], 0));
    for table in ["retries", "compactions", "prunes", "verdicts"] {
        let [(_, frame)] = &parts(as_parquet.path(), table)[..] else { panic!("{table}") };
        assert_eq!(frame.height(), 0);
        assert_eq!(frame.get_column_names().iter().map(|n| n.as_str()).collect::<Vec<_>>(), columns(table));
        assert_eq!(csv_table(as_csv.path(), table), (columns(table).iter().map(|c| (*c).to_owned()).collect(), vec![]));
    }
}

#[test]
fn csv_keeps_to_its_rules() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("odd");
    log.route("gate,\"way\"\r\n网关", "large", 9_000);
    log.turn().step().ok(1_000);
    log.write_zstd(root.path());
    let folder = exported(&[text(root.path()), "--format", "csv", "--bom"], 0);
    let bytes = fs::read(folder.path().join("attempts.csv")).unwrap();
    assert!(bytes.starts_with(b"\xEF\xBB\xBFsession_id,turn"));
    assert!(bytes.ends_with(b"\r\n"));
    let (header, records) = csv_table(folder.path(), "attempts");
    let provider = header.iter().position(|name| name == "provider").unwrap();
    assert_eq!(&records[0][provider], "gate,\"way\"\r\n网关");
    let refused = run(&["export", "--demo", "--bom", "-o", text(folder.path())]);
    assert!(refused.status == USAGE && refused.err.contains("--format csv"), "{}", refused.err);
}

#[test]
fn filters_choose_rows_as_elsewhere() {
    let root = tempfile::tempdir().unwrap();
    small_log("one").write_zstd(root.path());
    let mut late = small_log("two");
    late.at(START + 86_400_000).turn().step().failed(OVERFLOW, NO_BODY_400).gave_up();
    late.write_zstd(root.path());
    let filters: [&[&str]; 3] = [&["--session", "one"], &["--since", "2026-11-25"], &["--code", OVERFLOW]];
    for filter in filters {
        let args = [&[text(root.path())], filter].concat();
        let scan = scan_json(&args);
        let folder = exported(&[&args[..], &["--format", "ndjson"]].concat(), 0);
        let failed = ndjson(folder.path(), "attempts").iter().filter(|a| a["outcome"] == "failed").count();
        assert_eq!(json!(failed), scan["counts"]["failed_attempts"], "{filter:?}");
        assert_eq!(json!(rows(folder.path())["verdicts"]), scan["counts"]["failed_attempts"], "{filter:?}");
        assert!(failed > 0 && failed < 5, "{filter:?} leaves {failed}");
    }
    let folder = exported(&[text(root.path()), "--since", "2026-11-25", "--format", "ndjson"], 0);
    let events = ndjson(folder.path(), "events");
    assert!(!events.is_empty());
    assert!(events.iter().all(|e| e["time_ms"].as_i64().unwrap() >= START + 86_400_000));
}

#[test]
fn the_manifest_names_inputs_by_hash_and_no_path() {
    let root = tempfile::tempdir().unwrap();
    let path = small_log("night").write_zstd(root.path());
    let folder = exported(&[text(root.path()), "--format", "csv"], 0);
    let manifest = manifest(folder.path());
    assert_eq!((&manifest["schema"], &manifest["complete"]), (&json!("dsh-forensics/export/v1"), &json!(true)));
    assert_eq!((&manifest["partial"], &manifest["format"]), (&json!(false), &json!("csv")));
    let hash = <sha2::Sha256 as sha2::Digest>::digest(fs::read(path).unwrap());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(manifest["inputs"]["sessions"][0]["sha256"], json!(hash));
    let written = files(folder.path());
    for file in manifest["files"].as_array().unwrap() {
        assert_eq!(json!(written[file["path"].as_str().unwrap()].len()), file["bytes"], "{file}");
    }
    assert_eq!(manifest["files"].as_array().unwrap().len() + 1, written.len(), "every file is listed");
    for (name, bytes) in &written {
        let bytes = String::from_utf8_lossy(bytes);
        assert!(!bytes.contains(text(root.path())) && !bytes.contains(text(folder.path())), "a path in {name}");
    }
}

#[test]
fn no_message_leaves_the_log() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Log::new("secret");
    log.turn().step().ok(1_000).step().failed("RATE_LIMIT", "429 key sk-live-abcdefghijklmnop for 张三").gave_up();
    log.event("plugin/note", json!({"turn": 1, "text": "sk-live-abcdefghijklmnop"}));
    log.write_zstd(root.path());
    for format in ["csv", "ndjson"] {
        for (name, bytes) in files(exported(&[text(root.path()), "--format", format], 0).path()) {
            let written = String::from_utf8(bytes).unwrap();
            for secret in ["Seal the batch", "账目", "Be brief", "sk-live", "张三"] {
                assert!(!written.contains(secret), "{secret} in {name}");
            }
        }
    }
}

#[test]
fn a_directory_that_holds_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "keep").unwrap();
    let plain = run(&["export", "--demo", "-o", text(folder.path())]);
    assert_eq!((plain.status, plain.out.as_str()), (USAGE, ""));
    assert!(plain.err.contains("not empty") && plain.err.contains("--force"), "{}", plain.err);
    let forced = run(&["export", "--demo", "--force", "-o", text(folder.path())]);
    assert!(forced.status == USAGE && forced.err.contains("manifest.json"), "{}", forced.err);
    let chinese = run(&["export", "--demo", "--lang", "zh", "-o", text(folder.path())]);
    assert!(chinese.status == USAGE && chinese.err.contains("不是空目录"), "{}", chinese.err);
    assert_eq!(files(folder.path()).len(), 1, "nothing was written");
}

#[test]
fn force_replaces_an_older_export_and_nothing_else() {
    let folder = exported(&["--demo"], 0);
    let kept = ["mine.txt", "attempts/notes.md", "events.csv.bak"];
    for name in kept {
        fs::write(folder.path().join(name), "keep").unwrap();
    }
    let again = run(&["export", "--demo", "--force", "--format", "csv", "-o", text(folder.path())]);
    assert_eq!(again.status, 0, "{}", again.err);
    let mut names: Vec<String> = TABLES.iter().map(|table| format!("{table}.csv")).collect();
    names.extend(kept.map(str::to_owned).into_iter().chain(["manifest.json".to_owned()]));
    names.sort();
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), names);
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_outside() {
    let (folder, outside) = (exported(&["--demo"], 0), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("part-00000.parquet"), "keep").unwrap();
    fs::remove_dir_all(folder.path().join("turns")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("turns")).unwrap();
    let run = run(&["export", "--demo", "--force", "-o", text(folder.path())]);
    assert!(run.status == USAGE && run.err.contains("turns"), "{}", run.err);
    assert_eq!(files(outside.path()).len(), 1);
    assert_eq!(manifest(folder.path())["complete"], json!(false), "a broken-off export says so");
}

#[test]
fn a_target_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "keep").unwrap();
    let mut targets: Vec<PathBuf> = vec![file.clone(), file.join("below")];
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(locked.join("probe"), "").is_err() {
            targets.extend([locked.clone(), locked.join("below")]);
        } else {
            eprintln!("skipped in part: this user may write every directory");
        }
    }
    for target in targets {
        let run = run(&["export", "--demo", "-o", text(&target)]);
        assert_eq!((run.status, run.out.as_str()), (USAGE, ""), "{}", target.display());
        assert!(run.err.contains(text(&target)) && !run.err.contains("panicked"), "{}", run.err);
    }
    assert_eq!(fs::read(&file).unwrap(), b"keep");
    let missing = run(&["export", "--demo"]);
    assert!(missing.status == USAGE && missing.err.contains("--output <DIR>"), "{}", missing.err);
}

#[test]
fn nothing_to_read_leaves_nothing_behind() {
    let (empty, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let target = folder.path().join("tables");
    let run = run(&["export", text(empty.path()), "-o", text(&target)]);
    assert_eq!(run.status, NO_INPUT);
    assert!(!target.exists());
}

#[test]
fn a_damaged_input_makes_the_export_partial() {
    let root = tempfile::tempdir().unwrap();
    small_log("whole").write_zstd(root.path());
    let path = small_log("torn").write_zstd(root.path());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let folder = exported(&[text(root.path()), "--format", "ndjson"], PARTIAL);
    let manifest = manifest(folder.path());
    assert_eq!((&manifest["partial"], &manifest["complete"]), (&json!(true), &json!(true)));
    assert!(manifest["notices"].to_string().contains("corrupt-frame"), "{}", manifest["notices"]);
    let scan = scan_json(&[text(root.path())]);
    assert_eq!(json!(rows(folder.path())["attempts"]), scan["counts"]["attempts"]);
}

#[test]
fn the_recorded_logs_give_every_event_once() {
    let Some(corpus) = recorded("corpus") else { return };
    let scan = scan_json(&[text(&corpus)]);
    let folder = tempfile::tempdir().unwrap();
    let run =
        run(&["export", text(&corpus), "--tables", "events,sessions", "--format", "csv", "-o", text(folder.path())]);
    assert!(matches!(run.status, 0 | PARTIAL), "{}", run.err);
    let (header, records) = csv_table(folder.path(), "events");
    let members = header.iter().position(|name| name == "members").unwrap();
    let events: u64 = records.iter().map(|record| record[members].parse::<u64>().unwrap()).sum();
    assert_eq!(json!(events), scan["counts"]["events"]);
    assert!(!manifest(folder.path())["notices"].to_string().contains("changed-while-read"));
}

/// The findings table holds what `scan` finds: the same rules, fingerprints and sessions.
#[test]
fn findings_are_those_of_scan() {
    let folder = exported(&["--demo", "--format", "ndjson", "--tables", "findings"], 0);
    let rows = ndjson(folder.path(), "findings");
    let scan = support::scan_json(&["--demo"]);
    let findings = scan["findings"].as_array().unwrap();
    for finding in findings {
        let places: Vec<&Value> = rows.iter().filter(|row| row["fingerprint"] == finding["fingerprint"]).collect();
        assert!(!places.is_empty(), "{finding}");
        assert!(places.iter().all(|row| row["finding"] == finding["id"] && row["title"] == finding["title"]));
        assert!(places.iter().all(|row| row["severity"] == finding["severity"] && row["time_ms"].is_i64()));
    }
    let known: std::collections::BTreeSet<&str> = findings.iter().map(|f| f["fingerprint"].as_str().unwrap()).collect();
    assert!(rows.iter().all(|row| known.contains(row["fingerprint"].as_str().unwrap())));
}
