//! Which URI schemes belong to an installed program, so that the answer to an authorization request may go there
//! (RFC 8252, section 7.1). Such a scheme is one that nobody else acts on: it has the form of a program's name, it is
//! not registered for a protocol, and neither a browser nor an operating system gives it a meaning of its own.

/// Schemes that IANA has registered for one program, which uses them for this purpose.
const PROGRAMS: [&str; 2] = ["vscode", "vscode-insiders"];

/// Shortest and longest scheme.
const CHARS_MIN: usize = 3;
const CHARS_MAX: usize = 64;

/// What the names begin with that browsers and operating systems keep for themselves.
const FAMILIES: [&str; 21] = [
    "android",
    "apple",
    "brave",
    "chrome",
    "com-apple",
    "devtools",
    "edge",
    "extension",
    "intent",
    "isolated-app",
    "itms",
    "moz-",
    "ms-",
    "opera",
    "safari",
    "samsung",
    "view-",
    "vivaldi",
    "web-",
    "windows-",
    "x-",
];

/// Registered with IANA (registry "Uniform Resource Identifier (URI) Schemes"), in order. Those of the families above
/// are left out.
#[rustfmt::skip]
const REGISTERED: [&str; 323] = [
    "aaa", "aaas", "about", "acap", "acct", "acd", "acr", "adiumxtra", "adt", "afp", "afs", "aim", "amss", "android",
    "appdata", "apt", "ar", "ark", "attachment", "aw", "barion", "bb", "beshare", "bitcoin", "bitcoincash", "blob",
    "bolo", "brid", "browserext", "cabal", "calculator", "callto", "cap", "cast", "casts", "chrome",
    "chrome-extension", "cid", "coap", "coap+tcp", "coap+ws", "coaps", "coaps+tcp", "coaps+ws",
    "com-eventbrite-attendee", "content", "crid", "cstr", "cvs", "dab", "dat", "data", "dav", "dhttp", "diaspora",
    "dict", "did", "dis", "dlna", "dlna-playcontainer", "dlna-playsingle", "dns", "dntp", "doi", "dpp", "drm",
    "drop", "dtmi", "dtn", "dvb", "dvx", "dweb", "ed2k", "eid", "elsi", "embedded", "ens", "ethereum", "example",
    "facetime", "fax", "feed", "feedready", "fido", "file", "filesystem", "finger", "first-run-pen-experience",
    "fish", "fm", "ftp", "fuchsia-pkg", "geo", "gg", "git", "gitoid", "gizmoproject", "go", "gopher", "graph", "grd",
    "gropius", "gtalk", "h323", "ham", "hcap", "hcp", "hxxp", "hxxps", "hydrazone", "hyper", "i0", "iax", "icap",
    "icon", "id", "im", "imap", "info", "iotdisco", "ipfs", "ipn", "ipns", "ipp", "ipps", "irc", "irc6", "ircs",
    "iris", "iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs", "isostore", "itms", "jabber", "jar", "jitsi-meet",
    "jms", "keyparc", "lastfm", "lbry", "ldap", "ldaps", "leaptofrogans", "lid", "lorawan", "lpa", "lvlt",
    "machineprovisioningprogressreporter", "magnet", "mailserver", "mailto", "maps", "market", "mastodon", "matrix",
    "message", "microsoft.windows.camera", "microsoft.windows.camera.multipicker", "microsoft.windows.camera.picker",
    "mid", "mms", "modem", "mongodb", "moz", "msnim", "msrp", "msrps", "mss", "mt", "mtqp", "mumble", "mupdate",
    "mvn", "mvrp", "mvrps", "news", "nfs", "ni", "nih", "nntp", "notes", "num", "ocf", "oid", "oma-dmse", "oma-omna",
    "onenote", "onenote-cmd", "opaquelocktoken", "openid", "openpgp4fpr", "otpauth", "p1", "pack", "palm",
    "paparazzi", "payment", "payto", "pkcs11", "platform", "pop", "pres", "prospero", "proxy", "psyc", "pttp",
    "pwid", "qb", "query", "quic-transport", "redis", "rediss", "reload", "res", "resource", "rmi", "rsync", "rtmfp",
    "rtmp", "rtsp", "rtsps", "rtspu", "sarif", "secondlife", "secret-token", "service", "session", "sftp", "sgn",
    "shc", "shelter", "shttp", "sieve", "simpleledger", "simplex", "sip", "sips", "skype", "smb", "smp", "sms",
    "smtp", "snews", "snmp", "soap.beep", "soap.beeps", "soldat", "spiffe", "spotify", "ssb", "ssh", "starknet",
    "steam", "stun", "stuns", "submit", "svn", "swh", "swid", "swidpath", "tag", "taler", "teamspeak", "teapot",
    "teapots", "tel", "teliaeid", "telnet", "tftp", "things", "thismessage", "thzp", "tip", "tn3270", "tool", "turn",
    "turns", "tv", "udp", "unreal", "upt", "urn", "ut2004", "uuid-in-package", "v-event", "vemmi", "ventrilo", "ves",
    "videotex", "view-source", "vnc", "vnd.ms.radio", "vscode", "vscode-insiders", "vsls", "w3", "wais", "wasm",
    "wasm-js", "wcr", "web3", "webcal", "wifi", "wpid", "ws", "wss", "wtai", "wyciwyg", "xcon", "xcon-userid",
    "xfire", "xftp", "xmlrpc.beep", "xmlrpc.beeps", "xmpp", "xrcp", "xri", "ymsgr", "z39.50", "z39.50r", "z39.50s",
];

/// Not registered, and acted on by a browser or an operating system, in order.
#[rustfmt::skip]
const ACTED_ON: [&str; 49] = [
    "app-prefs", "applescript", "calshow", "chromehtml", "cocoa", "davs", "explorer", "facetime-audio",
    "facetime-group", "feeds", "firefox", "firefoxurl", "ftps", "googlechrome", "googlechromes", "help", "http",
    "https", "ie.http", "intent", "javascript", "livescript", "localhost", "mhtml", "microsoft-edge",
    "microsoft-edge-holographic", "mmsto", "mocha", "msteams-call", "music", "netshare", "photos-redirect",
    "podcasts", "prefs", "rdp", "safari-https", "search", "shell", "shortcuts", "sms-private", "smsto", "telprompt",
    "thunder", "vbscript", "videos", "webdav", "windowsdefender", "workflow", "x-man-page",
];

/// Whether a scheme is one of an installed program.
pub(super) fn is_of_program(scheme: &str) -> bool {
    if PROGRAMS.contains(&scheme) {
        return true;
    }
    let starts = scheme.starts_with(|first: char| first.is_ascii_lowercase());
    // Labels as in a host's name: no `+`, which makes one scheme of two, and nothing empty.
    let is_label = |label: &str| {
        let plain = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        !label.is_empty()
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let formed = (CHARS_MIN..=CHARS_MAX).contains(&scheme.len())
        && starts
        && scheme.split('.').all(is_label);
    let is_taken = REGISTERED.binary_search(&scheme).is_ok()
        || ACTED_ON.binary_search(&scheme).is_ok()
        || FAMILIES.iter().any(|family| scheme.starts_with(family))
        || scheme.ends_with("-ms");
    formed && !is_taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_name_that_nobody_else_acts_on() {
        for program in [
            "cursor",
            "vscode",
            "vscode-insiders",
            "code-oss",
            "warp",
            "warppreview",
            "kiro",
            "zed",
            "windsurf",
            "claude",
            "goose",
            "raycast",
            "jetbrains",
            "trae",
            "antigravity",
            "obsidian",
            "slack",
            "com.example.app",
            "com.raycast",
            "io.modelcontextprotocol.client",
            "app-2",
            "com.my-company.app",
        ] {
            assert!(is_of_program(program), "{program}");
        }
        for other in [
            "javascript",
            "vbscript",
            "data",
            "file",
            "blob",
            "filesystem",
            "about",
            "ftp",
            "ftps",
            "sftp",
            "ws",
            "wss",
            "http",
            "https",
            "mailto",
            "intent",
            "intent-x",
            "view-source",
            "chrome",
            "chrome-extension",
            "chrome-untrusted",
            "chromewebdata",
            "moz-extension",
            "ms-settings",
            "ms-msdt",
            "search-ms",
            "tel",
            "sms",
            "smsto",
            "sip",
            "callto",
            "facetime",
            "market",
            "itms",
            "itms-services",
            "android-app",
            "web+mcp",
            "coap+tcp",
            "microsoft-edge",
            "x-apple-helpbasic",
            "ssh",
            "git",
            "ldap",
            "magnet",
            "jar",
            "iris.beep",
            "vnd.ms.radio",
            "z39.50",
            "localhost",
            "devtools",
            "safari-web-extension",
            "shortcuts",
            "",
            "x",
            "ab",
            "1password",
            "-app",
            "app-",
            "app.",
            ".app",
            "com..app",
            "com.-app",
            "Cursor",
            "cur sor",
            "cur_sor",
            "cursor\u{200b}",
            "c%75rsor",
        ] {
            assert!(!is_of_program(other), "{other}");
        }
        assert!(!is_of_program(&"a".repeat(CHARS_MAX + 1)));
    }

    #[test]
    fn the_lists_are_in_order() {
        assert!(REGISTERED.is_sorted() && ACTED_ON.is_sorted());
    }
}
