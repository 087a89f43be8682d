/**
 * For the page of an application: opens a connect link in a popup and says how it ended. It needs nothing of the rest
 * of this package and no key. The link is made by your server, with `popup_origin` set to the page's own origin.
 */

/** How a popup ended. `closed`: without a word, so ask your server whether the connection is there. */
export interface PopupResult {
  status: "connected" | "cancelled" | "failed" | "closed";
  connection_id?: string;
  service?: string;
}

export interface PopupOptions {
  /** 480 and 720 if absent. */
  width?: number;
  height?: number;
}

/** What is used of a browser's window, which a program in Node.js has no types of. */
interface Opener {
  open(url: string, target: string, features: string): Popup | null;
  addEventListener(type: "message", listener: (event: Message) => void): void;
  removeEventListener(type: "message", listener: (event: Message) => void): void;
}
interface Popup {
  readonly closed: boolean;
  close(): void;
  location: { href: string };
}
interface Message {
  source: unknown;
  origin: string;
  data: unknown;
}

const STATUSES: readonly unknown[] = ["connected", "cancelled", "failed"];
const LOOK_MS = 500;

/**
 * Call it in the handler of a press, or the browser blocks the popup; `link` may still be on its way from your server.
 * Throws where the popup is blocked.
 */
export async function openConnect(link: string | Promise<string>, options: PopupOptions = {}): Promise<PopupResult> {
  const page = globalThis as unknown as Opener;
  const features = `popup,width=${options.width ?? 480},height=${options.height ?? 720}`;
  const popup = page.open("about:blank", "_blank", features);
  if (!popup) throw new Error("the browser has blocked the popup");
  let url: string;
  try {
    url = await link;
  } catch (error) {
    popup.close();
    throw error;
  }
  const { origin } = new URL(url);
  return new Promise((resolve) => {
    const end = (result: PopupResult) => {
      clearInterval(looking);
      page.removeEventListener("message", hear);
      resolve(result);
    };
    const hear = (event: Message) => {
      // Only the gateway's own page speaks for the popup.
      if (event.source !== popup || event.origin !== origin) return;
      const told = event.data as Partial<Record<"type" | "status" | "connection_id" | "service", unknown>> | null;
      if (told?.type !== "toolgate.connect" || !STATUSES.includes(told.status)) return;
      end({ status: told.status as PopupResult["status"], connection_id: String(told.connection_id), service: String(told.service) });
    };
    const looking = setInterval(() => popup.closed && end({ status: "closed" }), LOOK_MS);
    page.addEventListener("message", hear);
    popup.location.href = url;
  });
}
