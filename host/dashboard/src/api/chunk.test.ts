import { describe, expect, it } from 'vitest';
import { load, mainOf, MissingPart, type World } from './chunk';

/** A gateway that gives these main scripts, one for each question; the last for ever. */
function world(answers: (string | null)[], { reloads = true } = {}) {
  const seen = { asked: 0, pauses: 0, reloaded: [] as string[] };
  const made: World = {
    running: '/assets/index-old.js',
    current: async () => answers[Math.min(seen.asked++, answers.length - 1)] ?? null,
    reload: (reason) => {
      seen.reloaded.push(reason);
      return reloads;
    },
    pause: async () => {
      seen.pauses += 1;
    },
  };
  return { made, seen };
}

/** Whether a promise has an end now. */
const isPending = async (promise: Promise<unknown>) => {
  let ended = false;
  promise.then(() => (ended = true), () => (ended = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  return !ended;
};
const gone = async () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));

describe('a part that is missing', () => {
  it('begins the page anew where the gateway was upgraded', async () => {
    const { made, seen } = world(['/assets/index-new.js']);
    expect(await isPending(load(gone, made))).toBe(true);
    expect(seen.reloaded).toEqual(['/assets/index-new.js']);
  });

  it('does so once: a second time is an error', async () => {
    const { made, seen } = world(['/assets/index-new.js'], { reloads: false });
    await expect(load(gone, made)).rejects.toBeInstanceOf(MissingPart);
    expect(seen.reloaded).toHaveLength(1);
  });

  it('is waited for while the gateway does not answer, and comes when it does', async () => {
    let fails = 5;
    const { made, seen } = world([null]);
    const found = await load(async () => (fails-- > 0 ? gone() : 'the page'), made);
    expect(found).toBe('the page');
    expect(seen).toEqual({ asked: 5, pauses: 5, reloaded: [] });
  });

  it('is asked for some times where nothing was upgraded, then the page begins anew', async () => {
    const { made, seen } = world(['/assets/index-old.js']);
    expect(await isPending(load(gone, made))).toBe(true);
    expect(seen).toEqual({ asked: 3, pauses: 2, reloaded: ['missing'] });
  });
});

it('a part that is there asks nothing', async () => {
  const { made, seen } = world([null]);
  expect(await load(async () => 7, made)).toBe(7);
  expect(seen.asked).toBe(0);
});

it('the main script is read from the page, and from no other page', () => {
  expect(mainOf('<head><script type="module" crossorigin src="/assets/index-a1.js"></script>')).toBe('/assets/index-a1.js');
  expect(mainOf('<h1>Bad Gateway</h1>')).toBeNull();
});
