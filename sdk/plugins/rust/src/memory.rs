//! The memory of one call: a bump allocator on a static buffer, which is freed when the instance ends.
//!
//! An instance lives for one call, and most calls need less than the buffer. Growing the memory would
//! cost such a call a system call, and a search for a free block costs more than it saves. What does not
//! fit is allocated by the standard library, which does both.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};

/// Size of the buffer in bytes.
const BUFFER_BYTES: usize = 128 << 10;

/// The largest alignment of a block in the buffer; no type that a plugin uses needs more.
const ALIGN: usize = 16;

#[cfg(all(target_family = "wasm", feature = "allocator"))]
#[global_allocator]
static MEMORY: Arena = Arena::new();

/// An allocator for one thread. Only the newest block can be freed, and only it can grow in place, as a
/// text does to which a plugin appends.
#[repr(C, align(16))]
pub(crate) struct Arena {
    buffer: UnsafeCell<[u8; BUFFER_BYTES]>,
    used: Cell<usize>,
}

// SAFETY: a component runs on one thread. (With WebAssembly's threads, which need a target of their
// own, this does not hold, and this line is not compiled.)
#[cfg(all(
    target_family = "wasm",
    feature = "allocator",
    not(target_feature = "atomics")
))]
unsafe impl Sync for Arena {}

impl Arena {
    const fn new() -> Self {
        Self {
            buffer: UnsafeCell::new([0; BUFFER_BYTES]),
            used: Cell::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.buffer.get().cast()
    }

    /// The offset of `block` in the buffer; `None` if the standard library allocated it.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        let offset = block.addr().wrapping_sub(self.start().addr());
        (offset < BUFFER_BYTES).then_some(offset)
    }

    /// Whether the block at `offset` is the newest one.
    fn is_newest(&self, offset: usize, layout: Layout) -> bool {
        offset + layout.size() == self.used.get()
    }
}

// SAFETY: blocks in the buffer do not overlap: each begins at or after the end of all earlier ones, and
// the end moves back only over the newest. The whole buffer is initialized, and so is each block. A block
// outside the buffer came from `System`, and is freed there with the layout that it was allocated with.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.used.get().next_multiple_of(layout.align());
        match start.checked_add(layout.size()) {
            // A layout is never empty, so no block begins at the buffer's end.
            Some(end) if end <= BUFFER_BYTES && layout.align() <= ALIGN => {
                self.used.set(end);
                unsafe { self.start().add(start) }
            }
            _ => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset(block) {
            Some(offset) if self.is_newest(offset, layout) => self.used.set(offset),
            Some(_) => {}
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = self.offset(block) else {
            return unsafe { System.realloc(block, layout, size) };
        };
        let end = offset.saturating_add(size);
        if self.is_newest(offset, layout) && end <= BUFFER_BYTES {
            self.used.set(end);
            return block;
        }
        if size <= layout.size() {
            return block;
        }
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(block, moved, layout.size());
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// A block filled with one byte, to see whether another block overlaps it.
    fn filled(arena: &Arena, layout: Layout, byte: u8) -> *mut u8 {
        let block = unsafe { arena.alloc(layout) };
        assert!(!block.is_null());
        assert_eq!(block.addr() % layout.align(), 0);
        unsafe { block.write_bytes(byte, layout.size()) };
        block
    }

    fn holds(block: *mut u8, size: usize, byte: u8) -> bool {
        let bytes = unsafe { std::slice::from_raw_parts(block, size) };
        bytes.iter().all(|one| *one == byte)
    }

    #[test]
    fn blocks_are_aligned_and_do_not_overlap() {
        let arena = Box::new(Arena::new());
        let layouts = [(1, 1), (8, 8), (3, 2), (100, 16), (5, 1), (16, 4)];
        let blocks: Vec<_> = (1..)
            .zip(layouts)
            .map(|(byte, (size, align))| {
                let layout = layout(size, align);
                (filled(&arena, layout, byte), layout, byte)
            })
            .collect();
        for (block, layout, byte) in &blocks {
            assert!(arena.offset(*block).is_some());
            assert!(holds(*block, layout.size(), *byte));
        }
    }

    #[test]
    fn only_the_newest_block_is_reused() {
        let arena = Box::new(Arena::new());
        let eight = layout(8, 8);
        let (first, second) = (filled(&arena, eight, 1), filled(&arena, eight, 2));
        unsafe { arena.dealloc(first, eight) };
        let third = filled(&arena, eight, 3);
        assert!(third != first && holds(second, 8, 2));
        unsafe { arena.dealloc(third, eight) };
        assert_eq!(filled(&arena, eight, 4), third);
    }

    #[test]
    fn the_newest_block_grows_in_place_and_others_move_with_their_content() {
        let arena = Box::new(Arena::new());
        let eight = layout(8, 8);
        let block = filled(&arena, eight, 1);
        assert_eq!(unsafe { arena.realloc(block, eight, 100) }, block);
        let behind = filled(&arena, eight, 2);
        let moved = unsafe { arena.realloc(block, layout(100, 8), 200) };
        assert!(moved != block && holds(moved, 8, 1) && holds(behind, 8, 2));
        let smaller = unsafe { arena.realloc(behind, eight, 4) };
        assert!(smaller == behind && holds(smaller, 4, 2));
    }

    #[test]
    fn what_does_not_fit_is_allocated_outside_and_what_fits_still_goes_in() {
        let arena = Box::new(Arena::new());
        let most = layout(BUFFER_BYTES - 64, 1);
        let inside = filled(&arena, most, 1);
        assert!(arena.offset(inside).is_some());
        let large = layout(65, 1);
        let outside = filled(&arena, large, 2);
        assert!(arena.offset(outside).is_none());
        let aligned = layout(8, 2 * ALIGN);
        let overaligned = filled(&arena, aligned, 3);
        assert!(arena.offset(overaligned).is_none());
        let rest = layout(64, 1);
        let last = filled(&arena, rest, 4);
        assert!(arena.offset(last).is_some());
        let grown = unsafe { arena.realloc(last, rest, 1_000) };
        assert!(arena.offset(grown).is_none() && holds(grown, 64, 4));
        assert!(holds(inside, most.size(), 1));
        unsafe {
            arena.dealloc(outside, large);
            arena.dealloc(overaligned, aligned);
            arena.dealloc(grown, layout(1_000, 1));
        }
    }

    #[test]
    fn a_size_beyond_any_memory_is_refused() {
        let arena = Box::new(Arena::new());
        let block = filled(&arena, layout(8, 8), 1);
        let none = unsafe { arena.alloc(layout(isize::MAX as usize - 7, 1)) };
        assert!(none.is_null());
        let none = unsafe { arena.realloc(block, layout(8, 8), isize::MAX as usize - 7) };
        assert!(none.is_null() && holds(block, 8, 1));
    }
}
