//! The `Link` header (RFC 8288, section 3), by which services name the next page.
//!
//! Commas and semicolons separate links and parameters, but may also be in an address or inside
//! quotes; a link may have several relations.

/// The address of the link with the relation `next`.
pub fn next(header: &str) -> Option<&str> {
    target(header, "next")
}

/// The address of the first link with that relation.
pub fn target<'h>(header: &'h str, relation: &str) -> Option<&'h str> {
    let mut rest = header;
    while let Some(open) = rest.find('<') {
        let (target, after) = rest[open + 1..].split_once('>')?;
        let end = outside_quotes(after, ',').unwrap_or(after.len());
        if has_relation(&after[..end], relation) {
            return Some(target);
        }
        rest = &after[end..];
    }
    None
}

/// Whether the first `rel` among a link's parameters holds the relation; later ones do not count.
fn has_relation(parameters: &str, wanted: &str) -> bool {
    let mut rest = parameters;
    loop {
        let end = outside_quotes(rest, ';').unwrap_or(rest.len());
        let (name, value) = rest[..end].split_once('=').unwrap_or((&rest[..end], ""));
        if name.trim().eq_ignore_ascii_case("rel") {
            let mut relations = value.trim().trim_matches('"').split_whitespace();
            return relations.any(|relation| relation.eq_ignore_ascii_case(wanted));
        }
        match rest.get(end + 1..) {
            Some(more) => rest = more,
            None => return false,
        }
    }
}

/// The first place of `wanted` outside a quoted string (RFC 9110, section 5.6.4).
fn outside_quotes(text: &str, wanted: char) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().find_map(|(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c if c == wanted && !quoted => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn the_next_page_is_found_whatever_its_address_and_neighbours_hold() {
        let page = "https://a.example/x?fields=id,name&page=2";
        for header in [
            format!("<{page}>; rel=\"next\""),
            format!("<{page}>;rel=next"),
            format!("<{page}>; title=\"a, b; <c>\"; REL=\"Next last\""),
            format!("<{page}> ; rel=\"next last\""),
            format!("<https://a.example/x?a=1,2>; rel=\"prev\",<{page}>; rel=\"next\""),
            format!(
                "<https://a.example/>; rel=prev; title=\"say \\\", <no>\" ,  <{page}>; rel=next"
            ),
        ] {
            assert_eq!(next(&header), Some(page), "{header}");
        }
    }

    #[test]
    fn without_a_next_page_there_is_none() {
        for header in [
            "",
            "next",
            "<https://a.example/x?page=1>; rel=\"prev\"",
            "<https://a.example/x>; rel=nextish",
            "<https://a.example/x>; title=\"rel=next\"",
            "<https://a.example/x>; rel=prev; rel=next",
            "<https://a.example/x; rel=next",
        ] {
            assert_eq!(next(header), None, "{header}");
        }
    }
}
