// A choice of few, all visible.

import { ToggleGroup } from 'radix-ui';

interface Option<Value extends string> {
  value: Value;
  label: string;
  tone?: 'ok' | 'warn' | 'bad';
}

interface Props<Value extends string> {
  label: string;
  value: Value;
  options: Option<Value>[];
  onChange: (value: Value) => void;
  disabled?: boolean;
}

export function Segments<Value extends string>({ label, value, options, onChange, disabled }: Props<Value>) {
  return (
    <ToggleGroup.Root type="single" className="segments" aria-label={label} value={value} disabled={disabled} onValueChange={(chosen) => chosen && onChange(chosen as Value)}>
      {options.map((option) => (
        <ToggleGroup.Item key={option.value} value={option.value} data-tone={option.tone}>
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
