//! One JSON object a line.

use std::borrow::Cow;
use std::net::IpAddr;

use serde::Serialize;

use super::record::{AccessRecord, Text, version_name};
use super::stamp::Stamps;

/// The fields in their order. docs/access-log.md describes them.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    client: IpAddr,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Cow<'a, str>>,
    target: Cow<'a, str>,
    version: &'a str,
    status: u16,
    response_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    referer: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<Cow<'a, str>>,
    duration_us: u64,
    ttfb_us: u64,
    decision: &'a str,
    tier: &'a str,
}

/// Appends the line of `record`, its newline included.
pub(super) fn append(out: &mut Vec<u8>, record: &AccessRecord, stamps: &mut Stamps) {
    let second = stamps.second(record.time_ms);
    let line = Line {
        time: format!("{second}.{:03}Z", record.time_ms % 1000),
        client: record.client,
        method: record.method.as_str(),
        host: record.host.as_ref().map(shown),
        target: shown(&record.target),
        version: version_name(record.version),
        status: record.status,
        response_bytes: record.response_bytes,
        referer: record.referer.as_ref().map(shown),
        user_agent: record.user_agent.as_ref().map(shown),
        duration_us: record.duration_us,
        ttfb_us: record.ttfb_us,
        decision: record.decision,
        tier: record.tier,
    };
    // Strings and numbers into a Vec: neither can fail to be written.
    let _ = serde_json::to_writer(&mut *out, &line);
    out.push(b'\n');
}

/// As UTF-8. What is none, and what a terminal would obey but JSON does not escape (DEL and the
/// C1 controls), is shown as U+FFFD.
fn shown(text: &Text) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(text.as_bytes());
    let obeyed = |c: char| c.is_control() && !c.is_ascii_control() || c == '\x7f';
    if text.contains(obeyed) {
        Cow::Owned(text.replace(obeyed, "\u{fffd}"))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::example;
    use super::*;

    fn line_of(record: &AccessRecord) -> String {
        let mut line = Vec::new();
        append(&mut line, record, &mut Stamps::rfc3339());
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_is_as_documented() {
        let line = line_of(&example::record());
        let expected = concat!(
            r#"{"time":"2026-11-21T13:30:00.123Z","client":"192.0.2.7","method":"GET","#,
            r#""host":"cdn.example.org","target":"/logo.png?v=3","version":"HTTP/1.1","#,
            r#""status":200,"response_bytes":5120,"referer":"https://example.org/","#,
            r#""user_agent":"curl/8.5.0","duration_us":183,"ttfb_us":121,"decision":"hit","#,
            r#""tier":"ram"}"#,
        );
        assert_eq!(line, format!("{expected}\n"));
        assert!(include_str!("../../../../../docs/access-log.md").contains(expected));
    }

    #[test]
    fn any_bytes_make_a_line_of_json() {
        let record = AccessRecord {
            target: Text::from(b"/\"\\\r\n\xff\xc2\x9b\x7f\x00".as_slice()),
            referer: None,
            ..example::record()
        };
        let line = line_of(&record);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let parsed: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(parsed["target"], "/\"\\\r\n\u{fffd}\u{fffd}\u{fffd}\0");
        assert!(parsed.get("referer").is_none());
        assert!(
            !line.chars().any(|c| c.is_control() && c != '\n'),
            "{line:?}"
        );
    }
}
