import type { ServerResponse } from 'node:http';
import type { Answer } from '../../calls/answers/answer.ts';
import type { Deployment } from '../../calls/deployment.ts';
import type { AbpError } from '../../contract/errors.ts';
import { type ErrorTarget, sendError } from '../door/errors.ts';

/** How long a caller may take to read what came before a break. */
const LAST_BYTES_MS = 5000;

/** The caller's side of a vendor call, over HTTP. */
export class HttpAnswer implements Answer {
  readonly #response: ServerResponse;
  readonly #target: ErrorTarget;
  #wrote = false;
  /** Who is asked, as headers. */
  #from: readonly string[] = [];

  constructor(response: ServerResponse, target: ErrorTarget) {
    this.#response = response;
    this.#target = target;
  }

  from(deployment: Pick<Deployment, 'engine' | 'place'>, tries: number): void {
    this.#from = servedBy(deployment, tries);
  }

  head(status: number, headers: readonly string[]): void {
    this.#response.writeHead(status, [...headers, 'X-ABP-Run-Id', this.#target.runId, ...this.#from]);
    // Headers travel with the first chunk when it is already here, alone when the engine makes the caller wait.
    process.nextTick(flushUnlessWritten, this);
  }

  write(chunk: Buffer): boolean {
    this.#wrote = true;
    return this.#response.write(chunk);
  }

  end(trailers: readonly string[], last?: Buffer): void {
    this.#wrote = true;
    if (trailers.length > 0) this.#response.addTrailers(pairs(trailers));
    this.#response.end(last);
  }

  flush(): void {
    if (!this.#wrote && !this.#response.destroyed) this.#response.flushHeaders();
  }

  refuse(error: AbpError): void {
    sendError(this.#response, error, this.#target, this.#from);
  }

  /** The connection breaks. What was written before still goes out: to destroy it at once would take that back. */
  abandon(): void {
    const { socket } = this.#response;
    if (socket === null || !this.#response.headersSent) {
      this.#response.destroy();
      return;
    }
    socket.destroySoon();
    setTimeout(() => socket.destroy(), LAST_BYTES_MS).unref();
  }
}

/** Says which engine the answer is of, and which of its deployments where it has several. */
export function servedBy({ engine, place }: Pick<Deployment, 'engine' | 'place'>, tries: number): string[] {
  const served = ['X-ABP-Engine', engine.id, 'X-ABP-Attempts', String(tries)];
  return place === undefined ? served : [...served, 'X-ABP-Deployment', place.name];
}

function flushUnlessWritten(answer: HttpAnswer): void {
  answer.flush();
}

function pairs(flat: readonly string[]): [string, string][] {
  const out: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) out.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return out;
}
