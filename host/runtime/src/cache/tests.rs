//! A stored component is loaded, and a file that was changed is not.

use std::path::Path;

use wasmtime::component::Linker;
use wasmtime::{Engine, Store};

use super::*;

/// A component that answers with its data.
fn answering(engine: &Engine, data: u8) -> Component {
    let filler = "(func (result i32) i32.const 7 i32.const 9 i32.mul)".repeat(200);
    let text = format!(
        r#"(component
            (core module $m
                (memory 1)
                (data (i32.const 0) "\{data:02x}")
                (func (export "run") (result i32) (i32.load8_u (i32.const 0)))
                {filler})
            (core instance $i (instantiate $m))
            (func (export "run") (result u32) (canon lift (core func $i "run"))))"#
    );
    Component::new(engine, wat::parse_str(text).unwrap()).unwrap()
}

fn run(engine: &Engine, component: &Component) -> u32 {
    let mut store = Store::new(engine, ());
    let linker = Linker::new(engine);
    let instance = linker.instantiate(&mut store, component).unwrap();
    let run = instance
        .get_typed_func::<(), (u32,)>(&mut store, "run")
        .unwrap();
    run.call(&mut store, ()).unwrap().0
}

fn with_ending(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = files(dir).unwrap();
    found.retain(|path| path.extension().is_some_and(|of| of == ending));
    found
}

fn cache(dir: &Path, engine: &Engine, bytes_max: Option<u64>) -> CodeCache {
    CodeCache::open(dir, [7; 32], engine, bytes_max).unwrap()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_loaded_is_what_was_compiled() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let cache = cache(folder.path(), &engine, None);
    for data in [10, 20, 30] {
        let component = answering(&engine, data);
        cache.store(&format!("{data}"), &component).unwrap();
    }
    assert_eq!(with_ending(folder.path(), "cwasm").len(), 3);
    for data in [10, 20, 30] {
        let loaded = cache.load(&engine, &format!("{data}")).unwrap();
        assert_eq!(run(&engine, &loaded), u32::from(data));
        let compiled = answering(&engine, data).serialize().unwrap();
        assert_eq!(loaded.serialize().unwrap(), compiled);
    }
}

#[test]
fn a_component_that_is_removed_leaves_nothing_and_runs_on_where_it_is_loaded() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let cache = cache(folder.path(), &engine, None);
    cache.store("a", &answering(&engine, 1)).unwrap();
    cache.store("b", &answering(&engine, 2)).unwrap();
    let running = cache.load(&engine, "a").unwrap();
    cache.remove("a");
    assert!(cache.load(&engine, "a").is_none());
    assert_eq!(run(&engine, &cache.load(&engine, "b").unwrap()), 2);
    cache.remove("b");
    assert_eq!(files(folder.path()).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(run(&engine, &running), 1, "what is mapped stays mapped");
}

#[test]
fn one_component_is_kept_by_many_threads_at_once() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let cache = cache(folder.path(), &engine, None);
    let component = answering(&engine, 5);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    cache.store("a", &component).unwrap();
                }
            });
        }
    });
    assert_eq!(run(&engine, &cache.load(&engine, "a").unwrap()), 5);
}

#[test]
fn a_changed_file_is_never_loaded_and_is_written_again() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let cache = cache(folder.path(), &engine, None);
    let component = answering(&engine, 5);
    for ending in ["cwasm", "mac"] {
        cache.store("a", &component).unwrap();
        let file = with_ending(folder.path(), ending).pop().unwrap();
        let bytes = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap();
        for at in (0..bytes).step_by(bytes / 61 + 1) {
            flip(&file, at);
            assert!(cache.load(&engine, "a").is_none(), "{ending}, byte {at}");
            flip(&file, at);
            assert!(
                cache.load(&engine, "a").is_some(),
                "{ending}, byte {at} put back"
            );
        }
        flip(&file, 0);
        cache.store("a", &component).unwrap();
        assert_eq!(run(&engine, &cache.load(&engine, "a").unwrap()), 5);
        fs::write(&file, b"").unwrap();
        assert!(cache.load(&engine, "a").is_none(), "{ending} cut off");
        fs::remove_file(&file).unwrap();
        assert!(cache.load(&engine, "a").is_none(), "{ending} gone");
    }
}

#[test]
fn the_mac_of_one_component_does_not_vouch_for_another_nor_under_another_key() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let here = cache(folder.path(), &engine, None);
    here.store("a", &answering(&engine, 1)).unwrap();
    here.store("b", &answering(&engine, 2)).unwrap();
    fs::copy(here.path("b"), here.path("a")).unwrap();
    assert!(here.load(&engine, "a").is_none(), "an image of another");
    fs::copy(mac_path(&here.path("b")), mac_path(&here.path("a"))).unwrap();
    assert!(here.load(&engine, "a").is_none(), "with its MAC as well");
    let foreign = CodeCache::open(folder.path(), [8; 32], &engine, None).unwrap();
    assert!(foreign.load(&engine, "b").is_none());
    assert!(here.load(&engine, "b").is_some());
}

#[test]
fn a_folder_with_a_bound_removes_the_least_recently_used_files() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let unbounded = cache(folder.path(), &engine, None);
    for (age, name) in [(30, "old"), (20, "unused"), (10, "young")] {
        unbounded.store(name, &answering(&engine, age)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the age of a file on disk")]
        let aged = SystemTime::now() - std::time::Duration::from_secs(u64::from(age) * 60);
        let image = fs::File::options()
            .write(true)
            .open(unbounded.path(name))
            .unwrap();
        image.set_modified(aged).unwrap();
    }
    let bounded = cache(
        folder.path(),
        &engine,
        Some(disk_bytes(folder.path()).unwrap()),
    );
    assert!(bounded.load(&engine, "old").is_some(), "used now");
    bounded.store("new", &answering(&engine, 1)).unwrap();
    assert!(bounded.load(&engine, "unused").is_none());
    for (name, answer) in [("old", 30), ("young", 10), ("new", 1)] {
        assert_eq!(run(&engine, &bounded.load(&engine, name).unwrap()), answer);
    }
}

#[test]
fn code_of_another_version_is_removed_and_nothing_else() {
    let (folder, engine) = (tempfile::tempdir().unwrap(), Engine::default());
    let before = cache(folder.path(), &engine, None);
    before.store("kept", &answering(&engine, 3)).unwrap();
    let kept = before.path("kept");
    let earlier = folder.path().join("old-0123456789abcdef.cwasm");
    for path in [
        earlier.clone(),
        mac_path(&earlier),
        folder.path().join("notes"),
    ] {
        fs::write(path, "x").unwrap();
    }
    let after = cache(folder.path(), &engine, None);
    assert_eq!(run(&engine, &after.load(&engine, "kept").unwrap()), 3);
    let mut left = files(folder.path()).unwrap();
    left.sort();
    let mut expected = [kept.clone(), mac_path(&kept), folder.path().join("notes")];
    expected.sort();
    assert_eq!(left, expected);
}
