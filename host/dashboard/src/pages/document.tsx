// One document: its text as searches see it, and the passage that was asked for.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { call } from '../api/client';
import type { Document as Shape } from '../api/types';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { bytes, count, Time } from '../ui/time';
import { NAMES } from './knowledge';

export default function Document() {
  const { document: id = '' } = useParams<{ document: string }>();
  const [, go] = useLocation();
  const client = useQueryClient();
  const [removing, setRemoving] = useState(false);
  const path = `/knowledge/documents/${id}`;
  // A document never changes.
  const document = useQuery({ queryKey: ['knowledge', id], queryFn: () => call<Shape>('GET', path), staleTime: 60_000 });
  const remove = async () => {
    await call('DELETE', path);
    client.removeQueries({ queryKey: ['knowledge', 'list'] });
    go('/knowledge');
  };
  return (
    <Page
      title={document.data?.title ?? 'Document'}
      back={{ to: '/knowledge', name: 'Knowledge' }}
      actions={document.data && <Button kind="danger" icon="trash" onClick={() => setRemoving(true)}>Delete</Button>}
    >
      <Loaded query={document}>
        {(data) => (
          <div className="columns wide-right">
            <Card title="About">
              <Pairs
                items={[
                  ['Kind', NAMES[data.media_type] ?? data.media_type],
                  ['Characters', count(data.chars)],
                  data.pages ? ['Pages', count(data.pages)] : null,
                  ['File', bytes(data.bytes)],
                  ['Added', <Time at={data.created_at} />],
                  ['SHA-256', <span className="mono">{data.sha256}</span>],
                ]}
              />
            </Card>
            <Card title="Text"><Text content={data.content} /></Card>
          </div>
        )}
      </Loaded>
      {removing && (
        <Confirm title="Delete this document?" action="Delete" onClose={() => setRemoving(false)} onConfirm={remove}>
          <p>It no longer appears in searches. The original file is not stored; upload it again to restore it.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Text({ content }: { content: string }) {
  const [search] = useSearchParams();
  const mark = useRef<HTMLElement>(null);
  const [from, to] = [Number(search.get('from') ?? 0), Number(search.get('to') ?? 0)];
  useEffect(() => mark.current?.scrollIntoView({ block: 'center' }), [from, to]);
  if (!(to > from)) return <div className="text" tabIndex={0} role="region" aria-label="Text">{content}</div>;
  // Positions count characters, JavaScript counts UTF-16 units.
  const characters = Array.from(content);
  return (
    <div className="text" tabIndex={0} role="region" aria-label="Text">
      {characters.slice(0, from).join('')}
      <mark ref={mark}>{characters.slice(from, to).join('')}</mark>
      {characters.slice(to).join('')}
    </div>
  );
}
