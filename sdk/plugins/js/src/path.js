// Paths made of untrusted values. The rules are those of sdk/plugins/rust/src/http/address.rs.

import { ToolError } from './error.js';

/**
 * A path in which each value is exactly one segment or part of one: path`/books/${id}`. A value that is
 * empty, `.` or `..` is refused: `DELETE /books/` without an id would mean all books.
 */
export function path(texts, ...values) {
  if (!Array.isArray(texts?.raw)) throw new TypeError('`path` is a template tag: path`/books/${id}`, without parentheses');
  return texts.reduce((out, text, index) => out + segment(values[index - 1]) + text);
}

function segment(value) {
  const text = ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : '';
  if (['', '.', '..'].includes(text)) {
    throw ToolError.invalid('', `\`${text}\` cannot be part of an address: give the real name or id`);
  }
  return encodeURIComponent(text);
}
