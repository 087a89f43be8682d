// Labelled inputs. A field ties its label, its hint and what is wrong with it to its input.

import { useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from 'react';

interface Common {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong, in words. */
  wrong?: string | null | undefined;
  /** Keeps the label for screen readers only, where a filter explains itself. */
  bare?: boolean;
}

interface Wiring {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

function Field({ label, hint, wrong, bare, children }: Common & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ') || undefined;
  return (
    <div className="field">
      <label htmlFor={id} className={bare ? 'only-read' : undefined}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': wrong ? true : undefined })}
      {hint && <span id={`${id}-hint`} className="hint">{hint}</span>}
      {wrong && <span id={`${id}-wrong`} className="wrong">{wrong}</span>}
    </div>
  );
}

type Text = Common & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & { onChange: (value: string) => void };

export function TextField({ label, hint, wrong, bare, onChange, className, ...rest }: Text) {
  return (
    <Field label={label} hint={hint} wrong={wrong} bare={bare}>
      {(wiring) => <input type="text" autoComplete="off" {...rest} {...wiring} className={`input ${className ?? ''}`} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

type Area = Common & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'> & { onChange: (value: string) => void; code?: boolean };

export function TextArea({ label, hint, wrong, bare, onChange, code, ...rest }: Area) {
  return (
    <Field label={label} hint={hint} wrong={wrong} bare={bare}>
      {(wiring) => <textarea spellCheck={!code} {...rest} {...wiring} className={`input ${code ? 'mono-text' : ''}`} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

type Choice = Common & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> & { onChange: (value: string) => void; options: readonly (readonly [string, string])[] };

/** `options` are pairs of value and what is shown. */
export function SelectField({ label, hint, wrong, bare, onChange, options, className, ...rest }: Choice) {
  return (
    <Field label={label} hint={hint} wrong={wrong} bare={bare}>
      {(wiring) => (
        <select {...rest} {...wiring} className={`input ${className ?? ''}`} onChange={(event) => onChange(event.target.value)}>
          {options.map(([value, shown]) => (
            <option key={value} value={value}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, hint, checked, onChange, disabled }: { label: ReactNode; hint?: ReactNode; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {hint && <span className="muted small"> {hint}</span>}
      </span>
    </label>
  );
}
