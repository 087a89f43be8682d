// The browser's own dialog: it keeps the focus inside, closes with Escape and gives the focus back.

import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { holdEvents } from '../api/events';
import { Button } from './button';
import { ErrorNote } from './note';

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
  /** Makes the dialog a form; its footer holds the submit button. */
  onSubmit?: () => void;
  footer?: ReactNode;
}

/** What a person types into or chooses from. */
const FIRST_FIELD = ['input', 'select', 'textarea'].map((name) => `.inner ${name}:not([hidden], [readonly], [disabled])`).join(', ');

export function Dialog({ title, onClose, wide, children, onSubmit, footer }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    // It is out of the page before it could give the focus back by itself.
    const before = document.activeElement;
    if (element && !element.open) element.showModal();
    // The browser would begin at the button that closes.
    element?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  const inside = (
    <>
      <div className="inner stack">{children}</div>
      {footer && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog ref={dialog} aria-labelledby={id} className={wide ? 'wide' : undefined} onCancel={(event) => { event.preventDefault(); onClose(); }}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" size="small" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      {onSubmit ? <form onSubmit={submit} noValidate>{inside}</form> : inside}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The verb on the button: what will happen. */
  action: string;
  /** Throws when it was refused; the dialog then says why and stays. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something is destroyed. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const confirm = async () => {
    setBusy(true);
    try {
      await holdEvents(onConfirm);
      onClose();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="destroy" busy={busy} onClick={confirm}>{action}</Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      {children}
      {error != null && <ErrorNote error={error} />}
    </Dialog>
  );
}
