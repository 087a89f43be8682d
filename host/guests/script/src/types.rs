//! Erases types: what TypeScript adds becomes spaces. What would need other code than spaces is refused.
//!
//! Two things need a character. What ends at the end of a line because a type follows would go on in the next line
//! without it, so a `;` stands there; and the parameters of an arrow function have to end in its line.

mod mask;
mod members;

use oxc_ast::ast::{
    ArrowFunctionExpression, Class, Declaration, Decorator, ExportAllDeclaration,
    ExportDefaultDeclaration, ExportDefaultDeclarationKind, ExportFromDeclaration,
    ExportNamedDeclaration, FormalParameter, ImportDeclaration, ImportExpression,
    ImportOrExportKind, MethodDefinition, PropertyDefinition, Statement, TSAsExpression,
    TSEnumDeclaration, TSExportAssignment, TSImportEqualsDeclaration, TSIndexSignature,
    TSNamespaceDeclaration, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};

use crate::failure::{GuestFailure, UNSUPPORTED_SYNTAX};
use crate::place::Place;
use mask::SourceMask;

const NO_IMPORT: &str =
    "a script cannot import: its tools are globals, for example `github.createIssue({..})`";

pub(crate) struct TypeEraser<'s> {
    script: &'s str,
    mask: SourceMask<'s>,
    refused: Option<GuestFailure>,
}

impl<'s> TypeEraser<'s> {
    pub(crate) fn new(script: &'s str) -> Self {
        Self {
            script,
            mask: SourceMask::new(script),
            refused: None,
        }
    }

    pub(crate) fn finish(self) -> Result<String, GuestFailure> {
        match self.refused {
            Some(refused) => Err(refused),
            None => Ok(self.mask.finish()),
        }
    }

    fn refuse(&mut self, span: Span, message: &str) {
        let place = Place::from_offset(self.script, span.start as usize);
        self.refused
            .get_or_insert_with(|| GuestFailure::syntax(UNSUPPORTED_SYNTAX, message, place));
    }

    /// Blanks `as T` or `satisfies T` after an expression.
    fn blank_conversion(&mut self, expression: Span, whole: Span) {
        let (start, end) = (expression.end as usize, whole.end as usize);
        self.mask.blank(start, end);
        if let Some((_, '(' | '[' | '`', true)) = self.mask.next_token(end) {
            self.mask.write(start, ';');
        }
    }

    /// Blanks the mark `?` or `!` after a name.
    fn blank_mark(&mut self, mark: char, end_of_name: u32) {
        let mut offset = end_of_name as usize;
        // After the key `[a.b]` its bracket comes first.
        while let Some((at, found, _)) = self.mask.next_token(offset) {
            if found == mark {
                self.mask.blank(at, at + 1);
            }
            if found != ']' {
                return;
            }
            offset = at + 1;
        }
    }

    fn blank_with_comma(&mut self, span: Span) {
        self.mask.blank_span(span);
        if let Some((at, ',', _)) = self.mask.next_token(span.end as usize) {
            self.mask.blank(at, at + 1);
        }
    }
}

fn is_type_only(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::VariableDeclaration(it) => it.declare,
        Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Declaration::ClassDeclaration(it) => it.declare,
        Declaration::TSEnumDeclaration(it) => it.declare,
        Declaration::TSNamespaceDeclaration(it) => it.declare,
        Declaration::TSImportEqualsDeclaration(_) => false,
    }
}

fn is_erased(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ExportDeclaration(it) => is_type_only(&it.declaration),
        Statement::ExportDefaultDeclaration(it) => match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
            ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.body.is_none(),
            _ => false,
        },
        Statement::ExportNamedDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
        Statement::ExportFromDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
        Statement::ImportDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
        Statement::TSNamespaceExportDeclaration(_) => true,
        other => other.as_declaration().is_some_and(is_type_only),
    }
}

impl<'a> Visit<'a> for TypeEraser<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if is_erased(it) {
            self.mask.blank_statement(it.span());
        } else {
            walk::walk_statement(self, it);
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.mask.blank_span(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.mask.blank_span(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.mask.blank_span(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank_with_comma(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.blank_conversion(it.expression.span(), it.span);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.blank_conversion(it.expression.span(), it.span);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.mask
            .blank(it.expression.span().end as usize, it.span.end as usize);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let types = Span::new(it.span.start, it.expression.span().start);
        if self.mask.has_line_end(types) {
            self.refuse(
                it.span,
                "a type assertion `<T>value` has to stand in one line",
            );
        }
        self.mask.blank_span(types);
        self.visit_expression(&it.expression);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark('!', it.id.span().end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(
                it.span,
                "a parameter cannot declare a property: assign it in the constructor",
            );
        }
        if it.optional {
            self.blank_mark('?', it.pattern.span().end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.join_arrow(it);
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.blank_class_head(it);
        walk::walk_class(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if self.erase_method(it) {
            return;
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if self.erase_property(it) {
            return;
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.mask.blank_statement(it.span);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        for specifier in &it.specifiers {
            if specifier.export_kind == ImportOrExportKind::Type {
                self.blank_with_comma(specifier.span);
            }
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        // The interpreter's parser takes `async` here for the beginning of a function's declaration alone.
        if let ExportDefaultDeclarationKind::ArrowFunctionExpression(arrow) = &it.declaration
            && arrow.r#async
        {
            self.mask.bracket(arrow.span);
        }
        walk::walk_export_default_declaration(self, it);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "a script cannot use decorators");
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.refuse(
            it.span,
            "a script cannot declare an enum: use an object `as const`",
        );
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.refuse(
            it.span,
            "a script cannot declare a namespace: use an object",
        );
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(
            it.span,
            "a script cannot use `export =`: use `export default`",
        );
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse(it.span, NO_IMPORT);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.refuse(it.span, NO_IMPORT);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse(it.span, NO_IMPORT);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.refuse(it.span, NO_IMPORT);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.refuse(it.span, NO_IMPORT);
    }
}

impl TypeEraser<'_> {
    /// Keeps `)` and `=>` of an arrow function, and `(` and what stands before it, in one line.
    fn join_arrow(&mut self, it: &ArrowFunctionExpression<'_>) {
        let params = it.params.span;
        if let Some(types) = &it.type_parameters
            && self.mask.has_line_end(types.span)
        {
            self.mask
                .blank(params.start as usize, params.start as usize + 1);
            self.mask.write(types.span.start as usize, '(');
        }
        if let Some(result) = &it.return_type
            && self
                .mask
                .has_line_end(Span::new(params.end, result.span.end))
        {
            self.mask
                .blank(params.end as usize - 1, params.end as usize);
            self.mask.write(result.span.end as usize - 1, ')');
        }
    }
}
