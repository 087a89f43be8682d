// A new credential is of another account than the connection has had: its user says whether it is used.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from 'wouter';
import { call } from '../api/client';
import type { AccountQuestion as Shape } from '../api/types';
import { Button } from '../ui/button';
import { ErrorNote, Note } from '../ui/note';
import { Card, Loaded, Page, Pairs } from '../ui/page';
import { Time } from '../ui/time';

export default function AccountQuestion() {
  const { service = '' } = useParams<{ service: string }>();
  const code = new URLSearchParams(useSearch()).get('code') ?? '';
  const path = `/connections/questions/${encodeURIComponent(code)}`;
  const client = useQueryClient();
  const question = useQuery({ queryKey: ['account-question', code], queryFn: () => call<Shape>('GET', path), retry: false, staleTime: Infinity });
  const answer = useMutation({
    mutationFn: (said: 'use' | 'keep') => call<{ connection: object | null }>('POST', path, { body: { answer: said } }),
    onSuccess: () => void client.invalidateQueries({ queryKey: ['connections'] }),
  });
  return (
    <Page title="Use another account?" back={{ to: `/integrations/${service}`, name: service }}>
      <Loaded query={question}>
        {(data) => (
          <Card title={data.title}>
            <div className="stack">
              <Pairs
                items={[
                  ['User', data.user_id],
                  ['Connected now as', data.account_before ?? 'an account whose name is not known'],
                  ['New account', data.account_now ?? 'an account whose name is not known'],
                  ['Expires', <Time at={data.expires_at} />],
                ]}
              />
              <p>Everything that runs for {data.user_id} will use the new account from now on. If you did not sign in to {data.title} just now, somebody else did: keep the connection as it is.</p>
              {answer.error && <ErrorNote error={answer.error} />}
              {answer.data ? (
                <Note tone="ok"><p>{answer.data.connection ? 'The new account is used from now on.' : 'The connection stays as it was.'}</p></Note>
              ) : (
                <div className="row">
                  <Button kind="primary" busy={answer.isPending} onClick={() => answer.mutate('keep')}>Keep it as it is</Button>
                  <Button kind="danger" busy={answer.isPending} onClick={() => answer.mutate('use')}>Use the new account</Button>
                </div>
              )}
            </div>
          </Card>
        )}
      </Loaded>
    </Page>
  );
}
