//! The two sizes of plugins, and their limits.
//!
//! Nearly every plugin is ordinary. A language that brings its own interpreter (JavaScript, Python)
//! makes a large one: its author asks for more memory than an ordinary plugin gets, and it serves only
//! where the operator allows that (`--allow-large-plugins`). Large ones run on an engine of their own,
//! so that nothing of the ordinary pool is widened for them. What may be imported is the same for both.

use std::time::Duration;

use super::limits;
use toolgate_catalog::manifest::{DeclaredLimits, Manifest};

/// Which of the two a plugin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Ordinary,
    /// Its manifest asks for more than [`limits::MEMORY_BYTES_MAX`].
    Large,
}

/// What one size may use.
#[derive(Debug)]
pub struct SizeBounds {
    /// Component file.
    pub component_bytes_max: u64,
    /// Guest memory of one call, summed over all its linear memories.
    pub memory_bytes_max: usize,
    /// Elements of one guest table.
    pub table_elements_max: usize,
    /// Tables, memories and core instances of one component.
    pub tables_max: usize,
    pub memories_max: usize,
    pub instances_max: usize,
    /// Calls running at one time. One key has half of them.
    pub places_max: usize,
    /// Processor time that compiling one component may take.
    pub compile_time_max: Duration,
    /// Address space of the process that compiles it.
    pub compile_bytes_max: usize,
    /// Compiled code on disk; beyond it the least recently used is removed. `None`: without a limit.
    pub code_bytes_max: Option<u64>,
    /// The guest's call stack.
    pub stack_bytes_max: usize,
}

const ORDINARY: SizeBounds = SizeBounds {
    component_bytes_max: limits::COMPONENT_BYTES_MAX,
    memory_bytes_max: limits::MEMORY_BYTES_MAX,
    table_elements_max: limits::TABLE_ELEMENTS_MAX,
    tables_max: limits::TABLES_MAX,
    memories_max: limits::MEMORIES_MAX,
    instances_max: limits::INSTANCES_MAX,
    places_max: limits::PLACES_MAX,
    compile_time_max: Duration::from_secs(120),
    compile_bytes_max: 3 << 30,
    code_bytes_max: None,
    stack_bytes_max: 512 << 10,
};

const LARGE: SizeBounds = SizeBounds {
    component_bytes_max: 48 << 20,
    memory_bytes_max: 256 << 20,
    table_elements_max: limits::TABLE_ELEMENTS_MAX,
    tables_max: 16,
    memories_max: limits::MEMORIES_MAX,
    instances_max: 128,
    places_max: 16,
    compile_time_max: Duration::from_secs(300),
    compile_bytes_max: 6 << 30,
    code_bytes_max: Some(1 << 30),
    stack_bytes_max: 1 << 20,
};

impl Size {
    pub fn for_manifest(manifest: &Manifest) -> Self {
        if memory_bytes_max(&manifest.limits) > limits::MEMORY_BYTES_MAX {
            Self::Large
        } else {
            Self::Ordinary
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Large => "large",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Ordinary, Self::Large]
            .into_iter()
            .find(|size| size.as_str() == text)
    }

    pub fn bounds(self) -> &'static SizeBounds {
        match self {
            Self::Ordinary => &ORDINARY,
            Self::Large => &LARGE,
        }
    }
}

/// Guest memory of one call: what the manifest asks for, else all that an ordinary plugin gets.
pub fn memory_bytes_max(asked: &DeclaredLimits) -> usize {
    asked
        .memory_mib
        .map_or(limits::MEMORY_BYTES_MAX, |mib| (mib as usize) << 20)
}
