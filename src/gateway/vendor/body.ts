import type { IncomingMessage } from 'node:http';
import { AbpError } from '../../contract/errors.ts';

/** Bodies held at the same time, over all requests. */
export class BodyBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(bytes: number): void {
    if (this.#held + bytes > this.#limit) throw new AbpError('overloaded', 'Too many request bodies are in flight.');
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }

  get held(): number {
    return this.#held;
  }
}

/** Reads a whole body within the limits. Whoever gets it releases its length from the budget. */
export async function readBody(request: IncomingMessage, limit: number, budget: BodyBudget): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    let failed = false;
    // Both a limit and the closing of the connection that follows it end here; only the first counts.
    const fail = (error: Error): void => {
      if (failed) return;
      failed = true;
      budget.release(bytes);
      request.off('data', onData);
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      try {
        if (bytes + chunk.length > limit) throw tooLarge(limit);
        budget.take(chunk.length);
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      bytes += chunk.length;
      chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', resolve);
    const onBreak = (): void => {
      if (!request.complete) fail(new AbpError('invalid_request', 'The connection closed before the body was complete.'));
    };
    request.once('error', onBreak);
    request.once('close', onBreak);
  });
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}

function tooLarge(limit: number): AbpError {
  return new AbpError('payload_too_large', `The body is larger than ${Math.round(limit / 1024 / 1024)} MiB.`, { limit_bytes: limit });
}
