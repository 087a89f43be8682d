import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { showChanged } from './changed';

it('a read that began before a change does not restore the old state', async () => {
  const client = new QueryClient();
  const key: [string, string] = ['services', 'github'];
  const answers: ((value: string) => void)[] = [];
  const observer = new QueryObserver<string>(client, { queryKey: key, queryFn: () => new Promise((resolve) => answers.push(resolve)) });
  const shown: unknown[] = [];
  const stop = observer.subscribe(({ data }) => shown.push(data));
  answers[0]?.('first');
  await expect.poll(() => shown.at(-1)).toBe('first');

  void client.invalidateQueries({ queryKey: [key[0]] });
  expect(answers).toHaveLength(2);
  showChanged(client, key, 'second');
  answers[1]?.('first');
  await new Promise((resolve) => setTimeout(resolve));
  expect(answers).toHaveLength(3);
  answers[2]?.('third');
  await expect.poll(() => shown.at(-1)).toBe('third');
  const order = shown.filter((value, at) => value !== undefined && value !== shown[at - 1]);
  expect(order).toEqual(['first', 'second', 'third']);
  stop();
  client.clear();
});
