/** One part of a list. */
export interface Part<T> {
  results: T[];
  next_cursor: string | null;
}

/**
 * A list that the service returns in parts. `for await` asks for each part when it is needed; `await` asks for all of
 * them and gives an array. Each of the two begins anew.
 */
export interface Listing<T> extends AsyncIterable<T>, PromiseLike<T[]> {}

const MOST_AT_ONCE = 200;

/** The list whose parts `ask` gives, its first `limit` items or all of them. */
export function listing<T>(
  ask: (part: { limit: number; cursor?: string }) => Promise<Part<T>>,
  limit = Number.POSITIVE_INFINITY,
): Listing<T> {
  async function* items(): AsyncGenerator<T, void> {
    let cursor: string | null | undefined;
    for (let left = limit; left > 0 && cursor !== null; ) {
      const part = await ask({ limit: Math.min(MOST_AT_ONCE, left), ...(cursor === undefined ? {} : { cursor }) });
      yield* part.results;
      left -= part.results.length;
      cursor = part.next_cursor;
    }
  }
  async function all(): Promise<T[]> {
    const found: T[] = [];
    for await (const one of items()) found.push(one);
    return found;
  }
  return {
    [Symbol.asyncIterator]: items,
    then: (done, failed) => all().then(done, failed),
  };
}
