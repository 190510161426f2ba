//! The demo: a few recorded logs inside the program, so that the first command works on any machine.

use std::sync::Arc;

use crate::archive::Limits;
use crate::discover::{Archive, ArchiveSource, Discovery, parse_log_name, unescape_id};

/// Logs of the real harness in one plain tar-like zip without compression of its own: they are compressed already.
static LOGS: &[u8] = include_bytes!("../testdata/demo.zip");

/// The demo's archives.
pub fn discovery() -> Discovery {
    let mut found = Discovery::default();
    let Ok(mut zip) = zip::ZipArchive::new(std::io::Cursor::new(LOGS)) else { return found };
    for index in 0..zip.len().min(Limits::default().zip_entries) {
        let Ok(mut entry) = zip.by_index(index) else { continue };
        let Ok(name) = entry.name().map(|n| n.into_owned()) else { continue };
        let parts: Vec<&str> = name.split('/').collect();
        let [.., project, id, file] = parts.as_slice() else { continue };
        let Some((generation, _)) = parse_log_name(file) else { continue };
        let mut bytes = Vec::new();
        if std::io::Read::read_to_end(&mut entry, &mut bytes).is_err() {
            continue;
        }
        found.archives.push(Archive {
            bytes: bytes.len() as u64,
            source: ArchiveSource::Memory(Arc::from(bytes)),
            display: format!("demo/{name}"),
            project: Some((*project).to_owned()),
            id_from_path: Some(unescape_id(id)),
            generation,
            walked: false,
        });
    }
    found
}
