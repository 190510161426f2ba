//! Reads one archive again and rebuilds the bodies of its requests.

use crate::archive::{ArchiveReader, Limits};
use crate::discover::Archive;
use crate::event::{Decoder, SessionHeader};
use crate::pipeline::open;
use crate::session::{SessionBuilder, SessionContext, SessionRows};

/// Which requests of a session are rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of them; memory grows with their sum.
    All,
    /// That of the attempt with this number in its session ([`crate::session::AttemptRow::ordinal`]).
    Attempt(u64),
}

/// A rebuilt request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltRequest {
    /// Number of its attempt in the session.
    pub ordinal: u64,
    /// The body as the route's adapter sends it, UTF-8 JSON.
    pub body: Vec<u8>,
    /// Header and messages as the harness logged them, JSON.
    pub harness: String,
}

/// Reads an archive and rebuilds what is wanted of it.
///
/// # Errors
/// When the archive cannot be opened. Damage inside it is passed over, as everywhere.
pub fn rebuild(
    archive: &Archive,
    limits: Limits,
    wanted: Wanted,
) -> std::io::Result<(SessionRows, Vec<RebuiltRequest>)> {
    let mut reader = ArchiveReader::new().map_err(std::io::Error::other)?;
    let mut input = open(archive, limits)?;
    let context = SessionContext {
        project: archive.project.clone(),
        path: archive.display.clone(),
        generation: archive.generation,
        id_from_path: archive.id_from_path.clone(),
        evidence_for_all: false,
    };
    let mut builder = SessionBuilder::rebuilding(context, wanted);
    let mut decoder = Decoder::new(limits.json_depth);
    let mut begun = false;
    reader.read(&mut input, limits, &mut |line| {
        if !begun && let Some(header) = SessionHeader::parse(line.bytes) {
            builder.header(header);
        } else if let Ok(event) = decoder.decode(line.bytes) {
            builder.event(&event, line.place.line);
        }
        begun = true;
    });
    let rebuilt = builder.take_rebuilt();
    Ok((builder.finish(), rebuilt))
}
