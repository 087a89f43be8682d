// What is said in a session: messages, the steps between, what a turn waits for.

import { Suspense } from 'react';
import { Link } from 'wouter';
import type { Message, TurnReason } from '../api/types';
import { State } from './badge';
import { Button } from './button';
import { Icon } from './icon';
import { Note } from './note';
import { Prose } from './prose';
import { Time } from './time';

const WHO: Record<Message['role'], string> = { user: 'User', assistant: 'Assistant', tool: 'Answer' };
const WHY: Partial<Record<TurnReason, string>> = {
  steps_exhausted: 'The turn reached its limit of steps.',
  tokens_exhausted: 'The turn reached its limit of tokens.',
  time_exhausted: 'The turn reached its time limit.',
  rate_limited: 'The requests of the key or the workspace are used up for now.',
  model_failed: 'The model did not answer.',
  key_revoked: 'Whoever started it no longer has access.',
  gateway_stopping: 'The gateway was restarted.',
};

export function Messages({ messages }: { messages: Message[] }) {
  return (
    <ol className="messages" aria-label="Messages">
      {messages.map((message) => (
        <li key={message.message_id} className={message.role}>
          <div className="row apart small muted">
            <span className="strong">{WHO[message.role]}</span>
            <Time at={message.created_at} />
          </div>
          <Said message={message} />
        </li>
      ))}
    </ol>
  );
}

function Said({ message }: { message: Message }) {
  if (message.role === 'user') return <div className="said">{message.content}</div>;
  if (message.role === 'tool') return <Step step={message} />;
  const { matches } = message;
  return (
    <div className="stack tight">
      {message.content && <Written text={message.content} />}
      {message.tool_calls?.map((asked) => <Step key={asked.tool_call_id} step={{ ...message, operation: asked.operation, content: asked.arguments, role: 'assistant' }} />)}
      {matches && matches.tools.length > 0 && (
        <div className="row">
          {matches.tools.map((tool) => <Link key={tool.name} href={`/tools/${tool.name}`} className="button small mono">{tool.name}</Link>)}
        </div>
      )}
    </div>
  );
}

/** Markdown as it is, also while it is being written. */
export function Written({ text }: { text: string }) {
  return <Suspense fallback={<div className="said">{text}</div>}><Prose text={text} /></Suspense>;
}

/** An operation: what was asked, or what it answered. */
export function Step({ step }: { step: Message }) {
  const asked = step.role === 'assistant';
  return (
    <details className="step">
      <summary>
        <span className="mono">{step.operation}</span> <span className="muted">{asked ? 'asked' : 'answered'}</span>
      </summary>
      <pre tabIndex={0} role="region" aria-label={`${step.operation} ${asked ? 'asked' : 'answered'}`}><code>{step.content}</code></pre>
      {step.execution_id && <Link href={`/executions/${step.execution_id}`} className="small mono">{step.execution_id}</Link>}
    </details>
  );
}

/** Why a turn does not move, and how it goes on. */
export function Stands({ last, resume, busy }: { last: Message; resume: () => void; busy: boolean }) {
  if (last.status !== 'paused' && last.status !== 'stopped') return null;
  const { pending } = last;
  return (
    <Note tone="warn">
      <div className="row"><State name={last.reason ?? last.status} />{pending && <span className="mono">{pending.tool_name}</span>}</div>
      <p>{pending?.message ?? (last.reason && WHY[last.reason]) ?? 'It stopped before it was finished.'}</p>
      <div className="row">
        {pending?.connect_url && (
          <a className="button" href={pending.connect_url} target="_blank" rel="noopener"><Icon name="external" />Connect {pending.service}</a>
        )}
        {pending?.approval_id && <Link className="button" href={`/approvals/${pending.approval_id}`}>View the request</Link>}
        <Button icon="play" busy={busy} onClick={resume}>Continue</Button>
      </div>
    </Note>
  );
}
