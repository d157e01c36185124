//! The superblock: what this device is, in two copies at the ends of the first mebibyte.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::geometry::Geometry;
use crate::device::{AlignedBuf, BLOCK_BYTES};
use crate::disk::OpenError;

/// The first mebibyte holds both copies and nothing else. Formatting asks for all of it to be
/// zero: partition tables, LVM, ext4, XFS, btrfs (at 64 KiB) and ZFS (to 512 KiB) all show there.
pub(in crate::disk) const SUPERBLOCK_AREA_BYTES: usize = 1 << 20;

/// Where the copies are: the first and the last block of the area.
const COPY_OFFSETS: [usize; 2] = [0, SUPERBLOCK_AREA_BYTES - BLOCK_BYTES];

const MAGIC: [u8; 16] = *b"larder-disk-log\0";
const VERSION: u32 = 1;
/// The superblock is read before the seed is known.
const CHECKSUM_SEED: u64 = 0;

/// ```text
///  0                              16        20          24             32
///  ├── magic "larder-disk-log\0" ─┼─ version ┼─ grain B ─┼─ device B ───┤
///  32               40            48         56                         64
///  ├── segment B ───┼─ segments ──┼── seed ──┼─ XXH3-64 of bytes 0..56 ─┤   zeros to 4096
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub(in crate::disk) struct Superblock {
    magic: [u8; 16],
    version: U32,
    grain_bytes: U32,
    device_bytes: U64,
    segment_bytes: U64,
    segments: U64,
    seed: U64,
    checksum: U64,
}

const SUPERBLOCK_BYTES: usize = size_of::<Superblock>();
const CHECKSUM_AT: usize = SUPERBLOCK_BYTES - size_of::<U64>();
const _: () = assert!(SUPERBLOCK_BYTES == 64);
const _: () = assert!(COPY_OFFSETS[1] >= COPY_OFFSETS[0] + BLOCK_BYTES);

/// What the superblock area holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) enum Area {
    /// Only zeros: nobody's yet.
    Blank,
    /// A store of this version; `copies` of the two are good.
    Store { superblock: Superblock, copies: u8 },
}

impl Superblock {
    pub(in crate::disk) fn new(geometry: &Geometry, seed: u64) -> Self {
        let mut new = Self {
            magic: MAGIC,
            version: VERSION.into(),
            grain_bytes: (geometry.grain_bytes as u32).into(),
            device_bytes: geometry.device_bytes.into(),
            segment_bytes: geometry.segment_bytes.into(),
            segments: geometry.segments.into(),
            seed: seed.into(),
            checksum: 0.into(),
        };
        new.checksum = new.own_checksum().into();
        new
    }

    pub(in crate::disk) fn seed(&self) -> u64 {
        self.seed.get()
    }

    /// The geometry, if it is one that this code could have written.
    pub(in crate::disk) fn geometry(&self) -> Result<Geometry, OpenError> {
        let geometry = Geometry {
            device_bytes: self.device_bytes.get(),
            segment_bytes: self.segment_bytes.get(),
            segments: self.segments.get(),
            grain_bytes: u64::from(self.grain_bytes.get()),
        };
        geometry.check().map(|()| geometry)
    }

    /// The two blocks to write, with their offsets.
    pub(in crate::disk) fn copies(&self) -> [(u64, AlignedBuf); 2] {
        COPY_OFFSETS.map(|offset| {
            let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
            block[..SUPERBLOCK_BYTES].copy_from_slice(self.as_bytes());
            (offset as u64, block)
        })
    }

    fn own_checksum(&self) -> u64 {
        super::checksum(CHECKSUM_SEED, &self.as_bytes()[..CHECKSUM_AT])
    }

    fn read(block: &[u8]) -> Result<Self, OpenError> {
        let (found, _) = Self::read_from_prefix(block).map_err(|_| OpenError::Foreign)?;
        if found.magic != MAGIC {
            return Err(OpenError::Foreign);
        }
        // Before the checksum: another version may keep it elsewhere.
        if found.version != VERSION {
            return Err(OpenError::OtherVersion {
                found: found.version.get(),
                supported: VERSION,
            });
        }
        let (got, expected) = (found.own_checksum(), found.checksum.get());
        if got != expected {
            return Err(OpenError::SuperblockCorrupt { got, expected });
        }
        Ok(found)
    }
}

impl Area {
    /// Judges the area's [`SUPERBLOCK_AREA_BYTES`]. One good copy is enough; with none, the
    /// refusal that names larder's own format wins over "foreign".
    pub(in crate::disk) fn read(area: &[u8]) -> Result<Self, OpenError> {
        if area.iter().all(|byte| *byte == 0) {
            return Ok(Self::Blank);
        }
        let copies = COPY_OFFSETS.map(|at| Superblock::read(area.get(at..).unwrap_or_default()));
        match copies {
            [Ok(first), second] => Ok(Self::Store {
                superblock: first,
                copies: 1 + u8::from(second.is_ok_and(|other| other == first)),
            }),
            [Err(_), Ok(superblock)] => Ok(Self::Store {
                superblock,
                copies: 1,
            }),
            [Err(OpenError::Foreign), Err(error)] | [Err(error), Err(_)] => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskOptions;

    fn area() -> (Superblock, Vec<u8>) {
        let geometry = Geometry::plan(64 << 20, &DiskOptions::default()).unwrap();
        let superblock = Superblock::new(&geometry, 7);
        let mut area = vec![0; SUPERBLOCK_AREA_BYTES];
        for (offset, block) in superblock.copies() {
            area[offset as usize..][..block.len()].copy_from_slice(&block);
        }
        (superblock, area)
    }

    #[test]
    fn either_copy_is_enough() {
        let (superblock, area) = area();
        let both = Area::Store {
            superblock,
            copies: 2,
        };
        assert_eq!(Area::read(&area).unwrap(), both);
        for at in COPY_OFFSETS {
            let mut torn = area.clone();
            torn[at + 50] ^= 1;
            let one = Area::Store {
                superblock,
                copies: 1,
            };
            assert_eq!(Area::read(&torn).unwrap(), one, "copy at {at} broken");
        }
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let (_, good) = area();
        let mut other = good.clone();
        COPY_OFFSETS.iter().for_each(|at| other[at + 16] = 9);
        assert!(matches!(
            Area::read(&other),
            Err(OpenError::OtherVersion { found: 9, .. })
        ));
        let mut corrupt = good;
        COPY_OFFSETS.iter().for_each(|at| corrupt[at + 30] ^= 1);
        assert!(matches!(
            Area::read(&corrupt),
            Err(OpenError::SuperblockCorrupt { .. })
        ));
        let mut foreign = vec![0; SUPERBLOCK_AREA_BYTES];
        foreign[0x1_0040] = b'_';
        assert!(matches!(Area::read(&foreign), Err(OpenError::Foreign)));
    }
}
