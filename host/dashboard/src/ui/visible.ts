// Foreign text as it may be shown: what a reader cannot see is written out, as the gateway does it.

// Controls, format, private and unassigned characters, separators, and what Unicode calls ignorable.
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2000-\u200a\u205f\u2800]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`));
}
