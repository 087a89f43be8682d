//! How a serving process holds its memory.

/// Memory in pages of 4 KB, for all of this process. In huge ones a gateway that waits holds twice the
/// anonymous memory, and a start spends its time on zeroing them.
pub fn small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(cause) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(error = %cause, "memory.huge_pages_stay");
    }
}
