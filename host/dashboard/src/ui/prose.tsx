// Markdown comes when it is first needed. Where it cannot come, the text is shown as it was written.

import { lazy } from 'react';

export const Prose = lazy(() => import('./markdown').catch(() => ({ default: Plain })));

function Plain({ text }: { text: string }) {
  return <div className="said">{text}</div>;
}
