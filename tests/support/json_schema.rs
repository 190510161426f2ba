//! As much of JSON Schema draft 4 as the schema of SARIF uses; any other keyword is an error, so that nothing is passed
//! over. The crates for it would switch on features of shared dependencies and build those a second time.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use regex::Regex;
use serde_json::Value;

/// What does not fit, with its place; empty for a valid document.
pub fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    Schema { root: schema, errors: &mut errors }.check(schema, document, "$");
    errors
}

struct Schema<'a> {
    root: &'a Value,
    errors: &'a mut Vec<String>,
}

impl Schema<'_> {
    fn fail(&mut self, at: &str, why: impl std::fmt::Display) {
        self.errors.push(format!("{at}: {why}"));
    }

    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(keywords) = schema.as_object() else { return self.fail(at, "the schema is no object") };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                "$schema" | "title" | "id" | "description" | "definitions" | "default" => {}
                "$ref" => {
                    let pointer = wanted.as_str().unwrap().trim_start_matches('#');
                    let target = self.root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in the schema"));
                    self.check(target, value, at);
                }
                "type" => self.kind(wanted, value, at),
                "enum" if !wanted.as_array().unwrap().contains(value) => self.fail(at, format!("{value} not allowed")),
                "required" => {
                    for name in wanted.as_array().unwrap().iter().filter_map(Value::as_str) {
                        if value.is_object() && value.get(name).is_none() {
                            self.fail(at, format!("{name} is missing"));
                        }
                    }
                }
                "properties" => {
                    for (name, child) in value.as_object().into_iter().flatten() {
                        if let Some(own) = wanted.get(name) {
                            self.check(own, child, &format!("{at}.{name}"));
                        }
                    }
                }
                "additionalProperties" => {
                    let known = schema.get("properties");
                    for (name, child) in value.as_object().into_iter().flatten() {
                        if known.is_some_and(|known| known.get(name).is_some()) {
                            continue;
                        }
                        match wanted {
                            Value::Bool(true) => {}
                            Value::Bool(false) => self.fail(at, format!("{name} is not known")),
                            other => self.check(other, child, &format!("{at}.{name}")),
                        }
                    }
                }
                "items" => {
                    for (index, child) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, child, &format!("{at}[{index}]"));
                    }
                }
                "minItems" => {
                    if value.as_array().is_some_and(|items| (items.len() as u64) < wanted.as_u64().unwrap()) {
                        self.fail(at, "too few items");
                    }
                }
                "uniqueItems" => {
                    let items: Vec<String> = value.as_array().into_iter().flatten().map(Value::to_string).collect();
                    let distinct: std::collections::BTreeSet<&String> = items.iter().collect();
                    if wanted == &Value::Bool(true) && distinct.len() < items.len() {
                        self.fail(at, "an item stands twice");
                    }
                }
                "minimum" if value.as_f64().is_some_and(|v| v < wanted.as_f64().unwrap()) => self.fail(at, "too small"),
                "maximum" if value.as_f64().is_some_and(|v| v > wanted.as_f64().unwrap()) => self.fail(at, "too large"),
                "pattern" => {
                    let pattern = Regex::new(wanted.as_str().unwrap()).unwrap();
                    if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                        self.fail(at, format!("{value} does not match {pattern}"));
                    }
                }
                "format" => {
                    // Of the formats only URIs occur in our documents: no spaces, no raw non-ASCII.
                    if value.as_str().is_some_and(|text| !text.bytes().all(|b| b.is_ascii_graphic())) {
                        self.fail(at, format!("{value} is no {wanted}"));
                    }
                }
                "anyOf" | "oneOf" => {
                    let fitting = wanted.as_array().unwrap().iter().filter(|option| {
                        let mut errors = Vec::new();
                        Schema { root: self.root, errors: &mut errors }.check(option, value, at);
                        errors.is_empty()
                    });
                    let count = fitting.count();
                    if count == 0 || (keyword == "oneOf" && count > 1) {
                        self.fail(at, format!("{count} of {keyword} fit"));
                    }
                }
                "enum" | "minimum" | "maximum" => {}
                other => panic!("the schema uses {other}, which this check does not know"),
            }
        }
    }

    fn kind(&mut self, wanted: &Value, value: &Value, at: &str) {
        let fits = |kind: &str| match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "null" => value.is_null(),
            other => panic!("no type {other}"),
        };
        let fits = match wanted {
            Value::String(kind) => fits(kind),
            kinds => kinds.as_array().unwrap().iter().filter_map(Value::as_str).any(fits),
        };
        if !fits {
            self.fail(at, format!("{value} is not {wanted}"));
        }
    }
}
