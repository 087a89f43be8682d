//! Processor time that another process has used.

use std::fs;
use std::time::Duration;

/// Of all threads of a process; `None` where the system does not provide it.
pub(super) fn processor_time(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse(&stat, rustix::param::clock_ticks_per_second())
}

/// proc_pid_stat(5): fields 14 and 15, in clock ticks. Field 2 is a name in parentheses that may hold
/// spaces and parentheses itself.
fn parse(stat: &str, ticks_per_second: u64) -> Option<Duration> {
    let after_name = stat.rsplit_once(')')?.1;
    let mut times = after_name.split_ascii_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    let milliseconds = user.checked_add(system)?.checked_mul(1_000)?;
    milliseconds
        .checked_div(ticks_per_second)
        .map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_name_with_a_parenthesis_hides_no_field() {
        let line = "7 (a ) 1 b) S 1 7 7 0 -1 4194304 1 2 3 4 150 25 8 9 30 10 1 0 5 6 7";
        assert_eq!(parse(line, 100), Some(Duration::from_millis(1_750)));
        for wrong in ["", "7 (a", "7 (a) S 1", "7 (a) S 1 7 7 0 -1 0 1 2 3 4 x 25"] {
            assert_eq!(parse(wrong, 100), None, "{wrong}");
        }
        assert_eq!(parse(line, 0), None);
    }

    #[test]
    fn what_this_process_computes_is_counted_and_a_wait_is_not() {
        let pid = std::process::id();
        let before = processor_time(pid).expect("Linux tells");
        let end = Instant::now() + Duration::from_secs(30);
        let mut computed = 0_u64;
        while processor_time(pid).expect("Linux tells") < before + Duration::from_millis(50) {
            computed = std::hint::black_box(computed.wrapping_add(1));
            assert!(Instant::now() < end, "nothing was counted");
        }
        assert_eq!(processor_time(u32::MAX), None);
    }
}
