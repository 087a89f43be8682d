import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Icon, type IconName } from './icon';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet' | 'destroy';
  size?: 'normal' | 'small';
  icon?: IconName;
  /** Work is under way: says so, and takes no second press. */
  busy?: boolean;
  children?: ReactNode;
}

const KINDS = { primary: 'primary', plain: '', danger: 'danger', quiet: 'quiet', destroy: 'danger primary' };

/** A button; without children it needs `aria-label` and shows its icon alone. */
export function Button({ kind = 'plain', size, icon, busy, children, className, disabled, ...rest }: Props) {
  const names = ['button', KINDS[kind], size === 'small' && 'small', children == null && 'square', className];
  return (
    <button type="button" className={names.filter(Boolean).join(' ')} disabled={disabled || busy} aria-busy={busy || undefined} {...rest}>
      {busy ? <span className="spin" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
