//! Tests of the policy module, by part.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod decisions;
mod expressions;
mod lint;
mod model;
mod repairs;
mod settings;

use super::release::Release;

/// The release of the recordings in `testdata/policy`.
fn recorded() -> Release {
    "0.1.1-rc.2".parse().unwrap()
}
