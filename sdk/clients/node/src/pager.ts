/** Lists that are read page by page. */

/** All items of a list; each page is fetched when it is needed. `page` answers only one page. */
export class Pager<Item, Page> implements AsyncIterable<Item> {
  readonly #fetch: (values: Record<string, unknown>) => Promise<Page>;
  readonly #items: keyof Page;
  readonly #values: Record<string, unknown>;

  constructor(fetch: (values: Record<string, unknown>) => Promise<Page>, items: keyof Page, values: object) {
    this.#fetch = fetch;
    this.#items = items;
    this.#values = { ...values };
  }

  /** The first page as the server answers it, with its `next_cursor` or `total`. */
  page(): Promise<Page> {
    return this.#fetch(this.#values);
  }

  /** Every item, at most `max` of them. */
  async all(max = Infinity): Promise<Item[]> {
    const items: Item[] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    const values = { ...this.#values };
    for (;;) {
      const page = await this.#fetch(values);
      const items = page[this.#items] as Item[];
      yield* items;
      const next = page as { next_cursor?: string | null; offset?: number; total?: number };
      if (next.offset !== undefined && next.total !== undefined) {
        values["offset"] = next.offset + items.length;
        if (items.length === 0 || next.offset + items.length >= next.total) return;
      } else {
        values["cursor"] = next.next_cursor;
        if (!next.next_cursor) return;
      }
    }
  }
}
