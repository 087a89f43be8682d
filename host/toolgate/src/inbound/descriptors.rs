//! How many files this process may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one: the soft one is low (1,024) for the sake of programs that
/// use `select`, which this one does not.
pub fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => {
            tracing::debug!(files.before = ?current, files.now = ?maximum, "inbound.descriptors_raised")
        }
        Err(cause) => tracing::warn!(error = %cause, "inbound.descriptors_not_raised"),
    }
}

/// The soft limit as it is now. `None`: none.
pub fn limit() -> Option<usize> {
    let current = getrlimit(Resource::Nofile).current?;
    usize::try_from(current).ok()
}
