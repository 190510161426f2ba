//! In: headers and messages of a session in file order.
//! Out: the request behind every attempt: its size in messages, bytes, characters, and, where asked for, its body.
//! Always: every message is measured once, when it enters the surface; an attempt costs the same whatever its context.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic: that is how it fails"))]

mod hide;
mod rebuild;
mod sizer;
mod sums;
mod surface;
mod wire;

pub use hide::{clean_contents, hide_contents, parse_lossy};
pub use rebuild::{RebuiltRequest, Wanted, rebuild};
pub use sizer::{RequestSizer, Sending};
pub use surface::Surface;
pub use wire::Adapter;
