// The first hour of a workspace: what is done of it, and one press to do what is not. The gateway says what is done.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/client';
import type { FirstStep, FirstSteps as Shape } from '../api/types';
import { useMe } from '../shell/me';
import { Button } from './button';
import { Icon } from './icon';
import { Card } from './page';

export const firstSteps = { queryKey: ['overview', 'first-steps'], queryFn: () => call<Shape>('GET', '/first-steps') };

interface StepWords {
  name: string;
  about: string;
  action: string;
  to: string;
}

const STEPS: Record<FirstStep, StepWords> = {
  connect_service: { name: 'Connect a service', about: 'Choose one and sign in there with your own account.', action: 'Choose a service', to: '/integrations?state=ready' },
  run_tool: { name: 'Run a tool', about: 'See its result, and the receipt of what was sent.', action: 'Choose a tool', to: '/tools' },
  connect_client: { name: 'Connect a client', about: 'Claude, ChatGPT, Cursor or another, or your own program.', action: 'Connect a client', to: '/settings/clients' },
  invite: { name: 'Invite somebody', about: 'Members use their own accounts and approve their own calls.', action: 'Invite', to: '/settings/members?do=invite' },
  public_address: { name: 'Set a public address', about: 'Only this computer reaches the gateway now. Sign-in at services, web clients and your colleagues need an address with https.', action: 'Read how', to: '/docs/guide/tls.html' },
  back_up: { name: 'Make a backup', about: 'One command, also while the gateway runs.', action: 'Read how', to: '/docs/guide/backup.html' },
};

const hiddenIn = (workspace: string) => `toolgate.first-steps.${workspace}`;

/** Until everything is done, or until the person hides it in this browser. */
export function FirstSteps() {
  const { workspace } = useMe();
  const stored = hiddenIn(workspace.workspace_id);
  const [hidden, setHidden] = useState(() => localStorage.getItem(stored) === 'hidden');
  const query = useQuery({ ...firstSteps, enabled: !hidden });
  const steps = query.data?.steps ?? [];
  const done = steps.filter((one) => one.done).length;
  if (hidden || done === steps.length) return null;
  const hide = () => {
    localStorage.setItem(stored, 'hidden');
    setHidden(true);
  };
  return (
    <Card title="First steps" actions={<><span className="muted small">{done} of {steps.length} done</span><Button size="small" kind="quiet" icon="close" aria-label="Hide the first steps" onClick={hide} /></>} flush>
      <ul className="first-steps">
        {steps.map(({ step, done }) => (
          <li key={step} className={done ? 'done' : undefined}>
            <span className="tick"><Icon name={done ? 'done' : 'play'} /></span>
            <span className="grow">
              <span className="strong">{STEPS[step].name}</span>
              <span className="only-read">{done ? ', done' : ', to do'}</span>
              {!done && <span className="muted small about">{STEPS[step].about}</span>}
            </span>
            {!done && <Go step={STEPS[step]} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The guide is no page of the dashboard: it opens beside it. */
function Go({ step }: { step: StepWords }) {
  if (step.to.startsWith('/docs/')) return <a className="button small" href={step.to} target="_blank" rel="noopener" aria-label={`${step.action}: ${step.name}`}><Icon name="external" />{step.action}</a>;
  return <Link className="button small" href={step.to}>{step.action}</Link>;
}
