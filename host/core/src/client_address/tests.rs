use http::HeaderValue;

use std::net::Ipv6Addr;

use super::proxy_protocol::{BadProxyHeader, HEAD_BYTES, ProxyHeader, REST_BYTES_MAX};
use super::*;

fn trusted() -> TrustedProxies {
    let networks = ["10.0.0.0/8", "2001:db8:1::/48", "::ffff:192.168.0.0/112"];
    TrustedProxies::new(networks.map(|text| text.parse().unwrap()))
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

#[track_caller]
fn check(peer: &str, lines: &[(&'static str, &str)], client: &str) {
    let found = trusted().client(peer.parse().unwrap(), &headers(lines));
    assert_eq!(found, Ok(client.parse().unwrap()), "{peer} {lines:?}");
}

const XFF: &str = "x-forwarded-for";

#[test]
fn a_header_of_an_untrusted_peer_is_ignored() {
    check("203.0.113.9", &[(XFF, "198.51.100.1")], "203.0.113.9");
    let standard = [("forwarded", "for=198.51.100.1")];
    check("203.0.113.9", &standard, "203.0.113.9");
    check("::ffff:203.0.113.9", &[(XFF, "10.0.0.1")], "203.0.113.9");
    let none = TrustedProxies::default();
    let found = none.client("127.0.0.1".parse().unwrap(), &headers(&[(XFF, "1.1.1.1")]));
    assert_eq!(found, Ok("127.0.0.1".parse().unwrap()));
}

#[test]
fn the_walk_ends_at_the_first_address_that_is_no_proxy() {
    for (value, client) in [
        ("198.51.100.1", "198.51.100.1"),
        // The client itself wrote the elements to the left.
        ("8.8.8.8, 198.51.100.1", "198.51.100.1"),
        ("10.9.9.9, 198.51.100.1", "198.51.100.1"),
        ("rubbish, ,\", 198.51.100.1", "198.51.100.1"),
        ("8.8.8.8, 198.51.100.1, 10.1.1.1", "198.51.100.1"),
        ("198.51.100.1, 192.168.3.4, 10.1.1.1", "198.51.100.1"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("[2001:db8:9::1]:443", "2001:db8:9::1"),
        ("2001:db8:9::1, 2001:db8:1::5", "2001:db8:9::1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        // All of them proxies: the one furthest away.
        ("10.2.2.2, 10.1.1.1", "10.2.2.2"),
        ("", "10.0.0.1"),
    ] {
        check("10.0.0.1", &[(XFF, value)], client);
    }
    let lines = [(XFF, "8.8.8.8"), (XFF, "198.51.100.1, 10.1.1.1")];
    check("10.0.0.1", &lines, "198.51.100.1");
    check("::ffff:10.0.0.1", &[(XFF, "198.51.100.1")], "198.51.100.1");
}

#[test]
fn the_standard_header_is_read_as_its_rfc_says() {
    for (value, client) in [
        ("for=198.51.100.1", "198.51.100.1"),
        (
            "For=\"198.51.100.1:4711\";proto=https;by=10.0.0.1",
            "198.51.100.1",
        ),
        ("proto=http; FOR=\"[2001:db8:9::1]:_port\"", "2001:db8:9::1"),
        ("for=8.8.8.8, for=198.51.100.1", "198.51.100.1"),
        ("for=198.51.100.1;host=\"a,b;for=8.8.8.8\"", "198.51.100.1"),
        ("for=\"8.8.8.8\\\",\", for=198.51.100.1", "198.51.100.1"),
        // A quotation mark that the client leaves open does not hide the element of the proxy.
        ("for=\", for=198.51.100.1", "198.51.100.1"),
        (
            "for=\"\\, for=\"198.51.100.1:80\", for=10.1.1.1",
            "198.51.100.1",
        ),
        ("for=198.51.100.1, for=10.1.1.1", "198.51.100.1"),
        // Where a client is hidden, unknown or not named, the proxy counts.
        ("for=_hidden", "10.0.0.1"),
        ("for=unknown", "10.0.0.1"),
        ("proto=https", "10.0.0.1"),
        ("for=198.51.100.1, for=_hidden, for=10.1.1.1", "10.1.1.1"),
    ] {
        check("10.0.0.1", &[("forwarded", value)], client);
    }
}

#[test]
fn behind_an_unreadable_hop_the_proxy_is_the_client() {
    for value in [
        "for=\"198.51.100.1",
        "for",
        "for=",
        "for=1.2.3",
        "for=[::1",
        "for=\"[198.51.100.1]\"",
        "for=198.51.100.1;for=8.8.8.8",
        "\u{7f}\u{e9}",
        ",",
    ] {
        let lines = HeaderValue::from_bytes(value.as_bytes());
        let Ok(line) = lines else { continue };
        let mut headers = HeaderMap::new();
        headers.append("forwarded", line.clone());
        let peer = "10.0.0.1".parse().unwrap();
        assert_eq!(trusted().client(peer, &headers), Ok(peer), "{value}");
    }
    for value in [
        "1.2.3",
        "::g",
        "[::1",
        "a:b:c",
        "1.2.3.4:x",
        "1.2.3.4:99999",
    ] {
        check("10.0.0.1", &[(XFF, value)], "10.0.0.1");
    }
}

#[test]
fn two_headers_that_disagree_are_refused() {
    let peer = "10.0.0.1".parse().unwrap();
    let both = |standard: &str, usual: &str| {
        trusted().client(peer, &headers(&[("forwarded", standard), (XFF, usual)]))
    };
    assert_eq!(both("for=8.8.8.8", "198.51.100.1"), Err(Ambiguous));
    assert_eq!(both("rubbish", "198.51.100.1"), Err(Ambiguous));
    let same = both("for=198.51.100.1", "9.9.9.9, 198.51.100.1");
    assert_eq!(same, Ok("198.51.100.1".parse().unwrap()));
}

#[test]
fn long_headers_are_read_from_their_end() {
    let long = format!("{}198.51.100.1", "10.1.1.1, ".repeat(10_000));
    check("10.0.0.1", &[(XFF, &long)], "198.51.100.1");
    let proxies = "10.1.1.1, ".repeat(10_000);
    let proxies = format!("8.8.8.8, {}", proxies.trim_end_matches(", "));
    check("10.0.0.1", &[(XFF, &proxies)], "10.1.1.1");
    let long = format!("{}for=198.51.100.1", "for=8.8.8.8, ".repeat(10_000));
    check("10.0.0.1", &[("forwarded", &long)], "198.51.100.1");
}

#[test]
fn neighbours_in_one_ipv6_network_count_as_one() {
    let of = |text: &str| network(text.parse().unwrap());
    assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
    assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
}

fn proxy_header(command: u8, family: u8, length: u16) -> [u8; HEAD_BYTES] {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..12].copy_from_slice(b"\r\n\r\n\0\r\nQUIT\n");
    bytes[12] = command;
    bytes[13] = family;
    bytes[14..].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[test]
fn a_proxy_protocol_header_names_its_client() {
    let v4 = ProxyHeader::read(&proxy_header(0x21, 0x11, 12)).unwrap();
    let rest = [198, 51, 100, 1, 10, 0, 0, 1, 0x12, 0x67, 0, 80];
    let client = v4.client(&rest).unwrap();
    assert_eq!(client, Some("198.51.100.1:4711".parse().unwrap()));
    let v6 = ProxyHeader::read(&proxy_header(0x21, 0x21, 36)).unwrap();
    let mut rest = [0; 36];
    rest[..16].copy_from_slice(&"2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
    rest[32..34].copy_from_slice(&4711_u16.to_be_bytes());
    let client = v6.client(&rest).unwrap();
    assert_eq!(client, Some("[2001:db8::7]:4711".parse().unwrap()));
    for (command, family) in [(0x20, 0x00), (0x20, 0x11), (0x21, 0x00), (0x21, 0x31)] {
        let head = ProxyHeader::read(&proxy_header(command, family, 0)).unwrap();
        assert_eq!(head.client(&[]), Ok(None), "{command:x} {family:x}");
    }
}

#[test]
fn a_proxy_protocol_header_that_is_wrong_is_refused() {
    let read = |bytes: &[u8; HEAD_BYTES]| ProxyHeader::read(bytes).map(drop);
    let mut http = [b' '; HEAD_BYTES];
    http[..14].copy_from_slice(b"GET / HTTP/1.1");
    assert_eq!(read(&http), Err(BadProxyHeader::NoHeader));
    let version_1 = b"PROXY TCP4 1.2.3";
    assert_eq!(read(version_1), Err(BadProxyHeader::NoHeader));
    for (command, family) in [(0x11, 0x11), (0x22, 0x11), (0x21, 0x12), (0x21, 0xff)] {
        let bytes = proxy_header(command, family, 12);
        assert_eq!(read(&bytes), Err(BadProxyHeader::Unknown));
    }
    let too_long = u16::try_from(REST_BYTES_MAX + 1).unwrap();
    let bytes = proxy_header(0x21, 0x11, too_long);
    assert_eq!(read(&bytes), Err(BadProxyHeader::TooLong));
    let short = ProxyHeader::read(&proxy_header(0x21, 0x11, 11)).unwrap();
    assert_eq!(short.client(&[0; 11]), Err(BadProxyHeader::TooShort));
}
