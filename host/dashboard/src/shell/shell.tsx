// Around every page of the signed-in: navigation, the workspace, live updates, the person's menu.

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/client';
import { listen, type Live } from '../api/events';
import { Button } from '../ui/button';
import { Menu } from '../ui/menu';
import { Badge } from '../ui/badge';
import { useSay } from '../ui/toast';
import { useMe } from './me';
import { Brand, Nav } from './nav';
import { setTheme, theme, type Theme } from './theme';

export function Shell({ children }: { children: ReactNode }) {
  const me = useMe();
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page starts at its top, for the eye and for the screen reader.
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [here]);
  return (
    <div className="shell">
      <a className="skip" href="#main">Skip to content</a>
      <aside className="sidebar" aria-label="Navigation">
        <Brand />
        <Nav />
      </aside>
      <div>
        <header className="topbar">
          <Drawer />
          <span className="place">{me.workspace.name}</span>
          <span className="only-wide"><Badge>{me.workspace.plan}</Badge></span>
          <span className="grow" />
          <LiveMark />
          <ThemeMenu />
          <PersonMenu />
        </header>
        <main id="main" className="page" ref={main} tabIndex={-1}>{children}</main>
      </div>
    </div>
  );
}

function Drawer() {
  const [open, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  return (
    <>
      <Button className="only-narrow" kind="quiet" icon="menu" aria-label="Open navigation" onClick={() => setOpen(true)} />
      {open && (
        <dialog ref={dialog} className="drawer" aria-label="Navigation" onClose={() => setOpen(false)} onClick={(event) => event.target === dialog.current && setOpen(false)}>
          <div className="row apart">
            <Brand />
            <Button kind="quiet" size="small" icon="close" aria-label="Close navigation" onClick={() => setOpen(false)} />
          </div>
          <Nav onGo={() => setOpen(false)} />
        </dialog>
      )}
    </>
  );
}

const LIVE: Record<Live, [string, string]> = {
  connecting: ['', 'connecting'],
  live: ['on', 'live'],
  lost: ['off', 'reconnecting'],
};

function LiveMark() {
  const client = useQueryClient();
  const [live, setLive] = useState<Live>('connecting');
  useEffect(() => listen(client, setLive), [client]);
  const [tone, word] = LIVE[live];
  return <span className={`live ${tone}`} role="status">{word}</span>;
}

function ThemeMenu() {
  const [chosen, setChosen] = useState<Theme>(theme);
  const choose = (next: Theme) => () => {
    setTheme(next);
    setChosen(next);
  };
  const icon = { system: 'screen', light: 'sun', dark: 'moon' } as const;
  return (
    <Menu
      label="Appearance"
      trigger={<Button kind="quiet" icon={icon[chosen]} aria-label="Appearance" />}
      entries={[
        { label: 'As the system', icon: 'screen', onSelect: choose('system') },
        { label: 'Light', icon: 'sun', onSelect: choose('light') },
        { label: 'Dark', icon: 'moon', onSelect: choose('dark') },
      ]}
    />
  );
}

function PersonMenu() {
  const me = useMe();
  const [, go] = useLocation();
  const say = useSay();
  const out = () => {
    call('POST', '/sign-out', { body: {} })
      .then(() => window.location.assign('/sign-in'))
      .catch(say.failed);
  };
  return (
    <Menu
      label="Your account"
      trigger={<Button kind="quiet" icon="person" aria-label="Your account" />}
      about={
        <>
          <div className="strong">{me.name}</div>
          <div className="muted small">{me.email}, {me.role}</div>
        </>
      }
      entries={[
        { label: 'Your account', icon: 'person', onSelect: () => go('/settings/account') },
        { label: 'Sign out', icon: 'out', onSelect: out },
      ]}
    />
  );
}
