//! From the text of a script to JavaScript that the interpreter takes, with the same lines and columns.

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::{Parser, ParserReturn};
use oxc_span::SourceType;

use crate::failure::{GuestFailure, SYNTAX_ERROR};
use crate::limits::BRACKET_DEPTH_MAX;
use crate::place::{PREAMBLE, Place};
use crate::types::TypeEraser;

/// The JavaScript of `script`, which is TypeScript or JavaScript, after a preamble.
pub(crate) fn javascript(script: &str) -> Result<String, GuestFailure> {
    check_depth(script)?;
    let allocator = Allocator::default();
    let typed = Parser::new(&allocator, script, SourceType::ts().with_module(true)).parse();
    let parsed = match first_error(&typed) {
        None => typed,
        Some(error) => {
            let plain = Parser::new(&allocator, script, SourceType::mjs()).parse();
            if first_error(&plain).is_some() {
                return Err(syntax_failure(script, error));
            }
            plain
        }
    };
    let mut eraser = TypeEraser::new(script);
    eraser.visit_program(&parsed.program);
    Ok(format!("{PREAMBLE}{}", eraser.finish()?))
}

/// Message and offset of the first error.
fn first_error(parsed: &ParserReturn<'_>) -> Option<(String, usize)> {
    let error = parsed.diagnostics.errors().next();
    let Some(error) = error else {
        return parsed.panicked.then(|| ("unexpected token".to_owned(), 0));
    };
    let offset = error
        .labels
        .first()
        .map_or(0, |label| label.offset() as usize);
    Some((error.message.to_string(), offset))
}

fn syntax_failure(script: &str, (message, offset): (String, usize)) -> GuestFailure {
    GuestFailure::syntax(SYNTAX_ERROR, message, Place::from_offset(script, offset))
}

/// Refuses brackets that are nested too deeply, wherever they stand: the parsers recurse, and texts with that many open
/// brackets are rare.
fn check_depth(script: &str) -> Result<(), GuestFailure> {
    let mut depth = 0_usize;
    for (offset, byte) in script.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > BRACKET_DEPTH_MAX {
            let message = format!("brackets are nested more than {BRACKET_DEPTH_MAX} deep");
            return Err(syntax_failure(script, (message, offset)));
        }
    }
    Ok(())
}
