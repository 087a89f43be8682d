//! The pipeline on a real wire.
