// What a plugin would be allowed, before it is installed.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { upload } from '../api/client';
import type { PluginCheck } from '../api/types';
import { Button } from './button';
import { Dialog } from './dialog';
import { ErrorNote, Note, Progress } from './note';
import { Pairs } from './page';
import { Changes, Rights } from './rights';
import { useToast } from './toast';
import { visible } from './visible';

export function Install({ check, file, onClose, onInstalled }: { check: PluginCheck; file: Blob; onClose: () => void; onInstalled?: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [share, setShare] = useState(0);
  const install = useMutation({
    mutationFn: () => upload<PluginCheck>('/plugins', file, setShare),
    onSuccess: () => {
      toast.success(`${check.title ?? check.service} ${check.version} is being installed`);
      void client.invalidateQueries({ queryKey: ['plugins'] });
      onInstalled?.();
      onClose();
    },
  });
  const { difference, waits } = check;
  return (
    <Dialog
      wide
      title={check.replaces ? `Upgrade ${check.title ?? check.service}?` : `Install ${check.title ?? check.service}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={install.isPending} onClick={() => install.mutate()}>{check.replaces ? 'Upload the upgrade' : 'Grant and install'}</Button>
        </>
      }
    >
      <Pairs
        items={[
          ['Service', <span className="mono">{check.service}</span>],
          ['Version', check.replaces ? `${check.replaces.version ?? 'none'} to ${check.version}` : check.version],
          ['Tools', String(check.tools)],
          ['SHA-256', <span className="mono">{check.sha256}</span>],
        ]}
      />
      {check.warnings.map((warning) => <Note key={warning} tone="warn"><p>{visible(warning)}</p></Note>)}
      {waits ? (
        <>
          <Note tone="warn"><p>This version asks for more than the active one. After the upload it waits for your approval; the active version keeps running.</p></Note>
          <h3>Changes</h3>
          {difference && <Changes difference={difference} />}
        </>
      ) : (
        <>
          {difference && <><h3>Changes</h3><Changes difference={difference} /></>}
          <h3>{check.replaces ? 'What it may do' : 'What you grant'}</h3>
          <Rights rights={check.rights} />
        </>
      )}
      {install.isPending && <Progress label="Sending" share={share} />}
      {install.error && <ErrorNote error={install.error} />}
    </Dialog>
  );
}
