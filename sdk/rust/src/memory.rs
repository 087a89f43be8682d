//! Memory of one call: taken from the front of a room that is there from the start, given back when
//! the instance ends.
//!
//! An instance lives for one call, and most calls need less than the room. Asking the host for more
//! memory costs such a call a system call, and looking for a free place costs it more than the place
//! is worth. What does not fit goes to the allocator of the standard library, which does both.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};

/// Bytes of the room.
const ROOM: usize = 128 << 10;

/// Places begin at multiples of this; no type that a plugin uses asks for more.
const ALIGN: usize = 16;

#[cfg(all(target_family = "wasm", feature = "allocator"))]
#[global_allocator]
static MEMORY: Arena = Arena::new();

/// An allocator for one thread. Only the newest place is ever given back to the room, and it alone
/// can grow where it stands: what a text does that is being written.
#[repr(C, align(16))]
pub(crate) struct Arena {
    room: UnsafeCell<[u8; ROOM]>,
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
            room: UnsafeCell::new([0; ROOM]),
            used: Cell::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.room.get().cast()
    }

    /// Where in the room `place` is; none: it is the other allocator's.
    fn offset(&self, place: *mut u8) -> Option<usize> {
        let offset = place.addr().wrapping_sub(self.start().addr());
        (offset < ROOM).then_some(offset)
    }

    /// Whether the place at `offset` is the newest one.
    fn newest(&self, offset: usize, layout: Layout) -> bool {
        offset + layout.size() == self.used.get()
    }
}

// SAFETY: places in the room do not overlap: one begins at or after the end of all before it, and
// the end moves back only over the newest. All of it is initialized, so a place is as well. A place
// outside the room came from `System`, and goes back there with the layout it was made with.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.used.get().next_multiple_of(layout.align());
        match start.checked_add(layout.size()) {
            // A place without bytes is never asked for, so one at the room's end is not made.
            Some(end) if end <= ROOM && layout.align() <= ALIGN => {
                self.used.set(end);
                unsafe { self.start().add(start) }
            }
            _ => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        match self.offset(place) {
            Some(offset) if self.newest(offset, layout) => self.used.set(offset),
            Some(_) => {}
            None => unsafe { System.dealloc(place, layout) },
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = self.offset(place) else {
            return unsafe { System.realloc(place, layout, size) };
        };
        let end = offset.saturating_add(size);
        if self.newest(offset, layout) && end <= ROOM {
            self.used.set(end);
            return place;
        }
        if size <= layout.size() {
            return place;
        }
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(place, moved, layout.size());
                self.dealloc(place, layout);
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

    /// A place filled with one byte, to see whether another place overlaps it.
    fn filled(arena: &Arena, layout: Layout, byte: u8) -> *mut u8 {
        let place = unsafe { arena.alloc(layout) };
        assert!(!place.is_null());
        assert_eq!(place.addr() % layout.align(), 0);
        unsafe { place.write_bytes(byte, layout.size()) };
        place
    }

    fn holds(place: *mut u8, size: usize, byte: u8) -> bool {
        let bytes = unsafe { std::slice::from_raw_parts(place, size) };
        bytes.iter().all(|one| *one == byte)
    }

    #[test]
    fn places_are_aligned_and_apart() {
        let arena = Box::new(Arena::new());
        let layouts = [(1, 1), (8, 8), (3, 2), (100, 16), (5, 1), (16, 4)];
        let places: Vec<_> = (1..)
            .zip(layouts)
            .map(|(byte, (size, align))| {
                let layout = layout(size, align);
                (filled(&arena, layout, byte), layout, byte)
            })
            .collect();
        for (place, layout, byte) in &places {
            assert!(arena.offset(*place).is_some());
            assert!(holds(*place, layout.size(), *byte));
        }
    }

    #[test]
    fn only_the_newest_place_is_taken_again() {
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
    fn the_newest_place_grows_where_it_stands_and_others_move_with_what_they_hold() {
        let arena = Box::new(Arena::new());
        let eight = layout(8, 8);
        let place = filled(&arena, eight, 1);
        assert_eq!(unsafe { arena.realloc(place, eight, 100) }, place);
        let behind = filled(&arena, eight, 2);
        let moved = unsafe { arena.realloc(place, layout(100, 8), 200) };
        assert!(moved != place && holds(moved, 8, 1) && holds(behind, 8, 2));
        let smaller = unsafe { arena.realloc(behind, eight, 4) };
        assert!(smaller == behind && holds(smaller, 4, 2));
    }

    #[test]
    fn what_does_not_fit_is_placed_outside_and_what_fits_still_goes_in() {
        let arena = Box::new(Arena::new());
        let most = layout(ROOM - 64, 1);
        let inside = filled(&arena, most, 1);
        assert!(arena.offset(inside).is_some());
        let large = layout(65, 1);
        let outside = filled(&arena, large, 2);
        assert!(arena.offset(outside).is_none());
        let aligned = layout(8, 2 * ALIGN);
        let apart = filled(&arena, aligned, 3);
        assert!(arena.offset(apart).is_none());
        let rest = layout(64, 1);
        let last = filled(&arena, rest, 4);
        assert!(arena.offset(last).is_some());
        let grown = unsafe { arena.realloc(last, rest, 1_000) };
        assert!(arena.offset(grown).is_none() && holds(grown, 64, 4));
        assert!(holds(inside, most.size(), 1));
        unsafe {
            arena.dealloc(outside, large);
            arena.dealloc(apart, aligned);
            arena.dealloc(grown, layout(1_000, 1));
        }
    }

    #[test]
    fn a_size_beyond_any_memory_is_refused() {
        let arena = Box::new(Arena::new());
        let place = filled(&arena, layout(8, 8), 1);
        let none = unsafe { arena.alloc(layout(isize::MAX as usize - 7, 1)) };
        assert!(none.is_null());
        let none = unsafe { arena.realloc(place, layout(8, 8), isize::MAX as usize - 7) };
        assert!(none.is_null() && holds(place, 8, 1));
    }
}
