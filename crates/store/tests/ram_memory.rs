//! Is the memory that the RAM tier says it takes the memory that it takes?
#![allow(
    unsafe_code,
    reason = "an allocator that counts is the only honest witness; it forwards to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::FutureExt;
use larder_store::{PIECE_BYTES, Store, StoreOptions};

/// Counts blocks as glibc cuts them: 8 bytes of header, rounded to 16.
struct Counting;

static HEAP_BYTES: AtomicUsize = AtomicUsize::new(0);

fn block_bytes(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HEAP_BYTES.fetch_add(block_bytes(layout), Ordering::Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        HEAP_BYTES.fetch_sub(block_bytes(layout), Ordering::Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RAM_BYTES: u64 = 48 << 20;

/// Heap bytes per charged byte, with a full tier of such objects, each once looked up (which makes
/// `Bytes` shared).
fn heap_over_charge(key_bytes: usize, meta_bytes: usize, pieces: &[usize]) -> f64 {
    let before = HEAP_BYTES.load(Ordering::Relaxed);
    let store = now(Store::open(StoreOptions::new(RAM_BYTES))).expect("memory opens");
    for number in 0_u64.. {
        let mut key = vec![0; key_bytes];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let key = store.key(Bytes::from(key));
        let mut writer = store.writer(key.clone(), None);
        for &bytes in pieces {
            now(writer.write(Bytes::from(vec![1; bytes])));
        }
        let stored = now(writer.finish(Bytes::from(vec![2; meta_bytes])));
        assert_eq!(stored.ram, Ok(()));
        assert!(store.get_ram(&key).is_some());
        if store.stats().ram.evicted > 0 {
            break;
        }
    }
    let charged = store.stats().ram.used_bytes;
    let heap = HEAP_BYTES.load(Ordering::Relaxed) - before;
    heap as f64 / charged as f64
}

/// Memory never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory never waits")
}

/// Above 1 is what vectors reserve to grow into, largest beside objects of no size.
#[test]
fn the_charge_is_the_heap() {
    let dribble = [100; 400];
    let table: [(&str, usize, usize, &[usize]); 6] = [
        ("empty bodies", 40, 100, &[]),
        ("2 KiB", 40, 200, &[2048]),
        ("2 KiB, long keys and metadata", 900, 4000, &[2048]),
        ("17 bytes", 8, 0, &[17]),
        ("1 MiB", 40, 300, &[PIECE_BYTES; 16]),
        ("40 kB in pieces of 100", 40, 300, &dribble),
    ];
    for (what, key_bytes, meta_bytes, pieces) in table {
        let ratio = heap_over_charge(key_bytes, meta_bytes, pieces);
        println!("{what}: {ratio:.3} bytes of heap per byte charged");
        assert!((0.95..1.25).contains(&ratio), "{what}: {ratio:.3}");
    }
}
