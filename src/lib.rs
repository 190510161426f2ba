//! `dsh-forensics` as a library: the pipeline from recorded session logs to rows, tables, analyses and reports.
//!
//! The way through: [`discover`] → [`archive`] → [`event`] → [`session`] → [`tables`] → analyses → [`report`].

pub mod archive;
pub mod charts;
pub mod check;
pub mod cli;
pub mod commands;
pub mod config;
pub mod context_window;
pub mod correlate;
pub mod demo;
pub mod discover;
pub mod event;
pub mod evidence;
pub mod explain;
pub mod export;
pub mod filter;
pub mod findings;
pub mod message;
pub mod notice;
pub mod pipeline;
pub mod policy;
pub mod pseudonym;
pub mod redact;
pub mod replay;
pub mod report;
pub mod request;
pub mod session;
pub mod simulate;
pub mod sizes;
pub mod stats;
pub mod summary;
pub mod tables;
#[cfg(test)]
#[path = "../tests/support/builder.rs"]
mod test_logs;
pub mod tokens;
pub mod verify;
pub mod windows;
