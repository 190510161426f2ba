//! A switch to a larger model hid a real overflow: the success says nothing about the first model.

use crate::evidence::FixableBy;
use crate::findings::rule::rule;
use crate::findings::{Confidence, Context, Draft, Unit, route_name};
use crate::message;
use crate::report::numbers::grouped;

rule!("masked-overflow", Warning, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    // Without a failure before it the switch avoided an overflow, which is no fault.
    let found: Vec<_> = context
        .masked
        .route_switches
        .iter()
        .filter(|switch| switch.before_failed)
        .filter_map(|switch| {
            let (session, first) = context.attempt(switch.session, switch.before)?;
            let (_, second) = context.attempt(switch.session, switch.after)?;
            Some((switch, session, first, second))
        })
        .collect();
    let (largest, ..) = found.iter().max_by_key(|(switch, ..)| switch.tokens)?;
    let draft = Draft::new(found.len() as u64, Unit::Attempts, message!("findings.masked-overflow"))
        .confidence(Confidence::High)
        .fixable_by(FixableBy::Request)
        .by_route(found.iter().map(|(_, _, first, _)| first.route.as_ref()))
        .seen(message!(
            "findings.seen-switch",
            tokens = grouped(largest.tokens),
            window = grouped(largest.first_window),
        ));
    Some(found.into_iter().fold(draft, |draft, (_, session, first, second)| {
        let text =
            message!("findings.example-switch", first = route_name(&first.route), second = route_name(&second.route));
        draft.place(session, second.seq, text)
    }))
}
