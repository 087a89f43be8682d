//! Hosts of servers: which of them a plugin can be granted.

use crate::words;

/// Whether a host can be granted: a name that ends in two fixed labels, not an IP address, without a port.
pub(crate) fn check_host(host: &str) -> Result<(), String> {
    let shown = words::clean(host, 100);
    if host.contains(':') || host.contains('@') {
        return Err(format!("`{shown}` names a port or a user"));
    }
    let labels: Vec<&str> = host.split('.').collect();
    let fixed = labels
        .iter()
        .rev()
        .take_while(|label| !label.contains('{'))
        .count();
    if fixed < 2 {
        return Err(format!("`{shown}` is a host that only its operator knows"));
    }
    let last = labels[labels.len() - 1];
    let local = [
        "local",
        "localhost",
        "internal",
        "lan",
        "home",
        "test",
        "invalid",
        "example",
        "localdomain",
    ];
    if last.bytes().all(|b| b.is_ascii_digit()) || local.contains(&last) {
        return Err(format!("`{shown}` is a local address"));
    }
    let good = labels.iter().all(|label| {
        let literal: String = without_braces(label);
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && literal
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    });
    if good {
        Ok(())
    } else {
        Err(format!("`{shown}` is not a host name"))
    }
}

fn without_braces(label: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in label.chars() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// A host in lower case. The names of its parameters are kept.
pub(super) fn lowercase_outside_braces(host: &str) -> String {
    let mut inside = false;
    host.chars()
        .map(|c| {
            match c {
                '{' => inside = true,
                '}' => inside = false,
                _ => {}
            }
            if inside { c } else { c.to_ascii_lowercase() }
        })
        .collect()
}
