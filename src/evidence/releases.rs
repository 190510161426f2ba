//! Which rules a release has: the branches of the harness's classifier and the overflow rules of its pi-ai.

use std::cmp::Ordering;

/// How pi-ai treats a 400 or 413 without a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PiAiRules {
    /// pi-ai 0.82.1 to 0.85.1: an overflow, for every provider.
    UpTo085,
    /// pi-ai 0.86.0 to 1.5: an overflow only for provider `cerebras`.
    From086To15,
    /// pi-ai 1.6.0 and later: as before, and every text with a leading HTTP 413 is an overflow.
    From16,
}

/// How many branches `llm-pi-ai` tries before it falls back to `PI_AI_ERROR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BranchOrder {
    /// Up to harness 0.1.0-rc.7: eight, without the one for body sizes.
    Eight,
    /// Later: nine.
    Nine,
}

/// The rules in force for one pair of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReleaseRules {
    /// Branches of the harness.
    pub branches: BranchOrder,
    /// Overflow rules of pi-ai.
    pub pi_ai: PiAiRules,
}

/// A harness release with the pi-ai it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Harness version, or `later` for releases not published when this list was made.
    pub dsh: &'static str,
    /// pi-ai version.
    pub pi_ai: &'static str,
    /// Whether the pair is a guess: the sources do not name it.
    pub assumed: bool,
    /// Its rules.
    pub rules: ReleaseRules,
}

/// Releases at which a classification can change, oldest first.
pub const KNOWN_RELEASES: [Release; 6] = [
    release("0.1.0-rc.7", "0.82.1", false, BranchOrder::Eight, PiAiRules::UpTo085),
    release("0.1.1", "0.82.1", false, BranchOrder::Nine, PiAiRules::UpTo085),
    release("0.1.7-alpha.2", "0.85.1", false, BranchOrder::Nine, PiAiRules::UpTo085),
    release("0.2.0-rc.2", "0.86.0", false, BranchOrder::Nine, PiAiRules::From086To15),
    release("later", "1.5.0", true, BranchOrder::Nine, PiAiRules::From086To15),
    release("later", "1.6.0", true, BranchOrder::Nine, PiAiRules::From16),
];

const fn release(
    dsh: &'static str,
    pi_ai: &'static str,
    assumed: bool,
    branches: BranchOrder,
    rules: PiAiRules,
) -> Release {
    Release { dsh, pi_ai, assumed, rules: ReleaseRules { branches, pi_ai: rules } }
}

/// A version as numbers and a pre-release mark; `1.2` reads as `1.2.0`.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    /// `None` for a release; a pre-release sorts below it.
    mark: Option<Vec<Mark>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Number(u64),
    Word(String),
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let (core, mark) = match text.split_once('-') {
            Some((core, mark)) => (core, Some(mark)),
            None => (text, None),
        };
        let mut numbers = [0; 3];
        for (place, part) in core.split('.').enumerate() {
            *numbers.get_mut(place)? = part.parse().ok()?;
        }
        let mark = mark.map(|mark| {
            mark.split('.')
                .map(|part| part.parse().map_or_else(|_| Mark::Word(part.to_owned()), Mark::Number))
                .collect()
        });
        Some(Self { numbers, mark })
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (&self.mark, &other.mark) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(mine), Some(theirs)) => mine.cmp(theirs),
        })
    }
}

/// Whether `version` is at least `floor`; `None` when either cannot be read.
fn at_least(version: &str, floor: &str) -> Option<bool> {
    Some(Version::parse(version)?.compare(&Version::parse(floor)?) != Ordering::Less)
}

impl ReleaseRules {
    /// Rules for versions as a user gives them, with whether they are assumed.
    ///
    /// A missing pi-ai version follows from the harness version; with neither, the newest published pair
    /// (0.2.0-rc.2) is assumed. Versions outside the known ranges get the nearest rules, assumed.
    #[must_use]
    pub fn for_versions(dsh: Option<&str>, pi_ai: Option<&str>) -> (Self, bool) {
        let default = KNOWN_RELEASES[3].rules;
        let mut assumed = false;
        let branches = match dsh.and_then(|dsh| at_least(dsh, "0.1.0-rc.8")) {
            Some(true) => BranchOrder::Nine,
            Some(false) => BranchOrder::Eight,
            None => {
                assumed |= pi_ai.is_none();
                default.branches
            }
        };
        let rules = match pi_ai {
            Some(version) => PiAiRules::for_version(version),
            None => match dsh {
                Some(dsh) => PiAiRules::for_harness(dsh),
                None => None,
            },
        };
        let (rules, guessed) = rules.unwrap_or((default.pi_ai, true));
        (Self { branches, pi_ai: rules }, assumed || guessed)
    }
}

impl PiAiRules {
    /// Rules of a pi-ai version, with whether the version lies outside the described ranges.
    #[must_use]
    pub fn for_version(version: &str) -> Option<(Self, bool)> {
        if at_least(version, "1.6.0-0")? {
            return Some((Self::From16, at_least(version, "1.6.1")?));
        }
        if at_least(version, "0.86.0-0")? {
            return Some((Self::From086To15, false));
        }
        Some((Self::UpTo085, !at_least(version, "0.82.1")?))
    }

    /// Rules of the pi-ai that a harness version carries, with whether the sources leave it open.
    fn for_harness(dsh: &str) -> Option<(Self, bool)> {
        if at_least(dsh, "0.2.0-rc.3")? {
            return Some((Self::From086To15, true));
        }
        if at_least(dsh, "0.2.0-rc.2")? {
            return Some((Self::From086To15, false));
        }
        let open = at_least(dsh, "0.1.7-alpha.3")? || !at_least(dsh, "0.1.0-rc.7")?;
        Some((Self::UpTo085, open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_npm_sorts_them() {
        let sorted = ["0.1.0-rc.7", "0.1.0-rc.8", "0.1.0-rc.10", "0.1.0", "0.1.1-alpha", "0.1.1", "1.5"];
        for pair in sorted.windows(2) {
            assert_eq!(at_least(pair[1], pair[0]), Some(true), "{pair:?}");
            assert_eq!(at_least(pair[0], pair[1]), Some(false), "{pair:?}");
        }
        assert_eq!(at_least("garbage", "1.0"), None);
    }

    #[test]
    fn known_releases_agree_with_their_versions() {
        for release in KNOWN_RELEASES {
            let dsh = (release.dsh != "later").then_some(release.dsh);
            let (rules, assumed) = ReleaseRules::for_versions(dsh, Some(release.pi_ai));
            assert_eq!(rules, release.rules, "{release:?}");
            assert!(!assumed, "{release:?}");
        }
    }

    #[test]
    fn a_release_not_described_is_assumed() {
        assert!(ReleaseRules::for_versions(None, None).1);
        assert!(ReleaseRules::for_versions(Some("0.1.0-rc.3"), None).1);
        assert!(ReleaseRules::for_versions(Some("0.1.9"), None).1);
        assert!(ReleaseRules::for_versions(Some("0.3.0"), None).1);
        assert!(!ReleaseRules::for_versions(Some("0.1.4"), None).1);
    }
}
