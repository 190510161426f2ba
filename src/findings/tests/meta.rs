//! Rules about the rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::findings::registry::RULES;
use crate::report::lang::Language;

fn source(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/findings").join(folder)
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(source(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_rule_file_is_registered_and_named_as_its_id() {
    let stems: BTreeSet<String> = files("rules")
        .iter()
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|stem| stem != "mod")
        .collect();
    let ids: BTreeSet<String> = RULES.iter().map(|rule| rule.id.replace('-', "_")).collect();
    assert_eq!(stems, ids);
    assert_eq!(ids.len(), RULES.len(), "no id twice");
    for rule in RULES {
        assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", rule.id);
    }
}

#[test]
fn every_rule_has_a_firing_and_a_silent_test() {
    let tests: String = files("tests").iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for rule in RULES {
        let name = rule.id.replace('-', "_");
        assert!(tests.contains(&format!("fn {name}_fires()")), "{name}_fires");
        assert!(tests.contains(&format!("fn {name}_is_silent_")), "{name}_is_silent_…");
    }
}

#[test]
fn every_rule_has_its_page_in_both_languages() {
    for rule in RULES {
        for language in [Language::English, Language::Chinese] {
            for key in rule.docs.keys() {
                let text = language.say(key);
                assert!(text != key && text.chars().count() >= 3, "{key} in {language:?}: {text}");
            }
            let name = language.say(rule.docs.name);
            assert!(!name.ends_with(['.', '。']) && name.chars().count() <= 60, "{name}");
            for key in [rule.docs.what, rule.docs.why, rule.docs.advice] {
                let text = language.say(key);
                assert!(text.ends_with(['.', '。', ')']), "{key} is a sentence: {text}");
            }
        }
    }
}

/// The title's key is `findings.<id>`: it begins with the counted cases, is one line, and has no full stop.
#[test]
fn titles_begin_with_a_number_and_end_without_a_full_stop() {
    for rule in RULES {
        for tag in ["en", "zh"] {
            let file = source("../report/lang").join(tag).join("findings.toml");
            let table: toml::Table = fs::read_to_string(file).unwrap().parse().unwrap();
            let title =
                table.get(rule.id).and_then(|text| text.as_str()).unwrap_or_else(|| panic!("title of {}", rule.id));
            assert!(title.starts_with("{cases}"), "{tag}: {title}");
            assert!(!title.ends_with(['.', '。']) && !title.contains('\n'), "{tag}: {title}");
            assert!(title.chars().count() <= 110, "{tag}: {title}");
        }
        let file = source("rules").join(format!("{}.rs", rule.id.replace('-', "_")));
        let code = fs::read_to_string(file).unwrap();
        assert!(code.contains(&format!("\"findings.{}\"", rule.id)), "{} says its own title", rule.id);
        assert!(code.starts_with("//! "), "{} begins with what it is about", rule.id);
    }
}
