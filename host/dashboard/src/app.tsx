// Which page an address shows. Pages come when they are first opened, each in a file of its own.

import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { Component, lazy, Suspense, useEffect, useState, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { part } from './api/chunk';
import { ApiError, call, whenSignedOut } from './api/client';
import type { Me } from './api/types';
import { MeContext } from './shell/me';
import { Shell } from './shell/shell';
import { SignInAgain } from './shell/sign-in-again';
import { LaterProvider } from './ui/later';
import { Empty, ErrorNote, Waiting } from './ui/note';
import { Page } from './ui/page';
import { Toasts } from './ui/toast';
import { Button } from './ui/button';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The gateway may be on this machine; a browser that says it is offline need not be cut off from it.
      networkMode: 'always',
      staleTime: 5_000,
      // A refusal will not change by asking again; a gateway that restarts will be back.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status === 503),
    },
    mutations: { networkMode: 'always' },
  },
});

const GATES: [string, LazyExoticComponent<ComponentType>][] = [
  ['/sign-in', lazy(part(() => import('./pages/sign-in')))],
  ['/authorize', lazy(part(() => import('./pages/authorize')))],
  ['/setup', lazy(part(() => import('./pages/setup')))],
  ['/join', lazy(part(() => import('./pages/setup')))],
];

const PAGES: [string, LazyExoticComponent<ComponentType>][] = [
  ['/overview', lazy(part(() => import('./pages/overview')))],
  ['/tools', lazy(part(() => import('./pages/tools')))],
  ['/tools/:tool', lazy(part(() => import('./pages/tool')))],
  ['/integrations', lazy(part(() => import('./pages/integrations')))],
  ['/integrations/:service/account', lazy(part(() => import('./pages/account-question')))],
  ['/integrations/:service', lazy(part(() => import('./pages/integration')))],
  ['/connections', lazy(part(() => import('./pages/connections')))],
  ['/plugins', lazy(part(() => import('./pages/plugins')))],
  ['/plugins/:service', lazy(part(() => import('./pages/plugin')))],
  ['/toolsets', lazy(part(() => import('./pages/toolsets')))],
  ['/toolsets/:toolset', lazy(part(() => import('./pages/toolset')))],
  ['/skills', lazy(part(() => import('./pages/skills')))],
  ['/skills/:skill', lazy(part(() => import('./pages/skill')))],
  ['/permissions', lazy(part(() => import('./pages/users')))],
  ['/permissions/:user', lazy(part(() => import('./pages/permissions')))],
  ['/approvals', lazy(part(() => import('./pages/approvals')))],
  ['/approvals/:approval', lazy(part(() => import('./pages/approval')))],
  ['/executions', lazy(part(() => import('./pages/executions')))],
  ['/executions/compare', lazy(part(() => import('./pages/compare')))],
  ['/executions/:execution', lazy(part(() => import('./pages/execution')))],
  ['/sessions', lazy(part(() => import('./pages/sessions')))],
  ['/sessions/:session', lazy(part(() => import('./pages/session')))],
  ['/scripts', lazy(part(() => import('./pages/scripts')))],
  ['/scripts/:run', lazy(part(() => import('./pages/script')))],
  ['/knowledge', lazy(part(() => import('./pages/knowledge')))],
  ['/knowledge/:document', lazy(part(() => import('./pages/document')))],
  ['/webhooks', lazy(part(() => import('./pages/webhooks')))],
  ['/webhooks/:webhook', lazy(part(() => import('./pages/webhook')))],
  ['/triggers', lazy(part(() => import('./pages/triggers')))],
  ['/triggers/:trigger', lazy(part(() => import('./pages/trigger')))],
  ['/settings/api', lazy(part(() => import('./pages/keys')))],
  ['/settings/apps', lazy(part(() => import('./pages/apps')))],
  ['/settings/clients', lazy(part(() => import('./pages/clients')))],
  ['/settings/members', lazy(part(() => import('./pages/members')))],
  ['/settings/workspace', lazy(part(() => import('./pages/workspace')))],
  ['/settings/audit', lazy(part(() => import('./pages/audit')))],
  ['/settings/account', lazy(part(() => import('./pages/account')))],
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
  const client = useQueryClient();
  const [ended, setEnded] = useState(false);
  useEffect(() => {
    whenSignedOut(() => {
      // Whoever was signed in signs in over the page, which stays with what was typed into it.
      if (client.getQueryData(['me'])) {
        setEnded(true);
        return;
      }
      const { pathname, search } = window.location;
      // Several requests may hear of it, one after the other.
      if (pathname !== '/sign-in') go(`/sign-in?return_to=${encodeURIComponent(pathname + search)}`, { replace: true });
    });
  }, [client, go]);
  const me = useQuery({ queryKey: ['me'], queryFn: () => call<Me>('GET', '/me'), staleTime: 60_000 });
  // Who was signed in still is while the gateway starts again: the page stays, with what was typed into it.
  if (!me.data) {
    if (!me.error || (me.error instanceof ApiError && me.error.status === 401)) return <Waiting />;
    return <div className="gate"><main><ErrorNote error={me.error} retry={() => void me.refetch()} /></main></div>;
  }
  return (
    <MeContext value={me.data}>
      <LaterProvider>
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
      </LaterProvider>
      {ended && <SignInAgain onSignedIn={() => setEnded(false)} />}
    </MeContext>
  );
}

function Nowhere() {
  const [, go] = useLocation();
  return (
    <Page title="Page not found">
      <Empty icon="search" title="Nothing here" action={<Button onClick={() => go('/overview')}>Go to the overview</Button>}>
        The address may be out of date or mistyped.
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
