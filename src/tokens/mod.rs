//! In: the texts of a session's messages in the order in which they entered and left the surface, and reported usage.
//! Out: for each failed attempt the prompt's tokens with a 90 % interval: reported, anchored on reports, or counted.
//! Always: nothing is tokenized that no estimate needs; a report that cannot be right is set aside and said so.

mod block;
mod bpe;
pub mod estimate;
mod evidence;
pub mod fit;
mod log;
mod resolve;
mod span;
mod words;

pub use evidence::{Anchor, Evidence, gather};
pub use log::{Change, TextPiece, TokenLog};
pub use resolve::{Fits, resolve, session_fit};
