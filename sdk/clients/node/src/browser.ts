/**
 * For the page of an application: opens a connect link in a popup and returns how it ended. It needs nothing of the
 * rest of this package and no key. Your server creates the link, with `popup_origin` set to the page's own origin.
 */

/** How a popup ended. `closed`: without a message, so ask your server whether the connection exists. */
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

/** The parts of a browser's window that are used here; a program for Node.js has no types of them. */
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
const POLL_MS = 500;

/**
 * Call it in the handler of a click, or the browser blocks the popup; `link` may still be on its way from your server.
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
      clearInterval(timer);
      page.removeEventListener("message", onMessage);
      resolve(result);
    };
    const onMessage = (event: Message) => {
      // Only messages of the gateway's own page in the popup count.
      if (event.source !== popup || event.origin !== origin) return;
      const message = event.data as Partial<Record<"type" | "status" | "connection_id" | "service", unknown>> | null;
      if (message?.type !== "toolgate.connect" || !STATUSES.includes(message.status)) return;
      end({ status: message.status as PopupResult["status"], connection_id: String(message.connection_id), service: String(message.service) });
    };
    const timer = setInterval(() => popup.closed && end({ status: "closed" }), POLL_MS);
    page.addEventListener("message", onMessage);
    popup.location.href = url;
  });
}
