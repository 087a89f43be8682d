//! Pictures that pages show.

macro_rules! pictures {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../docs/screenshots/", $name)))),+]
    };
}

/// File names with their bytes. A test compares the list with the pictures of the pages.
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
