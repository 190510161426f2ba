//! Cuts text where o200k's pattern cuts it, for the characters that logs are mostly made of. The pattern
//! (OpenAI, tiktoken, `o200k_base`), first alternative that matches:
//!
//! 1. a word: one character before it that is neither letter, digit nor line end; upper-case letters, then lower-case
//!    ones (letters without case count as both); `'s 't 're 've 'm 'll 'd` behind it
//! 2. one to three digits
//! 3. other characters, a space before them, line ends and slashes behind them
//! 4. white space up to its last line end; else white space without its last character, where something follows
//!
//! Pieces of the text are tokenized one by one, so what a piece is worth can be remembered. Text with a character that
//! is not classified here is left to the encoder, from the last line end before it to the next line end behind it.

/// A piece that the encoder would not cut, or text that was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    /// One piece of the pattern.
    Known(&'a str),
    /// Text for the encoder.
    Rest(&'a str),
}

/// The pieces of a text in order.
pub struct Words<'a> {
    text: &'a str,
    at: usize,
    /// End of the part that holds classified characters alone.
    clear_to: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    /// A letter without case.
    Caseless,
    Digit,
    Newline,
    Space,
    Other,
    Unknown,
}

const ASCII: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut classes = [Class::Other; 128];
    let mut at = 0;
    while at < 128 {
        classes[at] = match at as u8 {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Digit,
            b'\n' | b'\r' => Class::Newline,
            b' ' | b'\t' | 0x0B | 0x0C => Class::Space,
            _ => Class::Other,
        };
        at += 1;
    }
    classes
}

/// Beyond ASCII: Chinese, kana and hangul with their punctuation (Unicode 15, general categories Lo, P and S).
fn wide_class(char: char) -> Class {
    match char {
        '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{AC00}'..='\u{D7A3}' => {
            Class::Caseless
        }
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3020}' | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' => {
            Class::Other
        }
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}' | '\u{2190}'..='\u{23FF}' | '\u{2500}'..='\u{2767}' => {
            Class::Other
        }
        _ => Class::Unknown,
    }
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, clear_to: if text.is_ascii() { text.len() } else { 0 } }
    }

    /// Class and length in bytes of the character at a place.
    fn class(&self, at: usize) -> Option<(Class, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte < 128 {
            return Some((ASCII[usize::from(byte)], 1));
        }
        let char = self.text.get(at..)?.chars().next()?;
        Some((wide_class(char), char.len_utf8()))
    }

    /// Place behind the characters from `at` on whose class fits.
    fn run(&self, mut at: usize, fits: impl Fn(Class) -> bool) -> usize {
        while let Some((class, length)) = self.class(at) {
            if !fits(class) {
                break;
            }
            at += length;
        }
        at
    }

    fn word(&self, from: usize) -> Option<usize> {
        let upper = self.run(from, |c| matches!(c, Class::Upper | Class::Caseless));
        let end = if self.class(upper).is_some_and(|(c, _)| c == Class::Lower) {
            self.run(upper, |c| matches!(c, Class::Lower | Class::Caseless))
        } else if let Some(caseless) = self.last_caseless(from, upper) {
            // The first alternative must end in a letter that can be lower case: the last one without case.
            caseless
        } else {
            upper
        };
        (end > from).then(|| end + self.contraction(end))
    }

    fn last_caseless(&self, from: usize, to: usize) -> Option<usize> {
        let run = self.text.get(from..to)?;
        let (at, char) = run.char_indices().rev().find(|(_, c)| !c.is_ascii())?;
        Some(from + at + char.len_utf8())
    }

    fn contraction(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'\'') {
            return 0;
        }
        let lower = |offset: usize| bytes.get(at + offset).map(u8::to_ascii_lowercase);
        match (lower(1), lower(2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => 3,
            _ => 0,
        }
    }

    fn piece_end(&self) -> usize {
        let at = self.at;
        let Some((class, length)) = self.class(at) else { return at };
        match class {
            Class::Upper | Class::Lower | Class::Caseless => return self.word(at).unwrap_or(at + length),
            Class::Digit => {
                let end = self.run(at, |c| c == Class::Digit);
                return end.min(at + 3);
            }
            Class::Other | Class::Space => {
                if let Some(end) = self.word(at + length) {
                    return end;
                }
            }
            Class::Newline | Class::Unknown => {}
        }
        let other = if class == Class::Other { at } else { at + 1 };
        if class == Class::Other || self.text.as_bytes()[at] == b' ' {
            let end = self.run(other, |c| c == Class::Other);
            if end > other {
                let tail = &self.text.as_bytes()[end..];
                return end + tail.iter().take_while(|b| matches!(b, b'\r' | b'\n' | b'/')).count();
            }
        }
        let end = self.run(at, |c| matches!(c, Class::Space | Class::Newline));
        let space = &self.text.as_bytes()[at..end];
        if let Some(last) = space.iter().rposition(|b| matches!(b, b'\r' | b'\n')) {
            return at + last + 1;
        }
        if end == self.text.len() || space.len() < 2 { end.max(at + length) } else { end - 1 }
    }

    /// From the current place to the end of the line that holds the next character without a class.
    fn unclear(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.at..];
        // Cut behind a line end that no white space follows: the pattern cuts there as well.
        let unknown = rest.char_indices().find(|(_, c)| !c.is_ascii() && wide_class(*c) == Class::Unknown);
        let Some((at, _)) = unknown else {
            self.clear_to = self.text.len();
            return None;
        };
        let before = line_starts(&rest[..at]).next_back().unwrap_or(0);
        if before > 0 {
            self.clear_to = self.at + before;
            return None;
        }
        let end = line_starts(rest).find(|start| *start > at).unwrap_or(rest.len());
        self.at += end;
        self.clear_to = self.at;
        Some(Word::Rest(&rest[..end]))
    }
}

/// Places behind a line end at which a letter, a digit or another visible character stands.
fn line_starts(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\n', bytes)
        .map(|at| at + 1)
        .filter(move |at| bytes.get(*at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'#'))
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        while self.at < self.text.len() {
            if self.at >= self.clear_to {
                if let Some(rest) = self.unclear() {
                    return Some(rest);
                }
                continue;
            }
            let start = self.at;
            self.at = self.piece_end();
            return Some(Word::Known(&self.text[start..self.at]));
        }
        None
    }
}
