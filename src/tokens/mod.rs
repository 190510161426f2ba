//! In: the texts of a session's messages, in the order in which they entered and left the surface.
//! Out: token estimates with intervals.
//! Always: nothing is tokenized that no estimate needs.

mod log;

pub use log::{TextPiece, TokenLog};
