//! Apache's combined format, with the cache's decision, its tier and the time behind it.

use std::io::Write;

use super::record::{AccessRecord, Text, version_name};
use super::stamp::Stamps;

/// Appends the line of `record`, its newline included.
///
/// ```text
/// client - - [time] "method target version" status bytes "referer" "user agent" "decision" tier µs
/// ```
pub(super) fn append(line: &mut Vec<u8>, record: &AccessRecord, stamps: &mut Stamps) {
    let time = stamps.second(record.time_ms);
    // Writing to a Vec does not fail.
    let _ = write!(line, "{} - - [{time}] \"", record.client);
    append_escaped(line, record.method.as_str().as_bytes());
    line.push(b' ');
    append_escaped(line, record.target.as_bytes());
    let version = version_name(record.version);
    let _ = write!(line, " {version}\" {} ", record.status);
    match record.response_bytes {
        0 => line.push(b'-'), // Apache's %b
        bytes => drop(write!(line, "{bytes}")),
    }
    append_quoted(line, record.referer.as_ref());
    append_quoted(line, record.user_agent.as_ref());
    let (decision, tier, us) = (record.decision, record.tier, record.duration_us);
    let _ = writeln!(line, " \"{decision}\" {tier} {us}");
}

fn append_quoted(line: &mut Vec<u8>, text: Option<&Text>) {
    line.extend_from_slice(b" \"");
    append_escaped(line, text.map_or(b"-", Text::as_bytes));
    line.push(b'"');
}

/// As Apache's mod_log_config: a quote and a backslash get a backslash, and what is no printable
/// ASCII is written `\xhh`. So a line has one line, and a terminal is told nothing by it.
fn append_escaped(line: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => line.push(byte),
            _ => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                line.extend_from_slice(&[b'\\', b'x', HEX[high], HEX[low]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::example;
    use super::*;

    fn line_of(record: &AccessRecord) -> String {
        let mut line = Vec::new();
        append(&mut line, record, &mut Stamps::clf());
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_is_as_documented() {
        let line = line_of(&example::record());
        let expected = "192.0.2.7 - - [21/Nov/2026:13:30:00 +0000] \"GET /logo.png?v=3 HTTP/1.1\" \
                        200 5120 \"https://example.org/\" \"curl/8.5.0\" \"hit\" ram 183\n";
        assert_eq!(line, expected);
        assert!(include_str!("../../../../../docs/access-log.md").contains(expected.trim_end()));
    }

    #[test]
    fn what_is_absent_is_a_dash() {
        let record = AccessRecord {
            client: "2001:db8::1".parse().unwrap(),
            response_bytes: 0,
            referer: None,
            user_agent: None,
            ..example::record()
        };
        let line = line_of(&record);
        assert!(line.starts_with("2001:db8::1 - - ["), "{line}");
        assert!(line.contains(" 200 - \"-\" \"-\" \"hit\""), "{line}");
    }

    #[test]
    fn a_client_cannot_forge_a_line() {
        let record = AccessRecord {
            target: Text::from("/\"\\\r\n"),
            user_agent: Some(Text::from(b"\x1b[31m\xff\x00\x7f".as_slice())),
            ..example::record()
        };
        let line = line_of(&record);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        assert!(line.contains(r#""GET /\"\\\x0d\x0a HTTP/1.1""#), "{line}");
        assert!(line.contains(r#""\x1b[31m\xff\x00\x7f""#), "{line}");
    }
}
