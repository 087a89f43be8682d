// Which page an address shows. Pages come when they are first opened, each in a file of its own.

import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { Component, lazy, Suspense, useEffect, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { ApiError, call, whenSignedOut } from './api/client';
import type { Me } from './api/types';
import { MeContext } from './shell/me';
import { Shell } from './shell/shell';
import { Empty, ErrorNote, Waiting } from './ui/note';
import { Page } from './ui/page';
import { Toasts } from './ui/toast';
import { Button } from './ui/button';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal will not change by asking again; a gateway that restarts will be back.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status === 503),
    },
  },
});

const GATES: [string, LazyExoticComponent<ComponentType>][] = [
  ['/sign-in', lazy(() => import('./pages/sign-in'))],
  ['/setup', lazy(() => import('./pages/setup'))],
  ['/join', lazy(() => import('./pages/setup'))],
];

const PAGES: [string, LazyExoticComponent<ComponentType>][] = [
  ['/overview', lazy(() => import('./pages/overview'))],
  ['/tools', lazy(() => import('./pages/tools'))],
  ['/tools/:tool', lazy(() => import('./pages/tool'))],
  ['/integrations', lazy(() => import('./pages/integrations'))],
  ['/integrations/:service', lazy(() => import('./pages/integration'))],
  ['/plugins', lazy(() => import('./pages/plugins'))],
  ['/plugins/:service', lazy(() => import('./pages/plugin'))],
  ['/skills', lazy(() => import('./pages/skills'))],
  ['/skills/:skill', lazy(() => import('./pages/skill'))],
  ['/permissions', lazy(() => import('./pages/users'))],
  ['/permissions/:user', lazy(() => import('./pages/permissions'))],
  ['/approvals', lazy(() => import('./pages/approvals'))],
  ['/approvals/:approval', lazy(() => import('./pages/approval'))],
  ['/executions', lazy(() => import('./pages/executions'))],
  ['/executions/:execution', lazy(() => import('./pages/execution'))],
  ['/sessions', lazy(() => import('./pages/sessions'))],
  ['/sessions/:session', lazy(() => import('./pages/session'))],
  ['/knowledge', lazy(() => import('./pages/knowledge'))],
  ['/knowledge/:document', lazy(() => import('./pages/document'))],
  ['/webhooks', lazy(() => import('./pages/webhooks'))],
  ['/webhooks/:webhook', lazy(() => import('./pages/webhook'))],
  ['/settings/api', lazy(() => import('./pages/keys'))],
  ['/settings/clients', lazy(() => import('./pages/clients'))],
  ['/settings/members', lazy(() => import('./pages/members'))],
  ['/settings/workspace', lazy(() => import('./pages/workspace'))],
  ['/settings/audit', lazy(() => import('./pages/audit'))],
  ['/settings/account', lazy(() => import('./pages/account'))],
];

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Toasts>
        <Caught>
          <Suspense fallback={<Waiting />}>
            <Switch>
              {GATES.map(([path, Gate]) => (
                <Route key={path} path={path}>
                  <Gate />
                </Route>
              ))}
              <Route>
                <SignedIn />
              </Route>
            </Switch>
          </Suspense>
        </Caught>
      </Toasts>
    </QueryClientProvider>
  );
}

function SignedIn() {
  const [here, go] = useLocation();
  useEffect(() => {
    whenSignedOut(() => {
      const { pathname, search } = window.location;
      // Several requests may hear of it, one after the other.
      if (pathname !== '/sign-in') go(`/sign-in?return_to=${encodeURIComponent(pathname + search)}`, { replace: true });
    });
  }, [go]);
  const me = useQuery({ queryKey: ['me'], queryFn: () => call<Me>('GET', '/me'), staleTime: 60_000 });
  // Who was signed in still is while the gateway starts again: the page stays, with what was typed into it.
  if (!me.data) {
    if (!me.error || (me.error instanceof ApiError && me.error.status === 401)) return <Waiting />;
    return <div className="gate"><main><ErrorNote error={me.error} retry={() => void me.refetch()} /></main></div>;
  }
  return (
    <MeContext value={me.data}>
      <Shell>
        <Caught key={here}>
          <Suspense fallback={<Waiting />}>
            <Switch>
              <Route path="/"><Redirect to="/overview" replace /></Route>
              <Route path="/settings/keys"><Redirect to="/settings/api" replace /></Route>
              <Route path="/settings"><Redirect to="/settings/workspace" replace /></Route>
              {PAGES.map(([path, Page]) => (
                <Route key={path} path={path}>
                  <Page />
                </Route>
              ))}
              <Route><Nowhere /></Route>
            </Switch>
          </Suspense>
        </Caught>
      </Shell>
    </MeContext>
  );
}

function Nowhere() {
  const [, go] = useLocation();
  return (
    <Page title="There is no such page">
      <Empty icon="search" title="Nothing is here" action={<Button onClick={() => go('/overview')}>Go to the overview</Button>}>
        The address may be old, or mistyped.
      </Empty>
    </Page>
  );
}

/** A page that broke says so; the others keep working. */
class Caught extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error == null) return this.props.children;
    return <ErrorNote error={this.state.error} retry={() => window.location.reload()} />;
  }
}
