// Parts of the page that come when they are first needed. After an upgrade of the gateway the old names are gone:
// then the page begins anew. While nobody answers it waits and tries again.

/** What loading needs of the browser. */
export interface World {
  /** The main script of the page as the gateway gives it now; `null` while it does not answer. */
  current: () => Promise<string | null>;
  /** The main script that runs here. */
  running: string;
  /** Begins anew; `false` where that was tried for this reason already. */
  reload: (reason: string) => boolean;
  pause: () => Promise<void>;
}

/** How often a part that the gateway should have is asked for before the page begins anew. */
const TRIES_MAX = 3;

export class MissingPart extends Error {
  constructor() {
    super('A part of this page could not be loaded. Reload the page. If that does not help, the installation of the gateway is incomplete.');
  }
}

/** Answers the part. Pends for as long as the gateway does not answer, and while the page begins anew. */
export async function load<T>(get: () => Promise<T>, world: World): Promise<T> {
  for (let tries = 1; ; ) {
    try {
      return await get();
    } catch {
      const current = await world.current();
      if (current != null) {
        // A browser may remember that a part was not there; only a new page asks again then.
        const upgraded = current !== world.running;
        if (upgraded || tries >= TRIES_MAX) {
          if (world.reload(upgraded ? current : 'missing')) return new Promise<T>(() => {});
          throw new MissingPart();
        }
        tries += 1;
      }
      await world.pause();
    }
  }
}

const MAIN = /<script[^>]+src="(\/assets\/[^"]+)"/;
export const mainOf = (html: string): string | null => MAIN.exec(html)?.[1] ?? null;

const RELOADED = 'toolgate.reloaded';
const PAUSE_MS = 2_000;

const browser = (): World => ({
  current: () =>
    fetch('/', { cache: 'no-store' }).then(
      async (response) => (response.ok ? mainOf(await response.text()) : null),
      () => null,
    ),
  running: document.querySelector('script[src^="/assets/"]')?.getAttribute('src') ?? '',
  reload: (reason) => {
    if (sessionStorage.getItem(RELOADED) === reason) return false;
    sessionStorage.setItem(RELOADED, reason);
    window.location.reload();
    return true;
  },
  pause: () =>
    new Promise((resume) => {
      const timer = setTimeout(resume, PAUSE_MS);
      window.addEventListener('online', () => { clearTimeout(timer); resume(); }, { once: true });
    }),
});

/** For `lazy`: a page that comes when it is opened. */
export const part = <T>(get: () => Promise<T>) => async () => {
  const found = await load(get, browser());
  sessionStorage.removeItem(RELOADED);
  return found;
};
