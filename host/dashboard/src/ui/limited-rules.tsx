// Temporary rules: those that hold, and a dialog for another.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client';
import type { Approvers, LimitedRule, Permission, PermissionService, UserPermissions } from '../api/types';
import { useIsAdmin } from '../shell/me';
import { State } from './badge';
import { Button } from './button';
import { Dialog } from './dialog';
import { SelectField, TextField } from './field';
import { ErrorNote } from './note';
import { Card } from './page';
import { SETTINGS } from './rule-matrix';
import { APPROVERS, approversOf, oneRule, whoDecides } from './rules';
import { Segments } from './segments';
import { useServiceTools } from './service-tools';
import { Table } from './table';
import { Time } from './time';
import { useToast } from './toast';

export function Limited({ user, all, rules }: { user: string; all: UserPermissions; rules: LimitedRule[] }) {
  const admin = useIsAdmin();
  const client = useQueryClient();
  const toast = useToast();
  const end = (rule: LimitedRule) => {
    const about = rule.tool_name ? `tools/${rule.tool_name}` : `services/${rule.service}`;
    call<UserPermissions>('PATCH', `/permissions/users/${encodeURIComponent(user)}/${about}`, { body: { permission: 'inherit' } })
      .then(() => {
        void client.invalidateQueries({ queryKey: ['permissions', user] });
        toast.success('Rule ended');
      })
      .catch(toast.error);
  };
  return (
    <Card title="Temporary rules" flush>
      <Table
        caption="Temporary rules"
        rows={rules}
        rowKey={(row) => `${row.service}/${row.tool_name}`}
        columns={[
          { head: 'For', cell: (row) => <span className="mono">{row.tool_name ?? row.service}</span> },
          { head: 'Rule', cell: (row) => <State name={row.permission} /> },
          { head: 'Decided by', cell: (row) => <span className="small">{row.permission === 'ask' ? whoDecides(row.tool_name ? approversOf(all, 'tools', row.tool_name) : approversOf(all, 'services', row.service ?? '')) : <span className="muted">nobody has to</span>}</span> },
          { head: 'Ends', cell: (row) => (row.expires_at ? <Time at={row.expires_at} /> : <span className="muted">by its calls</span>) },
          { head: 'Calls', cell: (row) => (row.max_calls == null ? <span className="muted">any number</span> : `${row.used ?? 0} of ${row.max_calls}`) },
          { head: 'Actions', align: 'acts', cell: (row) => admin && <Button size="small" onClick={() => end(row)}>End now</Button> },
        ]}
      />
    </Card>
  );
}

const HOUR_MS = 3_600_000;

export function LimitedDialog({ user, services, onClose }: { user: string; services: PermissionService[]; onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [service, setService] = useState(services[0]?.service ?? '');
  const [tool, setTool] = useState('');
  const [permission, setPermission] = useState<Permission>('allow');
  const [hours, setHours] = useState('1');
  const [calls, setCalls] = useState('');
  const [approvers, setApprovers] = useState<Approvers>('admins');
  const tools = useServiceTools(service);
  const save = useMutation({
    mutationFn: () => {
      const expires_at = hours ? new Date(Date.now() + Number(hours) * HOUR_MS).toISOString() : undefined;
      const { method, path, body } = oneRule(user, tool ? 'tools' : 'services', tool || service, permission, approvers);
      return call<UserPermissions>(method, path, { body: { ...body, ...(expires_at && { expires_at }), ...(calls && { max_calls: Number(calls) }) } });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['permissions', user] });
      toast.success('Rule set');
      onClose();
    },
  });
  const pairs = services.map((item) => [item.service, item.display_name] as const);
  return (
    <Dialog title="Temporary rule" onClose={onClose} onSubmit={() => save.mutate()} footer={<><Button onClick={onClose}>Cancel</Button><Button type="submit" kind="primary" busy={save.isPending} disabled={!service || (!hours && !calls)}>Set rule</Button></>}>
      {save.error && <ErrorNote error={save.error} />}
      <p className="muted">It ends after the time or the number of calls, whichever comes first. Afterwards it is as if it had never been set.</p>
      <SelectField label="Service" value={service} options={pairs} onChange={(value) => { setService(value); setTool(''); }} />
      <SelectField label="Tool" value={tool} options={[['', 'All its tools'], ...(tools.data ?? []).map((item) => [item.name, item.name] as const)]} onChange={setTool} />
      <Segments label="Rule" value={permission} options={SETTINGS.filter((item) => item.value !== 'inherit') as { value: Permission; label: string }[]} onChange={setPermission} />
      {permission === 'ask' && <SelectField label="Who decides" hint={`A call waits for ${whoDecides(approvers)}.`} value={approvers} options={APPROVERS.map(([name, short]) => [name, short] as const)} onChange={(text) => setApprovers(text as Approvers)} />}
      <SelectField label="For" value={hours} onChange={setHours} options={[['1', 'one hour'], ['8', 'eight hours'], ['24', 'one day'], ['168', 'one week'], ['', 'until the calls are used']]} />
      <TextField label="Maximum calls" inputMode="numeric" hint="Leave empty for any number." value={calls} onChange={(text) => setCalls(text.replace(/\D/g, ''))} />
    </Dialog>
  );
}
