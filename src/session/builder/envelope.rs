//! What is sent beside the surface: route, window, output limit.

use std::collections::HashMap;
use std::sync::Arc;

use crate::event::Body;
use crate::request::Sending;
use crate::session::Route;

/// The envelope of the requests that follow.
#[derive(Default)]
pub(super) struct Envelope {
    pub(super) route: Arc<Route>,
    pub(super) window: Option<u64>,
    pub(super) window_of: HashMap<Route, u64>,
    pub(super) max_tokens: Option<u64>,
    pub(super) reasoning_effort: Option<Arc<str>>,
}

impl Envelope {
    pub(super) fn sending(&self) -> Sending<'_> {
        Sending {
            provider: &self.route.provider,
            model: &self.route.model,
            window: self.window,
            max_tokens: self.max_tokens,
            effort: self.reasoning_effort.as_deref(),
        }
    }

    pub(super) fn apply(&mut self, body: &Body<'_>) {
        match body {
            Body::RequestHeader(header) => {
                let route = Route { provider: header.provider.clone(), model: header.model.clone() };
                if *self.route != route {
                    self.window = self.window_of.get(&route).copied();
                    self.route = Arc::new(route);
                }
                self.max_tokens = header.max_tokens;
                self.reasoning_effort = header.reasoning_effort.as_deref().map(Arc::from);
            }
            Body::RequestContext { provider, model, window } => {
                let route = Route {
                    provider: provider.clone().unwrap_or_else(|| self.route.provider.clone()),
                    model: model.clone().unwrap_or_else(|| self.route.model.clone()),
                };
                if route == *self.route {
                    self.window = *window;
                }
                match window {
                    Some(window) => self.window_of.insert(route, *window),
                    None => self.window_of.remove(&route),
                };
            }
            _ => {}
        }
    }
}
