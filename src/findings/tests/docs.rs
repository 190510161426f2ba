//! The pages under `docs/rules/` are the program's own texts. After a change: `RULES_WRITE=1 cargo test --lib findings`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::findings::registry::RULES;
use crate::report::lang::Language;
use crate::report::rules::{index_markdown, markdown};

#[test]
fn the_pages_of_the_rules_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for (language, suffix) in [(Language::English, ""), (Language::Chinese, ".zh")] {
        pages.insert(format!("README{suffix}.md"), index_markdown(RULES, language));
        for rule in RULES {
            pages.insert(format!("{}{suffix}.md", rule.id), markdown(rule, language));
        }
    }
    if std::env::var_os("RULES_WRITE").is_some() {
        fs::create_dir_all(&folder).unwrap();
        for (name, page) in &pages {
            fs::write(folder.join(name), page).unwrap();
        }
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(pages.contains_key(&name), "docs/rules/{name} belongs to no rule");
    }
    for (name, page) in pages {
        let written = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert_eq!(written, page, "docs/rules/{name} is stale: RULES_WRITE=1 cargo test --lib findings");
    }
}
