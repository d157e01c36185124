//! How is a trace compressed? Its first bytes tell.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Largest zstd window that is accepted, as a power of two: 128 MiB bound the memory that a
/// compressed trace can claim.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// RFC 1952 section 2.3.1.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// RFC 8878 section 3.1.1, in little-endian order.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes read from the file at a time, and again of what comes out of a decompressor.
const BUFFER_BYTES: usize = 128 << 10;

/// The plain text of `input`.
pub(super) fn decompress(
    mut input: impl Read + Send + 'static,
) -> io::Result<Box<dyn BufRead + Send>> {
    let mut magic = Vec::with_capacity(ZSTD_MAGIC.len());
    input
        .by_ref()
        .take(ZSTD_MAGIC.len() as u64)
        .read_to_end(&mut magic)?;
    let gzip = magic.starts_with(&GZIP_MAGIC);
    let zstd = magic.starts_with(&ZSTD_MAGIC);
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(magic).chain(input));
    if gzip {
        let plain = MultiGzDecoder::new(whole);
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, plain)))
    } else if zstd {
        let mut plain = zstd::stream::read::Decoder::with_buffer(whole)?;
        plain.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, plain)))
    } else {
        Ok(Box::new(whole))
    }
}
