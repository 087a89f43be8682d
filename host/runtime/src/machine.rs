//! How much memory this process may have: that of the machine, or of the cgroup (version 2) that it is in.

use std::path::Path;

/// The smallest budget for guests: one call that has all that one call may use, and room for a second.
pub const GUEST_MEMORY_BYTES_MIN: u64 = 128 << 20;
/// The budget where neither the machine nor a cgroup says what there is.
const GUEST_MEMORY_BYTES_UNKNOWN: u64 = 1 << 30;

/// Memory for all guests where the operator names none: half of what the process may have. The other half is for the
/// gateway itself.
pub(crate) fn guest_memory_bytes() -> u64 {
    half_of(process_bytes())
}

/// What this process may have, where the machine or a cgroup says it.
pub(crate) fn process_bytes() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let of_machine = total_bytes(&read("/proc/meminfo"));
    let of_cgroup = cgroup_bytes(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup"));
    smaller(of_machine, of_cgroup)
}

fn smaller(of_machine: Option<u64>, of_cgroup: Option<u64>) -> Option<u64> {
    of_machine.into_iter().chain(of_cgroup).min()
}

fn half_of(process_bytes: Option<u64>) -> u64 {
    let half = process_bytes.map_or(GUEST_MEMORY_BYTES_UNKNOWN, |bytes| bytes / 2);
    half.max(GUEST_MEMORY_BYTES_MIN)
}

/// `MemTotal` of `/proc/meminfo`, which is in KiB.
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// The smallest `memory.max` of the process's cgroup and those above it. In a container the process sees its own
/// cgroup as the root. `own`: `/proc/self/cgroup`.
fn cgroup_bytes(root: &Path, own: &str) -> Option<u64> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folder = root.join(path.trim_start_matches('/'));
    let upwards = folder
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    let limits = upwards.filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join("memory.max")).ok()?;
        // `max` is no limit.
        text.trim().parse::<u64>().ok()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn guests_have_half_of_the_smaller_of_machine_and_cgroup() {
        let half = |of_machine, of_cgroup| half_of(smaller(of_machine, of_cgroup));
        assert_eq!(half(Some(8_192 * MIB), None), 4_096 * MIB);
        assert_eq!(half(Some(8_192 * MIB), Some(512 * MIB)), 256 * MIB);
        assert_eq!(half(Some(2_048 * MIB), Some(u64::MAX)), 1_024 * MIB);
        assert_eq!(half(None, None), GUEST_MEMORY_BYTES_UNKNOWN);
        assert_eq!(
            half(Some(64 * MIB), None),
            GUEST_MEMORY_BYTES_MIN,
            "at least"
        );
    }

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let text = "MemFree:  1 kB\nMemTotal:        2048 kB\nMemAvailable: 3 kB\n";
        assert_eq!(total_bytes(text), Some(2 * MIB));
        assert_eq!(total_bytes("MemFree: 1 kB\n"), None);
        assert_eq!(total_bytes("MemTotal: many kB\n"), None);
    }

    #[test]
    fn the_smallest_limit_above_the_process_holds() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let inner = root.path().join("system.slice/toolgate.service");
        std::fs::create_dir_all(&inner).expect("made");
        let own = "1:name=systemd:/x\n0::/system.slice/toolgate.service\n";
        assert_eq!(cgroup_bytes(root.path(), own), None, "no limit");
        let write = |folder: &Path, text: &str| {
            std::fs::write(folder.join("memory.max"), text).expect("written");
        };
        write(&inner, "max\n");
        assert_eq!(cgroup_bytes(root.path(), own), None, "max");
        write(&root.path().join("system.slice"), "536870912\n");
        assert_eq!(
            cgroup_bytes(root.path(), own),
            Some(512 * MIB),
            "of the slice"
        );
        write(&inner, "268435456\n");
        assert_eq!(cgroup_bytes(root.path(), own), Some(256 * MIB), "its own");
        // As a container sees it.
        write(root.path(), "1048576\n");
        assert_eq!(cgroup_bytes(root.path(), "0::/\n"), Some(MIB));
        assert_eq!(
            cgroup_bytes(root.path(), "1:memory:/x\n"),
            None,
            "version 1"
        );
    }
}
