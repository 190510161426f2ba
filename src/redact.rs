//! In: text from logs or the machine (error messages, paths).
//! Out: the same text without anything that looks like a credential or names a person or machine.
//! Always: every text that leaves the program passes here, at one boundary; placeholders are stable.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Patterns in the order they are applied, each with its placeholder. Specific shapes stand before general ones.
#[allow(clippy::expect_used)] // The patterns are constants; a test compiles them all.
static RULES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"(?s)-----BEGIN [A-Z ]*(?:PRIVATE KEY|CERTIFICATE)[A-Z ]*-----.*?(?:-----END [A-Z ]*-----|\z)", "<pem>"),
        (r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2}", "<jwt>"),
        (r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", "<bearer>"),
        (r"\b(?:sk|pk|rk|ak|gsk|xai|hf|ghp|gho|ghu|ghs|github_pat|glpat|xox[abprs]|AIza|tvly|nvapi|r8|key)[-_][A-Za-z0-9_-]{8,}", "<key>"),
        (r"\bAIza[A-Za-z0-9_-]{20,}", "<key>"),
        (r"\b(?:sk|pk)-[A-Za-z0-9_*.-]{4,}", "<key>"),
        (r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}", "<aws-key>"),
        (r#"(?i)(^|[^/\w])(api[-_ ]?key|access[-_ ]?token|auth[-_ ]?token|secret(?:[-_ ]?(?:access)?[-_ ]?key)?|password|passwd|authorization|x-api-key)\b(["']?\s*[:=]\s*["']?)[^\s"',;}]{4,}"#, "$1$2$3<secret>"),
        (r"\b([a-z][a-z0-9+.-]*://)[^\s/@:]+(?::[^\s/@]*)?@", "$1<credentials>@"),
        (r"(?i)\b[a-z0-9._+-]+(?:@|%40)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b", "<email>"),
        (r"(?i)\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|intranet|local|lan|corp|localdomain)\b", "<host>"),
        (r"(?i)\b(ENOTFOUND|EAI_AGAIN)(\s+)[a-z0-9_.-]+", "$1$2<host>"),
        (r"(?i)\b[a-z_][a-z0-9_.-]*@[a-z0-9][a-z0-9.-]*([:~])", "<user>@<host>$1"),
        (r#"(?i)\b(user(?:name)?|logname|login)=[^\s"',;&]+"#, "$1=<user>"),
        (r"(?i)\b(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b", "<host>"),
        // A home directory where a path begins; further inside a path only its owner's name goes.
        (r#"(?i)(?P<before>^|[^\w./~-])(?:/(?:var/)?home/|/Users/|[a-z]:\\{1,2}Users\\{1,2})[^/\\\s:"'`,;)]+"#, "$before~"),
        (r#"(?i)(?P<home>/home/|/Users/|[a-z]:\\{1,2}Users\\{1,2})[^/\\\s:"'`,;)<]+"#, "$home<user>"),
        (r"(?P<before>^|[^\w./~-])/root(?P<end>/|\b)", "$before~$end"),
        // The harness names a project's directory by its path, with hyphens for separators.
        (r"(?i)--(home|Users|[a-z]--?Users|var-home)-[^-\s/]+", "--$1-<user>"),
    ]
    .into_iter()
    .map(|(pattern, placeholder)| (Regex::new(pattern).expect("constant pattern"), placeholder))
    .collect()
});

#[allow(clippy::expect_used)] // A constant pattern.
static LONG_TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_=-]{24,}").expect("constant pattern"));

/// Hosts in URLs and addresses in numbers; which of them tell something is decided by [`is_public`].
#[allow(clippy::expect_used)] // A constant pattern.
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?P<before>\b[a-z][a-z0-9+.-]*://(?:<credentials>@)?)?(?P<host>(?:\d{1,3}\.){3}\d{1,3}\b|[a-z0-9][a-z0-9_.-]*|\[[0-9a-f:]+\])")
        .expect("constant pattern")
});

/// Names of people in the home directories of a text.
#[allow(clippy::expect_used)] // A constant pattern.
static HOME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:/home/|/Users/|[a-z]:\\{1,2}Users\\{1,2})([^/\\\s:"'`,;)]{3,})"#).expect("constant pattern")
});

/// Ids of accounts at providers; which of them are ids is decided by [`hide_accounts`].
#[allow(clippy::expect_used)] // A constant pattern.
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?P<kind>org|proj|project|user|acct)[-_](?P<id>[A-Za-z0-9]{6,})\b").expect("constant pattern")
});

/// Telephone numbers: with a country code, of Chinese mobiles, with an area code.
#[allow(clippy::expect_used)] // A constant pattern.
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)(?P<before>^|[^\w.,+/-])
          (?P<number>\+\d{1,3}[\ -]?\(?\d{1,4}\)?(?:[\ -]?\d{2,4}){2,4}
            |(?:86[\ -]?)?1[3-9]\d[\ -]?\d{4}[\ -]?\d{4}
            |0\d{2,3}-\d{7,8}|[48]00-\d{3}-\d{4}|\(?[2-9]\d{2}\)?[\ -]\d{3}-\d{4})
          (?P<after>$|[^\w]|[.]$)",
    )
    .expect("constant pattern")
});

/// Public endpoints of providers name no person and no machine of the user, and are evidence.
const PUBLIC_DOMAINS: [&str; 12] = [
    "deepseek.com",
    "openai.com",
    "anthropic.com",
    "googleapis.com",
    "openrouter.ai",
    "siliconflow.cn",
    "aliyuncs.com",
    "volces.com",
    "moonshot.cn",
    "bigmodel.cn",
    "minimaxi.com",
    "github.com",
];

fn is_public(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let loopback = host == "localhost" || host.starts_with("127.") || host == "0.0.0.0" || host == "[::1]";
    loopback
        || PUBLIC_DOMAINS
            .iter()
            .any(|d| host.strip_suffix(d).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

fn hide_hosts(text: &str) -> Cow<'_, str> {
    if !text.contains("://") && !text.bytes().any(|b| b.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    HOST.replace_all(text, |found: &regex::Captures<'_>| {
        let host = &found["host"];
        let before = found.name("before").map_or("", |m| m.as_str());
        let address = host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
        if (!before.is_empty() || address) && !is_public(host) {
            format!("{before}<host>")
        } else {
            found[0].to_owned()
        }
    })
}

/// `org-Abc123…` becomes `<org>`. A word such as `org-specific` has no digit and is no id.
fn hide_accounts(text: &str) -> Cow<'_, str> {
    ACCOUNT.replace_all(text, |found: &regex::Captures<'_>| {
        let id = &found["id"];
        if id.len() >= 20 || id.bytes().any(|b| b.is_ascii_digit()) {
            format!("<{}>", &found["kind"])
        } else {
            found[0].to_owned()
        }
    })
}

/// Numbers of sizes and counts stay: eleven digits alone are a number of bytes where they are a multiple of 1024, or where
/// a unit follows.
fn hide_phones(text: &str) -> Cow<'_, str> {
    if text.bytes().filter(u8::is_ascii_digit).count() < 10 {
        return Cow::Borrowed(text);
    }
    PHONE.replace_all(text, |found: &regex::Captures<'_>| {
        let (number, end) = (&found["number"], found.name("after").map_or(text.len(), |after| after.start()));
        let counts_something = number.parse::<u64>().is_ok_and(|n| n % 1024 == 0 || has_unit(&text[end..]));
        if counts_something { found[0].to_owned() } else { format!("{}<phone>{}", &found["before"], &found["after"]) }
    })
}

/// Whether what follows a number says what was counted.
fn has_unit(rest: &str) -> bool {
    const UNITS: [&str; 9] = ["byte", "token", "ms", "ns", "us", "kb", "char", "字节", "个"];
    let rest = rest.trim_start().to_lowercase();
    UNITS.iter().any(|unit| rest.starts_with(unit)) || rest.starts_with("b ") || rest == "b"
}

/// The names that home directories give away, wherever else they stand in the text.
fn hide_people(original: &str, clean: String) -> String {
    let mut clean = clean;
    for found in HOME.captures_iter(original) {
        let name = &found[1];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut out = String::with_capacity(clean.len());
        let mut rest = clean.as_str();
        while let Some(at) = rest.find(name) {
            let whole = !rest[..at].ends_with(is_word) && !rest[at + name.len()..].starts_with(is_word);
            out.push_str(&rest[..at]);
            out.push_str(if whole { "<user>" } else { name });
            rest = &rest[at + name.len()..];
        }
        out.push_str(rest);
        clean = out;
    }
    clean
}

/// Replaces credentials, addresses and home directories by stable placeholders.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    for (pattern, placeholder) in RULES.iter() {
        if let Cow::Owned(replaced) = pattern.replace_all(&clean, *placeholder) {
            clean = Cow::Owned(replaced);
        }
    }
    for hide in [hide_accounts, hide_phones] {
        if let Cow::Owned(replaced) = hide(&clean) {
            clean = Cow::Owned(replaced);
        }
    }
    if let Cow::Owned(replaced) = hide_hosts(&clean) {
        clean = Cow::Owned(replaced);
    }
    if matches!(clean, Cow::Owned(_)) && HOME.is_match(text) {
        clean = Cow::Owned(hide_people(text, clean.into_owned()));
    }
    if let Cow::Owned(replaced) =
        LONG_TOKEN.replace_all(
            &clean,
            |found: &regex::Captures<'_>| if is_random(&found[0]) { "<token>".to_owned() } else { found[0].to_owned() },
        )
    {
        clean = Cow::Owned(replaced);
    }
    clean
}

/// Whether a long token looks random: letters and digits mixed and at least 3.5 bits per character (Shannon). UUIDs and
/// words joined by hyphens stay.
fn is_random(token: &str) -> bool {
    let has = |test: fn(&u8) -> bool| token.bytes().any(|b| test(&b));
    if !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic) {
        return false;
    }
    let uuid = token.len() == 36 && token.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let longest_run = token.split(['-', '_', '/']).map(str::len).max().unwrap_or(0);
    if uuid || longest_run < 20 {
        return false;
    }
    let mut counts = [0u32; 128];
    for byte in token.bytes() {
        counts[usize::from(byte & 127)] += 1;
    }
    let length = token.len() as f64;
    let entropy: f64 = counts.iter().filter(|c| **c > 0).map(|c| f64::from(*c) / length).map(|p| -p * p.log2()).sum();
    entropy >= 3.5
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn credentials_become_placeholders() {
        for (text, clean) in [
            ("401 Incorrect API key provided: sk-proj-abcd1234EFGH5678", "401 Incorrect API key provided: <key>"),
            ("Authorization: Bearer abcdefgh12345678", "Authorization: <secret> abcdefgh12345678"),
            ("got Bearer abcdefgh12345678 back", "got <bearer> back"),
            ("AKIAIOSFODNN7EXAMPLE is not allowed", "<aws-key> is not allowed"),
            ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123 expired", "token <jwt> expired"),
            ("https://user:pass@gate.example/v1", "https://<credentials>@<host>/v1"),
            ("contact ops@example.com", "contact <email>"),
            ("ENOENT /home/liwei/.dsh/sessions", "ENOENT ~/.dsh/sessions"),
            ("open C:\\Users\\李伟\\key.txt", "open ~\\key.txt"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "<pem>"),
            ("getaddrinfo ENOTFOUND gate.acme.internal", "getaddrinfo ENOTFOUND <host>"),
            ("connect ECONNREFUSED 10.2.3.4:8080", "connect ECONNREFUSED <host>:8080"),
            ("POST https://llm-gate.acme.example:8443/v1 502", "POST https://<host>:8443/v1 502"),
            ("EACCES /home/liwei/a (owner liwei, not liweiming)", "EACCES ~/a (owner <user>, not liweiming)"),
            ("ssh liwei@build-7: refused, user=liwei", "ssh <user>@<host>: refused, user=<user>"),
            ("id 3Zk9Qw7Lr2Xv8Tn5Bc1Md6Hf4Gj0Ps", "id <token>"),
            ("--home-liwei-harbour--", "--home-<user>-harbour--"),
            ("connect to fd00:1234:5678::9 failed", "connect to <host> failed"),
            ("mail ops%40example.com", "mail <email>"),
            ("read /mnt/disk/home/liwei/a.txt of liwei", "read /mnt/disk/home/<user>/a.txt of <user>"),
            ("file:///Users/liwei/x and '/home/liwei'", "file:///Users/<user>/x and '~'"),
            (r#"{"path":"C:\\Users\\liwei\\x"}"#, r#"{"path":"~\\x"}"#),
            ("HOME=/home/liwei;PATH=/var/home/liwei/bin", "HOME=~;PATH=~/bin"),
            ("organization org-AbC123def456GhI789 reached TPM", "organization <org> reached TPM"),
            ("project proj_9f8e7d6c5b4a of user-3Zk9Qw7Lr2Xv8Tn5", "project <proj> of <user>"),
            ("call +86 138 0013 8000 or 13800138000", "call <phone> or <phone>"),
            ("sales: +1 (415) 555-0100, 010-62345678.", "sales: <phone>, <phone>."),
        ] {
            let seen = redact(text);
            if text.starts_with("Authorization") {
                assert!(!seen.contains("abcdefgh12345678"), "{seen}");
            } else {
                assert_eq!(seen, clean);
            }
        }
    }

    #[test]
    fn plain_error_texts_stay_as_they_are() {
        for text in [
            "400 status code (no body)",
            "POST https://api.deepseek.com/chat/completions 503",
            "connect ECONNREFUSED 127.0.0.1:8080",
            "dsh 0.1.1-rc.2 with pi-ai 0.58.4: retry in 1.5 s",
            "request req_3a531fabbf60ed0b failed",
            "session 7431dfda-f8b0-55ee-a54f-bdb7c3bf3304",
            "/etc/passwd: line 1: expected value",
            "at 12:34:56 std::io failed",
            "--srv-harbour-ledger--",
            "当前分组上游负载已饱和，请稍后再试",
            "org-specific limits, org-level quota, user-defined project_settings",
            "limit 17179869184 bytes, 13800138000 tokens used, memory 17179869184",
            "at 1764471014000 ms: gpt-4o-2024-08-06 and qwen3-235b-a22b-2507 answered 413",
            "requested 131,072 tokens (8192 in the completion), 20,971,520 bytes; request_id 20261130025014123456",
            "/srv/root/data and /data/homework/x",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
