//! In: the rows of all sessions.
//! Out: polars frames with the schema of `docs/tables.md`.
//! Always: one row per thing counted; eager frames only, the lazy engine would double the build.
