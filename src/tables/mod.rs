//! In: the rows of all sessions.
//! Out: polars frames with the schema of `docs/tables.md`.
//! Always: one row per thing counted, in the order of the sessions; eager frames only, the lazy engine would double the build.

pub(crate) mod columns;
mod frames;
#[cfg(test)]
mod tests;
pub(crate) mod within;

pub use frames::{TABLES, Tables};
