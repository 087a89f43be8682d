// An answer that is watched while it is made: server-sent events over POST, which the browser's own
// EventSource cannot send.

import { read, respond, unreachable, unwrap } from './client';
import type { Message, Session } from './types';

export interface StreamListener {
  /** The session that was begun. */
  session?: (session: Session) => void;
  /** A piece of the text that is being written. */
  text?: (piece: string) => void;
  /** A step that is kept now. */
  step?: (step: Message) => void;
}

/** Sends `body`, tells what happens and answers what the same request answers without a stream. */
export async function stream<T>(path: string, body: unknown, listener: StreamListener): Promise<T> {
  const response = await respond('POST', path, { body, headers: { accept: 'text/event-stream' } });
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !response.body || !type.startsWith('text/event-stream')) return read<T>(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    // Whoever made the answer goes on without us; the page asks for what was kept.
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) throw unreachable();
    const events = (rest + value).split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const [name, data] = fields(event);
      if (name === 'reply' || name === 'error') {
        void reader.cancel();
        return unwrap<T>(response.status, response.headers.get('x-request-id'), data, null);
      }
      if (name === 'session') listener.session?.(JSON.parse(data) as Session);
      else if (name === 'text') listener.text?.((JSON.parse(data) as { text: string }).text);
      else if (name === 'step') listener.step?.(JSON.parse(data) as Message);
    }
  }
}

/** Name and data of one event (HTML Standard, section 9.2.6); a comment has neither. */
function fields(event: string): [string, string] {
  let name = '';
  const data: string[] = [];
  for (const line of event.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return [name, data.join('\n')];
}
