//! Packed rows: a row with a space before its colon takes the full parser, and must say the same as the fast one.
#![no_main]

use dsh_forensics::event::{Body, Decoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|gaps: Vec<i32>| {
    let texts = vec!["\"x\""; gaps.len() + 1].join(",");
    let gaps: Vec<String> = gaps.iter().map(i32::to_string).collect();
    let data = format!(r#"{{"turn":1,"step":2,"index":0,"dt":[{}],"texts":[{texts}]}}"#, gaps.join(","));
    let fast = format!(r#"{{"type":"text-chunks","seq0":7,"time0":1796006000000,"data":{data}}}"#);
    let full = format!(r#"{{"type" :"text-chunks","seq0":7,"time0":1796006000000,"data":{data}}}"#);
    let (Ok(fast), Ok(full)) = (Decoder::new(128).decode(fast.as_bytes()), Decoder::new(128).decode(full.as_bytes()))
    else {
        panic!("a packed row was refused");
    };
    assert_eq!((fast.seq, fast.time, fast.members), (full.seq, full.time, full.members));
    match (fast.body, full.body) {
        (Body::Deltas { stream: fast, .. }, Body::Deltas { stream: full, .. }) => assert_eq!(fast, full),
        other => panic!("{other:?}"),
    }
});
