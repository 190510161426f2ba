//! In: the results of the analyses.
//! Out: text: a terminal page, Markdown, HTML, JSON, CSV. One renderer per file.
//! Always: renderers never compute; what they print was counted or estimated before.

mod bars;
mod characters;
pub mod charts;
pub mod ci;
pub mod classify;
pub mod compactions;
pub mod compactions_json;
pub mod correlation;
pub mod definitions;
pub mod document;
pub mod explain;
pub mod export;
pub mod failures;
pub mod findings;
pub mod html;
pub mod json;
pub mod lang;
pub mod markdown;
pub mod numbers;
pub mod policy;
pub mod policy_json;
pub mod policy_show;
pub mod rules;
pub mod scan;
pub mod sizes;
pub mod terminal;
pub mod verify;
pub mod what_if;
pub mod what_if_json;
pub mod words;
