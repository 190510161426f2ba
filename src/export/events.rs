//! The second reading of the archives, for the events table: sessions are read in parallel and handed on in order, a few
//! thousand rows at a time, so that no session is ever in memory as a whole.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::event_frame::EventRow;
use super::event_line::details;
use crate::archive::{ArchiveReader, Limits, Line};
use crate::discover::Archive;
use crate::event::{Decoder, SessionHeader};
use crate::pipeline::open;

/// Rows handed on at once, and how many such batches may wait per session.
const BATCH_ROWS: usize = 4_096;
const WAITING_BATCHES: usize = 2;

/// A session to read again.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// Where its events are.
    pub(super) archive: &'a Archive,
    /// Events at its beginning that belong to a parent's log.
    pub(super) inherited: u64,
    /// Events of its own; what a running session has written since is left out.
    pub(super) events: u64,
}

/// Reads the sources on `jobs` threads and hands their rows on in the order of the sources. Returns the own events that
/// were found of each: fewer than expected when a log became shorter between the two readings.
pub(super) fn read_again<E>(
    sources: &[Source<'_>],
    limits: Limits,
    jobs: usize,
    sink: &mut dyn FnMut(usize, Vec<EventRow>) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let (senders, receivers): (Vec<_>, Vec<Receiver<Vec<EventRow>>>) =
        sources.iter().map(|_| sync_channel(WAITING_BATCHES)).unzip();
    let senders: Vec<Mutex<Option<SyncSender<_>>>> = senders.into_iter().map(|s| Mutex::new(Some(s))).collect();
    let next = AtomicUsize::new(0);
    // Sources are taken in order, so the one that is waited for is always being read: nobody waits for ever.
    let work = || {
        let mut reader = ArchiveReader::new().ok();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(source), Some(slot)) = (sources.get(index), senders.get(index)) else { return };
            let sender = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let (Some(reader), Some(sender)) = (reader.as_mut(), sender) {
                read_source(reader, source, limits, &sender);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, sources.len().max(1)) {
            scope.spawn(work);
        }
        let mut found = Vec::with_capacity(sources.len());
        for (index, batches) in receivers.into_iter().enumerate() {
            let mut events = 0;
            for rows in batches {
                events += rows.iter().map(|row| row.members).sum::<u64>();
                sink(index, rows)?;
            }
            found.push(events);
        }
        Ok(found)
    })
}

fn read_source(reader: &mut ArchiveReader, source: &Source<'_>, limits: Limits, sender: &SyncSender<Vec<EventRow>>) {
    let Ok(mut input) = open(source.archive, limits) else { return };
    let mut fold = EventFold {
        decoder: Decoder::new(limits.json_depth),
        begun: false,
        kinds: HashMap::new(),
        inherited: source.inherited,
        events: source.events,
        rows: Vec::with_capacity(BATCH_ROWS),
        sender,
        unwanted: false,
    };
    reader.read(&mut input, limits, &mut |line| fold.line(&line));
    let rows = std::mem::take(&mut fold.rows);
    fold.send(rows);
}

/// Takes the lines of one archive by the rules of the first reading.
struct EventFold<'s> {
    decoder: Decoder,
    begun: bool,
    kinds: HashMap<String, Arc<str>>,
    inherited: u64,
    events: u64,
    rows: Vec<EventRow>,
    sender: &'s SyncSender<Vec<EventRow>>,
    /// Nobody takes rows any more.
    unwanted: bool,
}

impl EventFold<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.unwanted || self.events == 0 {
            return;
        }
        if !self.begun && SessionHeader::parse(line.bytes).is_some() {
            self.begun = true;
            return;
        }
        if line.bytes.starts_with(b"{\"type\":\"session\"") {
            return;
        }
        let Ok(event) = self.decoder.decode(line.bytes) else { return };
        self.begun = true;
        // What is inherited stands at the beginning, in every format.
        if self.inherited > 0 {
            self.inherited = self.inherited.saturating_sub(event.members);
            return;
        }
        self.events = self.events.saturating_sub(event.members);
        let details = details(line.bytes);
        let kind = match self.kinds.get(&details.kind) {
            Some(kind) => Arc::clone(kind),
            None => {
                let kind: Arc<str> = details.kind.as_str().into();
                self.kinds.insert(details.kind.clone(), Arc::clone(&kind));
                kind
            }
        };
        self.rows.push(EventRow::new(&event, line, &details, kind));
        if self.rows.len() >= BATCH_ROWS {
            let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(BATCH_ROWS));
            self.send(rows);
        }
    }

    fn send(&mut self, rows: Vec<EventRow>) {
        if !rows.is_empty() && self.sender.send(rows).is_err() {
            self.unwanted = true;
        }
    }
}
