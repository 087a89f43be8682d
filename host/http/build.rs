//! Has the dashboard embedded anew when it was built anew (`make dashboard` writes `dashboard/dist`).

use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    // A folder that is not there could not be watched. Empty, it means: built without dashboard.
    let dashboard = here.join("../dashboard/dist");
    let _ = std::fs::create_dir_all(&dashboard);
    println!("cargo::rerun-if-changed={}", dashboard.display());
}
