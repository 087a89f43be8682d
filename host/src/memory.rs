//! How a serving process holds its memory.

/// Memory in pages of 4 KB, for all of this process. In huge ones a gateway that waits holds twice the
/// anonymous memory, and a start spends its time on zeroing them.
pub fn small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(cause) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(error = %cause, "memory.huge_pages_stay");
    }
}

/// Gives back the program's own machine code, most of which only the start ran: a third of what a
/// gateway holds. What is run again is mapped again, from the kernel's cache of the file.
pub fn release_code() {
    #[cfg(target_os = "linux")]
    match code::release() {
        Ok(bytes) => tracing::debug!(bytes, "memory.code_released"),
        Err(cause) => tracing::debug!(error = %cause, "memory.code_stays"),
    }
}

#[cfg(target_os = "linux")]
mod code {
    use std::io;
    use std::ops::Range;

    use rustix::mm::{Advice, madvise};

    /// How many bytes of code may have been given back.
    pub(super) fn release() -> io::Result<usize> {
        let here = (super::release_code as fn() as *const ()).addr();
        let mappings = std::fs::read_to_string("/proc/self/smaps")?;
        let code = untouched_code(&mappings, here)
            .ok_or_else(|| io::Error::other("the code is not as its file has it"))?;
        let start = std::ptr::with_exposed_provenance_mut(code.start);
        // SAFETY: a private mapping of a file that cannot be written to and of which no page was ever
        // changed: dropped, each page reads from the file as it did before.
        #[allow(unsafe_code)]
        unsafe {
            madvise(start, code.len(), Advice::LinuxDontNeed)?;
        }
        Ok(code.len())
    }

    /// The mapping that `address` lies in, if it is code mapped from a file and no page of it is a
    /// copy: not from a debugger, not from a loader that rewrites code.
    pub(super) fn untouched_code(smaps: &str, address: usize) -> Option<Range<usize>> {
        let mut lines = smaps.lines();
        let range = lines.find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let range =
                usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
            let (access, inode) = (words.next()?, words.nth(2)?);
            (range.contains(&address) && access == "r-xp" && inode != "0").then_some(range)
        })?;
        let copies = lines
            .take_while(|line| !line.starts_with("VmFlags:"))
            .find_map(|line| line.strip_prefix("Anonymous:"))?;
        (copies.trim() == "0 kB").then_some(range)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SMAPS: &str = "\
5000-6000 r--p 00000000 fe:00 77 /bin/program
Anonymous:             0 kB
VmFlags: rd mr
6000-9000 r-xp 00001000 fe:00 77 /bin/program
Rss:                   8 kB
Anonymous:             0 kB
VmFlags: rd ex
9000-a000 rw-p 00004000 fe:00 77 /bin/program
Anonymous:             4 kB
VmFlags: rd wr
";

        #[test]
        fn only_code_that_is_as_its_file_has_it_is_given_back() {
            for address in [0x6000, 0x6500, 0x8fff] {
                assert_eq!(untouched_code(SMAPS, address), Some(0x6000..0x9000));
            }
            for (what, smaps, address) in [
                ("constants before it", SMAPS.to_owned(), 0x5fff),
                ("data after it", SMAPS.to_owned(), 0x9000),
                ("nothing mapped", SMAPS.to_owned(), 0xb000),
                (
                    "a page was changed",
                    SMAPS.replace(
                        "Rss:                   8 kB\nAnonymous:             0 kB",
                        "Anonymous: 4 kB",
                    ),
                    0x6500,
                ),
                (
                    "no file",
                    SMAPS.replace("fe:00 77 /bin/program", "00:00 0"),
                    0x6500,
                ),
                ("writable", SMAPS.replace("r-xp", "rwxp"), 0x6500),
                (
                    "cut short",
                    SMAPS[..SMAPS.find("Rss").unwrap()].to_owned(),
                    0x6500,
                ),
            ] {
                assert_eq!(untouched_code(&smaps, address), None, "{what}");
            }
        }

        #[test]
        fn the_program_goes_on_without_its_code_in_memory() {
            let released = release().unwrap();
            assert!(released > 1 << 20, "{released} bytes");
            assert!(release().is_ok(), "and once more");
        }
    }
}
