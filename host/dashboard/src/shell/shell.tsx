// Around every page of the signed-in: navigation, the workspace, live updates, the person's menu.

import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { call, whenSignedOut } from '../api/client';
import { listen, type Live } from '../api/events';
import { Button } from '../ui/button';
import { Menu } from '../ui/menu';
import { Badge } from '../ui/badge';
import { useToast } from '../ui/toast';
import { HelpKeys } from './help-keys';
import { commandOf, isTyping, singleKeys } from './keys';
import { LoadingPlugins } from './loading-plugins';
import { useMe } from './me';
import { Brand, Nav } from './nav';
import { Outage } from './outage';
import { setTheme, theme, type Theme } from './theme';

const Palette = lazy(() => import('./palette'));

export function Shell({ children }: { children: ReactNode }) {
  const me = useMe();
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const live = useLive();
  const [panel, setPanel] = useCommands();
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
          {/* The plan of a workspace for which nobody has set one has no limits. */}
          {me.workspace.plan !== 'enterprise' && <span className="only-wide"><Badge>{me.workspace.plan}</Badge></span>}
          <span className="grow" />
          <Button kind="quiet" icon="search" aria-label="Find (Ctrl K)" title="Find (Ctrl K)" onClick={() => setPanel('palette')} />
          <LiveMark live={live} />
          <ThemeMenu />
          <PersonMenu />
        </header>
        <Outage live={live} />
        <LoadingPlugins />
        <main id="main" className="page" ref={main} tabIndex={-1}>{children}</main>
      </div>
      {panel === 'palette' && <Suspense><Palette onClose={() => setPanel(null)} /></Suspense>}
      {panel === 'help' && <HelpKeys onClose={() => setPanel(null)} />}
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

function useLive(): Live {
  const client = useQueryClient();
  const [live, setLive] = useState<Live>('connecting');
  useEffect(() => listen(client, setLive), [client]);
  return live;
}

/** Keys of the whole page, and the dialog that one of them has opened. */
function useCommands() {
  const [panel, setPanel] = useState<'palette' | 'help' | null>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const command = commandOf(event, isTyping(event.target), singleKeys());
      const inDialog = document.querySelector('dialog[open]') != null;
      if (!command || (inDialog && command !== 'submit')) return;
      if (command === 'submit') {
        (event.target as HTMLInputElement).form?.requestSubmit();
        return;
      }
      event.preventDefault();
      const search = command === 'search' ? document.querySelector<HTMLInputElement>('main input[type=search]') : null;
      if (search) search.focus();
      else setPanel(command === 'help' ? 'help' : 'palette');
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return [panel, setPanel] as const;
}

function LiveMark({ live }: { live: Live }) {
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
        { label: 'System', icon: 'screen', onSelect: choose('system') },
        { label: 'Light', icon: 'sun', onSelect: choose('light') },
        { label: 'Dark', icon: 'moon', onSelect: choose('dark') },
      ]}
    />
  );
}

function PersonMenu() {
  const me = useMe();
  const [, go] = useLocation();
  const toast = useToast();
  const out = () => {
    // Who leaves is not asked to come back.
    const before = whenSignedOut(() => {});
    call('POST', '/sign-out', { body: {} })
      .then(() => window.location.assign('/sign-in'))
      .catch((refused: unknown) => {
        whenSignedOut(before);
        toast.error(refused);
      });
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
