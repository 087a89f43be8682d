// Markdown as React elements: no HTML passes through, links open apart, images are named, not loaded.

import Markdown from 'react-markdown';
import gfm from 'remark-gfm';

export default function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      <Markdown
        remarkPlugins={[gfm]}
        components={{
          a: ({ href, children }) => <a href={href} target="_blank" rel="noreferrer noopener">{children}</a>,
          img: ({ alt, src }) => <span className="muted">[image: {alt || String(src ?? '')}]</span>,
          h1: ({ children }) => <h2>{children}</h2>,
          h2: ({ children }) => <h3>{children}</h3>,
        }}
      >
        {text}
      </Markdown>
    </div>
  );
}
