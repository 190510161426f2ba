//! A real overflow that the harness gave another code: nothing compacts, the next request is as large.

use std::collections::HashSet;

use crate::evidence::masked::OverflowSign;
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;
use crate::report::numbers::grouped;

rule!("overflow-coded-otherwise", Error, Stable);

/// Only texts that name the overflow count; a full window beside a silent text is a suspicion, and said apart.
fn check(context: &Context<'_>) -> Option<Draft> {
    let of_sign = |sign: OverflowSign| -> HashSet<(usize, usize)> {
        let all = context.masked.coded_otherwise.iter().filter(|c| c.sign == sign);
        all.map(|c| (c.session, c.attempt)).collect()
    };
    let (named, full) = (of_sign(OverflowSign::Text), of_sign(OverflowSign::Fill));
    let cases = context.cases_where(|case| named.contains(&(case.session_index, case.index)));
    let suspected = context.cases_where(|case| full.contains(&(case.session_index, case.index))).len() as u64;
    let draft = Draft::of_cases(context, &cases, message!("findings.overflow-coded-otherwise"))?;
    Some(draft.seen_if(suspected > 0, || message!("findings.seen-suspected", n = grouped(suspected))))
}
