//! The two languages say the same things, and the program says nothing that they do not know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{AREAS, Language, fill};
use crate::message;

fn keys(text: &str) -> BTreeMap<String, String> {
    let table: toml::Table = text.parse().expect("the texts are TOML");
    table
        .into_iter()
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_else(|| panic!("{key} is no text")).to_owned()))
        .collect()
}

/// Names of the placeholders; a choice by number is left out, because Chinese has none.
fn placeholders(text: &str) -> BTreeSet<String> {
    let parts = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    parts.map(|(inside, _)| inside).filter(|inside| !inside.contains('?')).map(str::to_owned).collect()
}

#[test]
fn both_languages_have_the_same_keys_and_placeholders() {
    for (area, english, chinese) in AREAS {
        let (english, chinese) = (keys(english), keys(chinese));
        assert_eq!(english.keys().collect::<Vec<_>>(), chinese.keys().collect::<Vec<_>>(), "keys of {area}");
        for (key, text) in &english {
            assert_eq!(placeholders(text), placeholders(&chinese[key]), "placeholders of {area}.{key}");
        }
    }
}

#[test]
fn every_file_of_texts_is_registered() {
    for tag in ["en", "zh"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/lang").join(tag);
        for file in fs::read_dir(folder).unwrap() {
            let name = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
            // The help has its English in the arguments themselves; `cli::help` tests its Chinese.
            let is_help = (tag, name.as_str()) == ("zh", "help");
            assert!(
                is_help || AREAS.iter().any(|area| area.0 == name),
                "{tag}/{name}.toml is not in the list of areas"
            );
        }
    }
}

/// String literals of the source that look like keys: `"area.some-key"` with a registered area.
fn keys_in_source(folder: &Path, found: &mut BTreeSet<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            keys_in_source(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("lang/tests.rs") {
            for literal in fs::read_to_string(&path).unwrap().split('"') {
                let Some((area, name)) = literal.split_once('.') else { continue };
                let is_key =
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
                if is_key
                    && AREAS.iter().any(|known| known.0 == area)
                    && !["toml", "rs", "html", "json", "md", "tsv", "csv", "yaml", "zstd"].contains(&name)
                {
                    found.insert((literal.to_owned(), path.clone()));
                }
            }
        }
    }
}

#[test]
fn every_key_of_the_source_is_known_and_every_text_is_used() {
    let mut found = BTreeSet::new();
    keys_in_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    // Rules name their texts by their id.
    for rule in crate::findings::registry::RULES {
        let file = PathBuf::from(format!("src/findings/rules/{}.rs", rule.id.replace('-', "_")));
        found.extend(rule.docs.keys().map(|key| (key.to_owned(), file.clone())));
    }
    let known: BTreeSet<String> = AREAS
        .iter()
        .flat_map(|(area, english, _)| keys(english).into_keys().map(move |k| format!("{area}.{k}")))
        .collect();
    for (key, path) in &found {
        assert!(known.contains(key), "{key} in {} has no text", path.display());
    }
    let used: BTreeSet<&String> = found.iter().map(|(key, _)| key).collect();
    let unused: Vec<&String> = known.iter().filter(|key| !used.contains(key)).collect();
    assert!(unused.is_empty(), "texts that nothing says: {unused:?}");
}

#[test]
fn chinese_texts_are_chinese() {
    for (area, _, chinese) in AREAS {
        for (key, text) in keys(chinese) {
            let has_letters = text
                .split('{')
                .flat_map(|s| s.split('}').next_back())
                .any(|s| s.chars().filter(|c| c.is_ascii_alphabetic()).count() > 12);
            let has_chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(has_chinese || !has_letters, "{area}.{key} is not translated: {text}");
        }
    }
}

#[test]
fn templates_choose_by_number_and_keep_what_they_do_not_know() {
    let values = [("n", "1".to_owned()), ("code", "UNKNOWN".to_owned())];
    assert_eq!(fill("{n} {n?failure|failures} of {code} {other}", &values), "1 failure of UNKNOWN {other}");
    assert_eq!(fill("{n?a|b}, {", &[("n", "2".to_owned())]), "b, {");
    assert_eq!(fill("{code}", &[("code", "{code} 中".to_owned())]), "{code} 中");
}

#[test]
fn the_locale_decides_the_language() {
    for (locale, language) in [
        ("zh_CN.UTF-8", Language::Chinese),
        ("zh", Language::Chinese),
        ("ZH_TW", Language::Chinese),
        ("en_GB", Language::English),
        ("C", Language::English),
    ] {
        assert_eq!(Language::from_locale(locale), language, "{locale}");
    }
}

#[test]
fn a_sentence_is_said_in_both_languages() {
    let message = message!("common.and-more", what = "torn-frame", n = 3);
    assert_eq!(Language::English.render(&message), "torn-frame (and 3 more)");
    assert_eq!(Language::Chinese.render(&message), "torn-frame（另有 3 条）");
}
