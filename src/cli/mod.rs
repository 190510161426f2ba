//! In: the arguments as typed.
//! Out: a [`plan::Plan`], resolved once, and the exit status at the end.
//! Always: whether the input was partial is remembered in one place and decides the exit status.

pub mod args;
pub mod check_args;
pub mod compactions_args;
pub mod exit;
pub mod explain_args;
pub mod export_args;
pub mod help;
pub mod output;
pub mod plan;
pub mod policy_args;
pub mod suggest;
pub mod what_if_args;
