//! In: the rows, the verdicts, the counts, and the filters of the command line.
//! Out: [`Finding`]s: at most one of each rule, worst first, with counts, places, and what to do.
//! Always: a rule that is not sure stays silent; equal faults are counted, not listed; the same archive gives the same bytes.

mod case;
mod finding;
pub mod headline;
pub mod registry;
mod rule;
mod rules;
#[cfg(test)]
mod tests;

pub use case::{Case, Context, retries_by_step, route_name};
pub use finding::{Confidence, Draft, Example, Finding, Place, Severity, Unit, fingerprint, short_text};
pub use registry::{Selection, find_all};
pub use rule::{Docs, LifeCycle, Rule};
