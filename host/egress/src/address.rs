//! Which IP addresses a request may be dialled at.
//!
//! Pure. An address is global when it can only name a host of the public internet; every private,
//! local, reserved and translated form is refused, because each of them has been used to reach what
//! is behind a gateway. IPv6 is an allow list (2000::/3 without its special blocks), so a form
//! that embeds an IPv4 address outside it (v4-mapped, v4-compatible, NAT64) needs no rule of its own.
//! [`super::dial`] asks for every address that DNS returns.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of the IANA IPv4 special-purpose registry (RFC 6890), multicast (RFC 5771), and the
/// addresses at which clouds serve instance metadata outside those blocks.
const V4_REFUSED: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),          // "this network", RFC 791
    ([10, 0, 0, 0], 8),         // private, RFC 1918
    ([100, 64, 0, 0], 10),      // carrier-grade NAT, RFC 6598
    ([127, 0, 0, 0], 8),        // loopback
    ([168, 63, 129, 16], 32),   // Azure platform address
    ([169, 254, 0, 0], 16),     // link-local and metadata, RFC 3927
    ([172, 16, 0, 0], 12),      // private
    ([192, 0, 0, 0], 24),       // IETF protocol assignments
    ([192, 0, 2, 0], 24),       // documentation, RFC 5737
    ([192, 88, 99, 0], 24),     // 6to4 relay, RFC 7526
    ([192, 168, 0, 0], 16),     // private
    ([198, 18, 0, 0], 15),      // benchmarking, RFC 2544
    ([198, 51, 100, 0], 24),    // documentation
    ([203, 0, 113, 0], 24),     // documentation
    ([224, 0, 0, 0], 4),        // multicast
    ([240, 0, 0, 0], 4),        // reserved, RFC 1112
    ([255, 255, 255, 255], 32), // broadcast
];

/// Global unicast, RFC 4291 section 2.4.
const V6_ALLOWED: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Special blocks inside global unicast.
const V6_REFUSED: [([u16; 8], u32); 4] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // IETF protocol assignments, Teredo among them
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation, RFC 3849
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4: embeds an IPv4 address, RFC 3056
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation, RFC 9637
];

/// Whether `address` is one of the public internet.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !V4_REFUSED.iter().any(|block| v4_in(v4, *block)),
        IpAddr::V6(v6) => v6_in(v6, V6_ALLOWED) && !V6_REFUSED.iter().any(|b| v6_in(v6, *b)),
    }
}

fn v4_in(address: Ipv4Addr, (base, bits): ([u8; 4], u32)) -> bool {
    let mask = u32::MAX << (32 - bits);
    address.to_bits() & mask == Ipv4Addr::from(base).to_bits() & mask
}

fn v6_in(address: Ipv6Addr, (base, bits): ([u16; 8], u32)) -> bool {
    let mask = u128::MAX << (128 - bits);
    address.to_bits() & mask == Ipv6Addr::from(base).to_bits() & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_global() {
        for (address, expected) in [
            // public, some of them right beside a refused block
            ("1.1.1.1", true),
            ("9.255.255.255", true),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("126.255.255.255", true),
            ("128.0.0.1", true),
            ("168.63.129.17", true),
            ("169.253.255.255", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("192.0.1.0", true),
            ("192.167.255.255", true),
            ("192.169.0.0", true),
            ("198.17.255.255", true),
            ("198.20.0.0", true),
            ("223.255.255.255", true),
            ("2606:4700:4700::1111", true),
            ("2a00:1450:4001::1", true),
            ("2001:200::1", true),
            ("2001:db9::1", true),
            // IPv4
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("100.100.100.200", false),
            ("100.127.255.255", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("168.63.129.16", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.192", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.19.255.255", false),
            ("198.51.100.7", false),
            ("203.0.113.9", false),
            ("224.0.0.1", false),
            ("239.255.255.255", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            // IPv6
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),         // v4-compatible
            ("::ffff:127.0.0.1", false), // v4-mapped
            ("::ffff:8.8.8.8", false),   // v4-mapped, public inside
            ("::ffff:0:8.8.8.8", false), // v4-translated
            ("64:ff9b::a00:1", false),   // NAT64, private inside
            ("64:ff9b::808:808", false), // NAT64, public inside
            ("64:ff9b:1::a00:1", false), // local-use NAT64
            ("100::1", false),           // discard
            ("2001::1", false),          // Teredo
            ("2001:0:4136:e378::", false),
            ("2001:2::1", false),  // benchmarking
            ("2001:10::1", false), // ORCHID
            ("2001:20::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("2002:808:808::", false),
            ("3fff::1", false),
            ("5f00::1", false), // SRv6
            ("fc00::1", false),
            ("fd00:ec2::254", false), // metadata
            ("fe80::1", false),
            ("fec0::1", false), // site-local
            ("ff02::1", false),
        ] {
            let parsed: IpAddr = address.parse().expect("a literal of this table");
            assert_eq!(is_global(parsed), expected, "{address}");
        }
    }
}
