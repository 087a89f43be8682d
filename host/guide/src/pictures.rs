//! Pictures that pages show.

macro_rules! pictures {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../docs/screenshots/", $name)))),+]
    };
}

/// File names with their bytes; a test holds the list to what the pages show.
pub(crate) const PICTURES: &[(&str, &[u8])] = pictures![
    "approval.png",
    "connect.png",
    "execution.png",
    "overview.png",
    "permissions.png",
];

pub(crate) fn is_picture(name: &str) -> bool {
    PICTURES.iter().any(|(known, _)| *known == name)
}
