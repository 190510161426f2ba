//! `classify`: one error text through every release's rules.

use std::io::Read;

use anyhow::{Context, Result};

use crate::cli::args::{ClassifyArgs, ClassifyFormat};
use crate::cli::exit::Exit;
use crate::cli::output::emit_for;
use crate::cli::plan::layout;
use crate::evidence::{ClassifyInput, classify_input};
use crate::redact::redact;
use crate::report::{classify, terminal};

/// More than any error text; what is behind it cannot matter.
const MOST_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &ClassifyArgs) -> Result<Exit> {
    let text = if args.text == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes).context("cannot read standard input")?;
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    } else {
        args.text.clone()
    };
    let mut report =
        classify_input(ClassifyInput { text: &text, status: args.status, provider: args.provider.as_deref() });
    // What was typed goes into a report that may be posted; the rules have seen all of it.
    report.text = redact(&report.text).into_owned();
    let out = match args.format {
        ClassifyFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
        ClassifyFormat::Table => {
            terminal::render(&classify::page(&report, args.output.language()), layout(&args.output))
        }
    };
    emit_for(&out, &args.output)?;
    Ok(Exit::Clean)
}
