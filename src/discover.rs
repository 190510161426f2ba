//! In: the paths of the command line (directories, files, zips, `-`), or the default sessions root.
//! Out: the archives to read, in a fixed order, and notices about what was passed over.
//! Always: nothing is opened that is not a regular file; only the highest generation of a session directory is read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::archive::{Limits, read_archive};
use crate::event::SessionHeader;
use crate::message;
use crate::message::Message;
use crate::notice::Notice;

/// Where an archive's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveSource {
    /// A regular file.
    File(PathBuf),
    /// An entry of a zip file, by its index.
    ZipEntry {
        /// The zip file.
        zip: PathBuf,
        /// Entry number.
        index: usize,
    },
    /// Bytes already in memory: standard input, the demo.
    Memory(std::sync::Arc<[u8]>),
}

/// One archive to read.
#[derive(Debug, Clone)]
pub struct Archive {
    /// Where its bytes are.
    pub source: ArchiveSource,
    /// Path as shown to the user.
    pub display: String,
    /// Project directory name.
    pub project: Option<String>,
    /// Session id by the directory's name, unescaped.
    pub id_from_path: Option<String>,
    /// Generation by the file's name (0 where it has none).
    pub generation: u32,
    /// Size as stored, bytes.
    pub bytes: u64,
    /// Found by walking a directory: what is no session log is then passed over in silence.
    pub walked: bool,
}

/// What discovery came to.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Archives in reading order.
    pub archives: Vec<Archive>,
    /// Older generations: not counted, but `verify` looks at them too.
    pub older_generations: Vec<Archive>,
    /// Older generations that were not read.
    pub generations_skipped: u64,
    /// Inputs that could not be opened or listed.
    pub unreadable: u64,
    /// What was passed over and why.
    pub notices: Vec<Notice>,
}

/// Whether the file name is one that the harness gives its logs.
pub fn is_called_like_a_log(path: &str) -> bool {
    parse_log_name(path.rsplit(['/', '\\', '!']).next().unwrap_or("")).is_some()
}

/// Takes a log's file name apart: generation and whether it is compressed.
/// Source: `^session(?:\.v([1-9][0-9]*))?\.jsonl(?:\.zstd)?$`.
pub fn parse_log_name(name: &str) -> Option<(u32, bool)> {
    let rest = name.strip_prefix("session")?;
    let (rest, zstd) = match rest.strip_suffix(".zstd") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let middle = rest.strip_suffix(".jsonl")?;
    if middle.is_empty() {
        return Some((0, zstd));
    }
    let digits = middle.strip_prefix(".v")?;
    let generation = digits.parse().ok()?;
    (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())).then_some((generation, zstd))
}

/// Undoes the escaping of a session id in a directory name: `~XXXX` is one UTF-16 unit.
pub fn unescape_id(name: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let escaped = (c == '~').then(|| rest.get(1..5)).flatten().and_then(|hex| u16::from_str_radix(hex, 16).ok());
        if let Some(unit) = escaped {
            units.push(unit);
            rest = &rest[5..];
        } else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            rest = &rest[c.len_utf8()..];
        }
    }
    String::from_utf16_lossy(&units)
}

/// The default sessions root: `$DSH_HOME/sessions`, else `~/.dsh/sessions`. An empty `DSH_HOME` counts as unset.
pub fn default_root() -> Option<PathBuf> {
    let home = std::env::var_os("DSH_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    home.or_else(|| std::env::var_os("HOME").filter(|v| !v.is_empty()).map(|h| Path::new(&h).join(".dsh")))
        .map(|h| h.join("sessions"))
}

/// Finds the archives behind `paths`.
pub fn discover(paths: &[PathBuf], limits: Limits) -> Discovery {
    let mut found = Discovery::default();
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            read_stdin(limits, &mut found);
            continue;
        }
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => walk(path, &mut files, &mut found),
            Ok(meta) if meta.is_file() => single_file(path, meta.len(), limits, &mut found),
            Ok(_) => {
                found.notices.push(Notice::at("not-a-log", path.display(), Message::new("notices.no-regular-file")));
            }
            Err(error) => {
                found.unreadable += u64::from(error.kind() != io::ErrorKind::NotFound);
                found.notices.push(Notice::at("unreadable-input", path.display(), Message::verbatim(error)));
            }
        }
    }
    let groups = group_generations(files, &mut found);
    found.archives.extend(groups);
    let mut seen = std::collections::HashSet::new();
    found.archives.retain(|a| match &a.source {
        ArchiveSource::File(path) => seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())),
        _ => true,
    });
    found.archives.sort_by(|a, b| (&a.project, &a.display).cmp(&(&b.project, &b.display)));
    found
}

/// A file of a directory walk whose name says that it is a log.
struct Candidate {
    path: PathBuf,
    bytes: u64,
    name: Option<(u32, bool)>,
}

fn walk(root: &Path, files: &mut Vec<Candidate>, found: &mut Discovery) {
    for entry in walkdir::WalkDir::new(root).follow_links(true).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(root).display().to_string();
                if error.loop_ancestor().is_some() {
                    found.notices.push(Notice::at("symlink-loop", path, Message::new("notices.symlink-loop")));
                } else if error.io_error().is_some_and(|e| e.kind() == io::ErrorKind::NotFound) {
                    found.notices.push(Notice::at("dangling-link", path, Message::new("notices.dangling-link")));
                } else {
                    found.unreadable += 1;
                    found.notices.push(Notice::at(
                        "unreadable-input",
                        path,
                        Message::verbatim(error.io_error().map_or_else(|| error.to_string(), ToString::to_string)),
                    ));
                }
                continue;
            }
        };
        if !entry.file_type().is_file() {
            continue;
        }
        let name = entry.file_name().to_string_lossy();
        let parsed = parse_log_name(&name);
        let jsonl = name.ends_with(".jsonl") || name.ends_with(".jsonl.zstd");
        if parsed.is_some() || jsonl {
            let bytes = entry.metadata().map_or(0, |m| m.len());
            files.push(Candidate { path: entry.path().to_path_buf(), bytes, name: parsed });
        } else if name.contains(".jsonl") && name.ends_with(".tmp") {
            found.notices.push(Notice::at(
                "leftover-tmp",
                entry.path().display(),
                Message::new("notices.leftover-tmp"),
            ));
        } else if [".sqlite", ".sqlite3", ".db"].iter().any(|end| name.ends_with(end)) && is_sqlite(entry.path()) {
            found.notices.push(Notice::at("not-a-log", entry.path().display(), Message::new("notices.sqlite")));
        }
    }
}

fn is_sqlite(path: &Path) -> bool {
    let mut head = [0; 16];
    File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok() && head.starts_with(b"SQLite format 3")
}

fn group_generations(files: Vec<Candidate>, found: &mut Discovery) -> Vec<Archive> {
    let mut by_directory: BTreeMap<PathBuf, Vec<Candidate>> = BTreeMap::new();
    let mut archives = Vec::new();
    for file in files {
        match file.name {
            Some(_) => by_directory
                .entry(file.path.parent().map(Path::to_path_buf).unwrap_or_default())
                .or_default()
                .push(file),
            None if starts_with_header(&file.path) => archives.push(archive_of_file(&file.path, file.bytes, 0, true)),
            None => {}
        }
    }
    for (directory, candidates) in by_directory {
        let newest = candidates.iter().filter_map(|c| c.name).map(|n| n.0).max().unwrap_or(0);
        let (keep, skip): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|c| c.name.is_some_and(|n| n.0 == newest));
        if !skip.is_empty() {
            found.generations_skipped += skip.len() as u64;
            let name = |c: &Candidate| c.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.notices.push(Notice::at(
                "duplicate-generation",
                directory.display(),
                message!("notices.older-generations").with_words("names", skip.iter().map(name)),
            ));
        }
        if keep.len() > 1 {
            found.notices.push(Notice::at(
                "mixed-encodings",
                directory.display(),
                Message::new("notices.mixed-encodings"),
            ));
        }
        found
            .older_generations
            .extend(skip.iter().map(|c| archive_of_file(&c.path, c.bytes, c.name.map_or(0, |n| n.0), true)));
        archives.extend(keep.iter().map(|c| archive_of_file(&c.path, c.bytes, newest, true)));
    }
    archives
}

/// Whether a `*.jsonl[.zstd]` of another name is a log (the old flat layout, single exported files).
fn starts_with_header(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return true };
    first_line_is_header(&mut file)
}

fn first_line_is_header(input: &mut dyn Read) -> bool {
    let mut first = None;
    // One megabyte is enough for any header and keeps a walk over large foreign files cheap.
    let mut head = input.take(1 << 20);
    let outcome = read_archive(&mut head, Limits::default(), &mut |line| {
        first.get_or_insert_with(|| SessionHeader::parse(line.bytes).is_some());
    });
    outcome.is_ok() && first == Some(true)
}

fn archive_of_file(path: &Path, bytes: u64, generation: u32, walked: bool) -> Archive {
    let directory = path.parent();
    let name = |p: Option<&Path>| p.and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let file_name = name(Some(path)).unwrap_or_default();
    let standard = parse_log_name(&file_name).is_some();
    let (id, project) = if standard {
        (name(directory), name(directory.and_then(Path::parent)))
    } else {
        (Some(file_name.trim_end_matches(".zstd").trim_end_matches(".jsonl").to_owned()), name(directory))
    };
    Archive {
        source: ArchiveSource::File(path.to_path_buf()),
        display: path.display().to_string(),
        project,
        id_from_path: id.map(|i| unescape_id(&i)),
        generation,
        bytes,
        walked,
    }
}

fn single_file(path: &Path, bytes: u64, limits: Limits, found: &mut Discovery) {
    let mut head = [0; 4];
    let count = match File::open(path).and_then(|mut f| f.read(&mut head)) {
        Ok(count) => count,
        Err(error) => {
            found.unreadable += 1;
            found.notices.push(Notice::at("unreadable-input", path.display(), Message::verbatim(error)));
            return;
        }
    };
    if head[..count] == *b"PK\x03\x04" || head[..count] == *b"PK\x05\x06" {
        zip_entries(path, limits, found);
        return;
    }
    let generation = path.file_name().and_then(|n| parse_log_name(&n.to_string_lossy())).map_or(0, |n| n.0);
    found.archives.push(archive_of_file(path, bytes, generation, false));
}

fn zip_entries(path: &Path, limits: Limits, found: &mut Discovery) {
    let mut zip = match File::open(path)
        .map_err(|e| e.to_string())
        .and_then(|f| zip::ZipArchive::new(f).map_err(|e| e.to_string()))
    {
        Ok(zip) => zip,
        Err(error) => {
            found.unreadable += 1;
            found.notices.push(Notice::at(
                "unreadable-input",
                path.display(),
                message!("notices.bad-zip", why = error),
            ));
            return;
        }
    };
    if zip.len() > limits.zip_entries {
        found.unreadable += 1;
        found.notices.push(Notice::at(
            "limit",
            path.display(),
            message!("notices.zip-entries", n = zip.len(), most = limits.zip_entries),
        ));
    }
    let mut by_directory: BTreeMap<String, Vec<(u32, Archive)>> = BTreeMap::new();
    for index in 0..zip.len().min(limits.zip_entries) {
        let Ok(entry) = zip.by_index(index) else {
            found.unreadable += 1;
            found.notices.push(Notice::at(
                "unreadable-input",
                path.display(),
                message!("notices.zip-entry", n = index),
            ));
            continue;
        };
        if !entry.is_file() {
            continue;
        }
        let inner = entry.name().map_or_else(|_| format!("entry-{index}"), |n| n.into_owned());
        let mut parts: Vec<&str> = inner.split(['/', '\\']).filter(|p| !p.is_empty()).collect();
        let Some(file) = parts.pop() else { continue };
        let parsed = parse_log_name(file);
        if parsed.is_none() && !file.ends_with(".jsonl") && !file.ends_with(".jsonl.zstd") {
            continue;
        }
        if entry.compressed_size() > 0 && entry.size() / entry.compressed_size() > limits.zip_ratio {
            found.unreadable += 1;
            found.notices.push(Notice::at(
                "limit",
                path.display(),
                message!("notices.zip-ratio", entry = inner, most = limits.zip_ratio),
            ));
            continue;
        }
        let archive = Archive {
            source: ArchiveSource::ZipEntry { zip: path.to_path_buf(), index },
            display: format!("{}!{inner}", path.display()),
            project: parts.len().checked_sub(2).map(|i| parts[i].to_owned()),
            id_from_path: parts.last().map(|p| unescape_id(p)),
            generation: parsed.map_or(0, |p| p.0),
            bytes: entry.size(),
            walked: true,
        };
        let key = if parsed.is_some() { parts.join("/") } else { inner };
        by_directory.entry(key).or_default().push((archive.generation, archive));
    }
    for group in by_directory.into_values() {
        let newest = group.iter().map(|g| g.0).max().unwrap_or(0);
        let (keep, skip): (Vec<_>, Vec<_>) = group.into_iter().partition(|g| g.0 == newest);
        found.generations_skipped += skip.len() as u64;
        found.archives.extend(keep.into_iter().map(|g| g.1));
        found.older_generations.extend(skip.into_iter().map(|g| g.1));
    }
}

fn at_stdin(kind: &'static str, what: Message) -> Notice {
    Notice::new(
        kind,
        Message::new("notices.at").with("place", Message::new("notices.standard-input")).with("what", what),
    )
}

fn read_stdin(limits: Limits, found: &mut Discovery) {
    let mut bytes = Vec::new();
    let outcome = io::stdin().lock().take(limits.buffered_bytes + 1).read_to_end(&mut bytes);
    if let Err(error) = outcome {
        found.unreadable += 1;
        found.notices.push(at_stdin("unreadable-input", Message::verbatim(error)));
        return;
    }
    if bytes.len() as u64 > limits.buffered_bytes {
        found.unreadable += 1;
        found.notices.push(at_stdin("limit", message!("notices.more-bytes", n = limits.buffered_bytes)));
        return;
    }
    if bytes.starts_with(b"PK\x03\x04") {
        found.unreadable += 1;
        found.notices.push(at_stdin("unreadable-input", Message::new("notices.zip-needs-file")));
        return;
    }
    found.archives.push(Archive {
        display: "-".to_owned(),
        bytes: bytes.len() as u64,
        source: ArchiveSource::Memory(bytes.into()),
        project: None,
        id_from_path: None,
        generation: 0,
        walked: false,
    });
}
