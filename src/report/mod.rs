//! In: the results of the analyses.
//! Out: text: a terminal page, Markdown, JSON, CSV. One renderer per file.
//! Always: renderers never compute; what they print was counted or estimated before.

pub mod classify;
pub mod definitions;
pub mod document;
pub mod failures;
pub mod json;
pub mod lang;
pub mod markdown;
pub mod numbers;
pub mod scan;
pub mod sizes;
pub mod terminal;
pub mod verify;
pub mod words;
