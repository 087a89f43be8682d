// What a tool answered, in every way it can answer.

import { Link } from 'wouter';
import type { Execution, PlannedRequest } from '../api/types';
import { State } from './badge';
import { Code, Json } from './copy';
import { Icon } from './icon';
import { Note } from './note';
import { duration } from './time';
import { visible } from './visible';

export function Answer({ execution }: { execution: Execution }) {
  return (
    <>
      <div className="row">
        <State name={execution.status} />
        <span className="muted small">{duration(execution.duration_ms)}</span>
      </div>
      <Inside execution={execution} />
    </>
  );
}

function Inside({ execution }: { execution: Execution }) {
  switch (execution.status) {
    case 'success':
      return <Json value={execution.result} label="result" />;
    case 'error':
      return (
        <Note tone="bad">
          <p className="strong">{execution.error.message}</p>
          {execution.error.suggested_fix && <p>{execution.error.suggested_fix}</p>}
          <p className="small">
            {execution.error.code}
            {execution.error.provider_status ? `, the service answered ${execution.error.provider_status}` : ''}
            {execution.error.can_retry ? ', can be retried' : ', retrying will not help'}
          </p>
          {execution.error.provider_body != null && <Json value={execution.error.provider_body} label="answer of the service" />}
        </Note>
      );
    case 'auth_required':
    case 'auth_expired':
      return (
        <Note tone="warn">
          <p>{execution.message}</p>
          {execution.connect_url && (
            <div>
              <a className="button" href={execution.connect_url} target="_blank" rel="noopener">
                <Icon name="external" />
                Connect
              </a>
            </div>
          )}
        </Note>
      );
    case 'approval_required':
      return (
        <Note tone="warn">
          <p>{execution.message}</p>
          <p><Link href={`/approvals/${execution.approval_id}`}>View the request</Link></p>
        </Note>
      );
    case 'dry_run':
      return <Planned requests={execution.requests} />;
  }
}

/** Requests that were not sent. Credentials are named by their slot. */
export function Planned({ requests }: { requests: PlannedRequest[] }) {
  if (requests.length === 0) return <p className="muted">Nothing would be sent.</p>;
  return (
    <div className="stack tight">
      {requests.map((request, index) => (
        <Code key={index} label={`request ${index + 1}`} text={visible([`${request.method} ${request.url}`, ...headers(request), ...body(request)].join('\n'))} />
      ))}
    </div>
  );
}

function body(request: PlannedRequest): string[] {
  if (!request.body) return [];
  return ['', request.body, ...(request.body_base64 ? [`base64: ${request.body_base64}`] : [])];
}

function headers(request: PlannedRequest): string[] {
  return request.headers.map(([name, value]) => `${name}: ${value}`);
}
