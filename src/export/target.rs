//! The directory of `-o`: the only place that is written to.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::error::ExportError;
use super::manifest::{MANIFEST, SCHEMA};
use super::run::EXPORT_TABLES;
use crate::message;

/// A directory that is empty, or whose old export may be replaced.
#[derive(Debug)]
pub struct Target {
    root: PathBuf,
    created: bool,
}

impl Target {
    /// Looks at the directory before the long work, and makes it where there is none. Nothing of it is removed yet.
    ///
    /// # Errors
    /// When it is no directory, cannot be made, or holds something: with `force`, anything but an older export.
    pub fn open(root: &Path, force: bool) -> Result<Self, ExportError> {
        let created = match fs::metadata(root) {
            Ok(meta) if !meta.is_dir() => {
                return Err(ExportError(message!("export.not-a-directory", path = root.display())));
            }
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(root).map_err(|error| ExportError::write(root, &error))?;
                true
            }
            Err(error) => return Err(ExportError::write(root, &error)),
        };
        let mut entries = fs::read_dir(root).map_err(|error| ExportError::write(root, &error))?;
        if entries.next().is_some() {
            if !force {
                return Err(ExportError(message!("export.not-empty", path = root.display())));
            }
            if !holds_export(root) {
                return Err(ExportError(message!("export.not-an-export", path = root.display(), manifest = MANIFEST)));
            }
        }
        Ok(Self { root: root.to_path_buf(), created })
    }

    /// Takes back what [`Target::open`] made, when there is nothing to write.
    pub fn abandon(self) {
        if self.created {
            // Best effort: an empty directory is all that could stay.
            let _ = fs::remove_dir(&self.root);
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Removes the files of an older export, by the names that an export gives them; everything else stays.
    pub(super) fn clear(&self) -> Result<(), ExportError> {
        let remove = |path: &Path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ExportError::write(path, &error)),
            _ => Ok(()),
        };
        for table in EXPORT_TABLES {
            remove(&self.root.join(format!("{table}.csv")))?;
            remove(&self.root.join(format!("{table}.ndjson")))?;
            let folder = self.root.join(table);
            if fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir()) {
                for project in directories(&folder, "project=")? {
                    for day in directories(&project, "day=")? {
                        for part in entries(&day)?.into_iter().filter(|path| is_part(path)) {
                            remove(&part)?;
                        }
                        let _ = fs::remove_dir(&day); // Stays when something else lies in it; the same below.
                    }
                    let _ = fs::remove_dir(&project);
                }
                let _ = fs::remove_dir(&folder);
            }
        }
        remove(&self.root.join(MANIFEST))
    }

    /// Makes a new file at `path` (with `/`) inside the directory. A link on the way is refused: it could lead outside.
    pub(super) fn create(&self, path: &str) -> Result<File, ExportError> {
        let mut place = self.root.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            if parts.peek().is_none() {
                break;
            }
            match fs::create_dir(&place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_dir()) {
                        return Err(ExportError(message!("export.not-a-directory", path = place.display())));
                    }
                }
                Err(error) => return Err(ExportError::write(&place, &error)),
                Ok(()) => {}
            }
        }
        let file = OpenOptions::new().write(true).create_new(true).open(&place);
        file.map_err(|error| ExportError::write(&place, &error))
    }

    /// The full path of a file, for messages.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// Whether a manifest of ours lies in the directory; an export that was broken off has one too.
fn holds_export(root: &Path) -> bool {
    let text = fs::read(root.join(MANIFEST)).unwrap_or_default();
    let manifest: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    manifest.is_some_and(|manifest| manifest["schema"] == SCHEMA)
}

fn is_part(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let digits = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet"));
    digits.is_some_and(|digits| digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let listed = fs::read_dir(folder).and_then(|list| list.map(|entry| Ok(entry?.path())).collect());
    listed.map_err(|error: io::Error| ExportError::write(folder, &error))
}

/// Directories (no links) whose name begins so.
fn directories(folder: &Path, prefix: &str) -> Result<Vec<PathBuf>, ExportError> {
    let wanted = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
            && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
    };
    Ok(entries(folder)?.into_iter().filter(wanted).collect())
}
