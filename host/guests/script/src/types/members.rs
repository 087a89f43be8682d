//! Classes: their modifiers, their members without code, and what they say they implement.

use oxc_ast::ast::{
    Class, MethodDefinition, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType,
};
use oxc_span::{GetSpan as _, Span};

use super::TypeEraser;

/// Modifiers that only TypeScript has.
const MODIFIERS: [&str; 7] = [
    "abstract",
    "declare",
    "override",
    "private",
    "protected",
    "public",
    "readonly",
];

impl TypeEraser<'_> {
    /// Blanks `abstract` before a class, and `implements` after it.
    pub(super) fn blank_class_head(&mut self, it: &Class<'_>) {
        let start = it.span.start as usize;
        if it.r#abstract && self.mask.word(start) == "abstract" {
            self.mask.blank(start, start + "abstract".len());
        }
        let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) else {
            return;
        };
        let head_end = match (&it.heritage, &it.type_parameters, &it.id) {
            (Some(heritage), _, _) => match &heritage.type_arguments {
                Some(types) => types.span.end,
                None => heritage.expression.span().end,
            },
            (None, Some(types), _) => types.span.end,
            (None, None, Some(id)) => id.span.end,
            (None, None, None) => first.span.start,
        };
        self.mask.blank(head_end as usize, last.span.end as usize);
        if it.heritage.is_none() && it.type_parameters.is_none() && it.id.is_none() {
            self.blank_word_before("implements", first.span.start as usize);
        }
    }

    /// Blanks `word`, the last one before `end`, in a class without a name.
    fn blank_word_before(&mut self, word: &str, end: usize) {
        let before = self.script.get(..end).unwrap_or_default();
        if let Some(start) = before.rfind(word) {
            self.mask.blank(start, end);
        }
    }

    /// Whether the whole method is erased. Blanks its modifiers if not.
    pub(super) fn erase_method(&mut self, it: &MethodDefinition<'_>) -> bool {
        let is_abstract = it.r#type == MethodDefinitionType::TSAbstractMethodDefinition;
        if is_abstract || it.value.body.is_none() {
            self.mask.blank_statement(it.span);
            return true;
        }
        self.blank_modifiers(it.span, it.key.span());
        if it.optional {
            self.blank_mark('?', it.key.span().end);
        }
        false
    }

    /// Whether the whole property is erased. Blanks its modifiers if not.
    pub(super) fn erase_property(&mut self, it: &PropertyDefinition<'_>) -> bool {
        let is_abstract = it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition;
        if is_abstract || it.declare {
            self.mask.blank_statement(it.span);
            return true;
        }
        self.blank_modifiers(it.span, it.key.span());
        if it.optional {
            self.blank_mark('?', it.key.span().end);
        }
        if it.definite {
            self.blank_mark('!', it.key.span().end);
        }
        false
    }

    /// Blanks the modifiers before a key. A `;` in the place of the first word ends the member before it.
    fn blank_modifiers(&mut self, member: Span, key: Span) {
        let (start, end) = (member.start as usize, key.start as usize);
        let mut offset = start;
        while let Some((at, _, _)) = self.mask.next_token(offset) {
            if at >= end {
                return;
            }
            let word = self.mask.word(at);
            if MODIFIERS.contains(&word) {
                self.mask.blank(at, at + word.len());
                if at == start {
                    self.mask.write(at, ';');
                }
            }
            offset = at + word.len().max(1);
        }
    }
}
