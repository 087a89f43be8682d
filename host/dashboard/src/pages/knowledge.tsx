// Documents, and the passages of them that answer a query.

import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useRef, useState, type DragEvent } from 'react';
import { Link } from 'wouter';
import { call, upload } from '../api/client';
import type { DocumentPage, FoundPassages, ListedDocument } from '../api/types';
import { useAddressState } from '../ui/address';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm, Dialog } from '../ui/dialog';
import { SelectField, TextArea, TextField } from '../ui/field';
import { Icon } from '../ui/icon';
import { Empty, ErrorNote, Progress, Waiting } from '../ui/note';
import { Card, Loaded, Page } from '../ui/page';
import { ShowMore } from '../ui/show-more';
import { Table } from '../ui/table';
import { bytes, count, Time } from '../ui/time';
import { useToast } from '../ui/toast';

/** As the gateway bounds one document. */
const DOCUMENT_BYTES_MAX = 4 * 1_048_576;
const KINDS: Record<string, string> = { txt: 'text/plain', md: 'text/markdown', markdown: 'text/markdown', html: 'text/html', htm: 'text/html', pdf: 'application/pdf' };
export const NAMES: Record<string, string> = { 'text/plain': 'Text', 'text/markdown': 'Markdown', 'text/html': 'HTML', 'application/pdf': 'PDF' };

export default function Knowledge() {
  const client = useQueryClient();
  const toast = useToast();
  const [typed, setTyped] = useAddressState('query');
  const query = useDeferredValue(typed.trim());
  const [writing, setWriting] = useState(false);
  const [removing, setRemoving] = useState<ListedDocument | null>(null);
  const list = useInfiniteQuery({
    queryKey: ['knowledge', 'list'],
    queryFn: ({ pageParam }) => call<DocumentPage>('GET', '/knowledge/documents', { query: { limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
  });
  const documents = list.data?.pages.flatMap((page) => page.documents) ?? [];
  const remove = async (document: ListedDocument) => {
    await call('DELETE', `/knowledge/documents/${document.document_id}`);
    void client.invalidateQueries({ queryKey: ['knowledge'] });
    toast.success(`${document.title} was deleted`);
  };
  return (
    <Page
      title="Knowledge"
      about="Documents in this workspace. Agents and sessions search them for the passages that answer a question."
      actions={<Button icon="plus" onClick={() => setWriting(true)}>Write a document</Button>}
    >
      <div className="stack">
        <Drop />
        {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
        {list.isPending && <Waiting />}
        {documents.length > 0 && (
          <div role="search">
            <div className="filters">
              <div className="search"><TextField bare label="Search the knowledge" type="search" placeholder="Ask a question" maxLength={1000} value={typed} onChange={setTyped} /></div>
            </div>
            {query && <Passages query={query} />}
          </div>
        )}
        {list.data && (
          <Card title="Documents" flush>
            {documents.length === 0 ? (
              <Empty icon="knowledge" title="No documents yet">
                Add what people look up: policies, manuals, notes. Text, Markdown, HTML, and PDF files that contain text, up to 4 MB each.
              </Empty>
            ) : (
              <Table
                caption="Documents, newest first"
                rows={documents}
                rowKey={(row) => row.document_id}
                columns={[
                  { head: 'Title', wide: true, cell: (row) => <Link href={`/knowledge/${row.document_id}`} className="strong">{row.title}</Link> },
                  { head: 'Kind', cell: (row) => <Badge>{NAMES[row.media_type] ?? row.media_type}</Badge> },
                  { head: 'Pages', align: 'right', cell: (row) => row.pages ?? <span className="muted">none</span> },
                  { head: 'Characters', align: 'right', cell: (row) => count(row.chars) },
                  { head: 'File', align: 'right', cell: (row) => bytes(row.bytes) },
                  { head: 'Added', cell: (row) => <Time at={row.created_at} /> },
                  { head: 'Actions', align: 'acts', cell: (row) => <Button size="small" kind="danger" aria-label={`Delete ${row.title}`} onClick={() => setRemoving(row)}>Delete</Button> },
                ]}
              />
            )}
            <ShowMore list={list} />
          </Card>
        )}
      </div>
      {writing && <Write onClose={() => setWriting(false)} />}
      {removing && (
        <Confirm title="Delete this document?" action="Delete" onClose={() => setRemoving(null)} onConfirm={() => remove(removing)}>
          <p><b>{removing.title}</b> no longer appears in searches. The original file is not stored; upload it again to restore it.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Passages({ query }: { query: string }) {
  const found = useQuery({
    queryKey: ['knowledge', 'search', query],
    queryFn: () => call<FoundPassages>('GET', '/knowledge/search', { query: { query, limit: 10 } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={found} what="Searching">
      {({ passages }) => (
        <Card title={passages.length === 0 ? 'No passages found' : 'Passages, best first'} flush={passages.length > 0}>
          {passages.length === 0 ? (
            <p className="muted">The search compares English word stems. Try other words, or fewer of them.</p>
          ) : (
            <ol className="list" aria-label="Passages">
              {passages.map((passage) => (
                <li key={`${passage.document_id}/${passage.position.starts_at}`} className="line stack tight">
                  <div className="row apart">
                    <Link href={`/knowledge/${passage.document_id}?from=${passage.position.starts_at}&to=${passage.position.ends_at}`} className="strong">{passage.title}</Link>
                    <span className="small muted number">
                      {passage.position.page ? `page ${passage.position.page}, ` : ''}characters {count(passage.position.starts_at)} to {count(passage.position.ends_at)}, score {passage.score.toFixed(2)}
                    </span>
                  </div>
                  <p className="pre-line">{passage.text}</p>
                </li>
              ))}
            </ol>
          )}
        </Card>
      )}
    </Loaded>
  );
}

interface Sending {
  id: number;
  name: string;
  share: number;
  error?: unknown;
}

let sent = 0;

/** One file after the other; what failed stays on the page with its reason until it is dismissed. */
function Drop() {
  const input = useRef<HTMLInputElement>(null);
  const client = useQueryClient();
  const toast = useToast();
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState<Sending[]>([]);
  const note = (id: number, next: Partial<Sending>) => setSending((all) => all.map((one) => (one.id === id ? { ...one, ...next } : one)));
  const drop = (id: number) => setSending((all) => all.filter((one) => one.id !== id));
  const take = async (files: File[]) => {
    const batch = files.map((file) => ({ id: sent++, file }));
    setSending((all) => [...all, ...batch.map(({ id, file }) => ({ id, name: file.name, share: 0 }))]);
    for (const { id, file } of batch) {
      try {
        const added = await send(file, (share) => note(id, { share }));
        drop(id);
        toast.success(`${added.title} was added`);
        void client.invalidateQueries({ queryKey: ['knowledge'] });
      } catch (error) {
        note(id, { error });
      }
    }
  };
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take([...event.dataTransfer.files]);
  };
  return (
    <div
      className={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      <Icon name="upload" />
      <p>
        Drop documents here, or <button type="button" className="button small" onClick={() => input.current?.click()}>choose files</button>
      </p>
      <p className="muted small">.txt, .md, .html or .pdf. Only the text is stored, not the file.</p>
      <input ref={input} type="file" multiple accept=".txt,.md,.markdown,.html,.htm,.pdf" aria-label="Document files" hidden onChange={(event) => { void take([...(event.target.files ?? [])]); event.target.value = ''; }} />
      {sending.map((one) => (
        <div key={one.id} className="wide">
          {one.error ? (
            <>
              <div className="row apart">
                <p className="small strong">{one.name}</p>
                <Button kind="quiet" size="small" icon="close" aria-label={`Dismiss ${one.name}`} onClick={() => drop(one.id)} />
              </div>
              <ErrorNote error={one.error} />
            </>
          ) : (
            <Progress label={one.share < 1 ? `Sending ${one.name}` : `Reading ${one.name}`} share={one.share} />
          )}
        </div>
      ))}
    </div>
  );
}

async function send(file: File, progress: (share: number) => void): Promise<ListedDocument> {
  const media_type = KINDS[file.name.split('.').at(-1)?.toLowerCase() ?? ''];
  if (!media_type) throw new Error('Only .txt, .md, .html and .pdf files are supported.');
  if (file.size > DOCUMENT_BYTES_MAX) throw new Error(`The file has ${bytes(file.size)}; the limit is ${bytes(DOCUMENT_BYTES_MAX)}.`);
  const content_base64 = await base64(file);
  const body = new Blob([JSON.stringify({ media_type, content_base64 })]);
  return upload<ListedDocument>('/knowledge/documents', body, progress, 'application/json');
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(new Error('The file could not be read.'));
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.readAsDataURL(file);
  });
}

function Write({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [title, setTitle] = useState('');
  const [kind, setKind] = useState('text/markdown');
  const [content, setContent] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const add = () => {
    setBusy(true);
    call<ListedDocument>('POST', '/knowledge/documents', { body: { ...(title.trim() && { title: title.trim() }), media_type: kind, content } })
      .then((added) => {
        void client.invalidateQueries({ queryKey: ['knowledge'] });
        toast.success(`${added.title} was added`);
        onClose();
      })
      .catch((refused: unknown) => {
        setError(refused);
        setBusy(false);
      });
  };
  return (
    <Dialog wide title="Write a document" onClose={onClose} onSubmit={add} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={busy} disabled={!content.trim()}>Add</Button></>}>
      {error != null && <ErrorNote error={error} />}
      <TextField label="Title" maxLength={200} hint="Leave empty to use the first line." value={title} onChange={setTitle} />
      <SelectField label="Kind" value={kind} onChange={setKind} options={[['text/markdown', 'Markdown'], ['text/plain', 'Text'], ['text/html', 'HTML']]} />
      <TextArea label="Text" required rows={12} code={kind !== 'text/plain'} value={content} onChange={setContent} />
    </Dialog>
  );
}
