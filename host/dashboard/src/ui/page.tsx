// The frame of a page: its title, what it is for, its actions; and parts that many pages show.

import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { ErrorNote, Waiting } from './note';

interface Props {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** Stands before the title. */
  mark?: ReactNode;
  /** The page above. */
  back?: { to: string; name: string };
  children: ReactNode;
}

export function Page({ title, about, actions, mark, back, children }: Props) {
  useEffect(() => {
    document.title = `${title} - toolgate`;
  }, [title]);
  return (
    <>
      {back && (
        <nav aria-label="Breadcrumb" className="crumb">
          <Link href={back.to}>{back.name}</Link>
        </nav>
      )}
      <div className="head">
        {mark}
        <div className="grow">
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </>
  );
}

export function Card({ title, actions, children, flush }: { title?: ReactNode; actions?: ReactNode; children: ReactNode; flush?: boolean }) {
  return (
    <section className="card">
      {title && (
        <header>
          <h2>{title}</h2>
          {actions && <div className="row">{actions}</div>}
        </header>
      )}
      {flush ? children : <div className="inner">{children}</div>}
    </section>
  );
}

/** Shows a query: waiting, refused with a way to ask again, or its data. */
export function Loaded<T>({ query, children, what }: { query: UseQueryResult<T>; children: (data: T) => ReactNode; what?: string }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorNote error={query.error} retry={() => void query.refetch()} />;
  return <Waiting what={what} />;
}

export function Pairs({ items }: { items: (readonly [string, ReactNode] | false | null | undefined)[] }) {
  return (
    <dl className="pairs">
      {items.map((item) => item && <Pair key={item[0]} name={item[0]} value={item[1]} />)}
    </dl>
  );
}

function Pair({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
