//! "Did you mean": the known names that are nearest to what was typed.

/// Names that count as near: at least this similar (Jaro-Winkler, 0 to 1), or holding what was typed.
const NEAR: f64 = 0.7;

/// Up to three of the `known` names, the nearest first; equally near ones in the order of the alphabet.
pub fn nearest<'a>(known: impl Iterator<Item = &'a str>, wanted: &str) -> Vec<&'a str> {
    let lower = wanted.to_lowercase();
    let score = |name: &str| {
        let name = name.to_lowercase();
        // A beginning is typed more often than a whole id, so it is compared with a beginning of the same length.
        let beginning: String = name.chars().take(lower.chars().count()).collect();
        let inside = f64::from(u8::from(!lower.is_empty() && name.contains(&lower)));
        inside + strsim::jaro_winkler(&beginning, &lower).max(strsim::jaro_winkler(&name, &lower))
    };
    let mut ranked: Vec<(f64, &str)> = known.map(|name| (score(name), name)).filter(|(s, _)| *s >= NEAR).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.dedup_by_key(|(_, name)| *name);
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_the_session() {
        let known = ["7431dfda-f8b0-55ee", "e2-44e89473", "recover2-13ab"];
        assert_eq!(nearest(known.into_iter(), "7431dfad"), ["7431dfda-f8b0-55ee"]);
        assert_eq!(nearest(known.into_iter(), "13ab"), ["recover2-13ab"]);
        assert!(nearest(known.into_iter(), "zzzz").is_empty());
    }
}
