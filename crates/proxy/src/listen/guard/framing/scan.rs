//! Which bytes may stand where in a request head, and how far a run of them goes.
//!
//! Runs are scanned eight bytes at a time: most of a head is target and field values, and each
//! head passes here before hyper parses it.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const DELETE: u8 = 0x7f;

/// Token characters (RFC 9110 §5.6.2): methods and field names.
static TOKEN: [bool; 256] = table(b"!#$%&'*+-.^_`|~");
/// What `Host` may hold (RFC 3986 §3.2.2: name, IPv4, bracketed IPv6, port), without the comma:
/// a list of two hosts is a valid `reg-name` and nothing but trouble.
static HOST: [bool; 256] = table(b"-._~%!$&'()*+;=:[]");

const fn table(extra: &[u8]) -> [bool; 256] {
    let mut map = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        map[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut index = 0;
    while index < extra.len() {
        map[extra[index] as usize] = true;
        index += 1;
    }
    map
}

/// Length of the token that `bytes` begins with.
pub(super) fn token_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !TOKEN[usize::from(byte)]).unwrap_or(bytes.len())
}

/// Whether a `Host` value may hold `byte`.
pub(super) fn is_host(byte: u8) -> bool {
    HOST[usize::from(byte)]
}

/// Length of the run that a request target may hold: visible bytes, and those above ASCII, which
/// sloppy clients send and the URI parser judges.
pub(super) fn target_run(bytes: &[u8]) -> usize {
    run_from::<0x21>(bytes)
}

/// Length of the run that a field value may hold (RFC 9110 §5.5): everything but control
/// characters, among which a tab is allowed.
pub(super) fn value_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += run_from::<0x20>(&bytes[at..]);
        if bytes.get(at) != Some(&b'\t') {
            return at;
        }
        at += 1;
    }
}

/// Length of the run of bytes that are at least `LOW` and not DEL.
fn run_from<const LOW: u8>(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let stops = stops::<LOW>(u64::from_le_bytes(*word));
        if stops != 0 {
            return index * 8 + (stops.trailing_zeros() / 8) as usize;
        }
    }
    let in_tail = tail.iter().position(|&byte| byte < LOW || byte == DELETE).unwrap_or(tail.len());
    words.len() * 8 + in_tail
}

/// The high bit of each byte that is below `LOW` or DEL. The lowest bit set is exact; those above
/// it may be false (a borrow travels upwards only), which is why only the first is read.
const fn stops<const LOW: u8>(word: u64) -> u64 {
    let below = word.wrapping_sub(ONES * LOW as u64) & !word;
    let delete = word ^ (ONES * DELETE as u64);
    (below | (delete.wrapping_sub(ONES) & !delete)) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_at_every_place() {
        for place in 0..19 {
            for byte in 0..=255_u8 {
                let mut bytes = [b'a'; 19];
                bytes[place] = byte;
                let value_stops = (byte < 0x20 && byte != b'\t') || byte == DELETE;
                assert_eq!(value_run(&bytes), if value_stops { place } else { 19 }, "{byte:#x}");
                let target_stops = byte <= 0x20 || byte == DELETE;
                assert_eq!(target_run(&bytes), if target_stops { place } else { 19 }, "{byte:#x}");
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_one_byte_at_a_time(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let naive = bytes
                .iter()
                .position(|&b| (b < 0x20 && b != b'\t') || b == DELETE)
                .unwrap_or(bytes.len());
            prop_assert_eq!(value_run(&bytes), naive);
        }
    }
}
