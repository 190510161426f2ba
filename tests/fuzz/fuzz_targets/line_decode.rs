//! Lines: whatever they hold, each is an event or an error.
#![no_main]

use dsh_forensics::event::{Decoder, SessionHeader};
use dsh_forensics::session::{SessionBuilder, SessionContext};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new(128);
    let mut builder = SessionBuilder::new(SessionContext::default());
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if let Some(header) = SessionHeader::parse(line).filter(|_| number == 0) {
            builder.header(header);
        } else if let Ok(event) = decoder.decode(line) {
            builder.event(&event, number as u64 + 1);
        }
    }
    builder.finish();
});
