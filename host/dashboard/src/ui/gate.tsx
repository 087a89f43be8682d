// The frame of the pages before signing in.

import { useEffect, type ReactNode } from 'react';

export function Gate({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} - toolgate`;
  }, [title]);
  return (
    <div className="gate">
      <main>
        <div className="brand">
          <img src="/favicon.svg" width="30" height="30" alt="" />
          toolgate
        </div>
        <div className="card">
          <div className="inner stack">
            <div>
              <h1>{title}</h1>
              {about && <p className="muted">{about}</p>}
            </div>
            {children}
          </div>
        </div>
      </main>
    </div>
  );
}
