import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { post } from '../support/http-call.ts';
import { slowness } from './machine.ts';
import { type MeasuredServer, startMeasured } from './measured-server.ts';
import type { Measured } from './probe.ts';

/** No input holds the event loop longer, by the processor time of its thread, which other programs lengthen only where they share its core. */
export const MOST_HELD_MS = 50 * slowness();
/** The budget that docs/reliability.md declares: the bodies in flight (`limits.in_flight_mb`, 512 MB) and 2,048 MB for the process and its threads. */
export const MOST_RSS_MB = 512 + 2048;
/** `npm run fuzz` sends everything in full size; `npm test` every third input, and smaller ones. */
export const all = process.env.ABP_FUZZ === 'all';
export const MIB = 1024 * 1024;
export const LARGE = all ? 62 * MIB : 8 * MIB;
export const some = <T>(rows: readonly T[]): readonly T[] => rows.filter((_, at) => all || at % 3 === 0);

export const HI = [{ role: 'user', content: 'hi' }];
export const SMALL = { model: 'm', max_tokens: 50, messages: HI };
/** As Chat and as Responses: requests go to either. */
const CHAT = {
  id: 'x',
  status: 'completed',
  output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'hi', annotations: [] }] }],
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

export const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));
export const filled = (before: string, piece: string, bytes: number, after: string): string =>
  before + piece.repeat(Math.floor(bytes / piece.length)) + after;

/** An engine's answer. */
export type Reply = (response: ServerResponse) => void;

export const plain: Reply = (response) => json(response, JSON.stringify(CHAT));

export function json(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** A stream of so many pieces, as fast as they are taken. */
export function stream(response: ServerResponse, pieces: number, piece: (at: number) => string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let at = 0;
  const more = (): void => {
    while (at < pieces && !response.destroyed) {
      at += 1;
      if (response.write(piece(at))) continue;
      response.once('drain', more);
      return;
    }
    response.end();
  };
  more();
}

/** A measured server whose engines answer as the test says. */
export class Scene {
  readonly #upstream: Server;
  readonly #server: MeasuredServer;
  readonly #figures: string[] = [];
  #answer: Reply = plain;

  private constructor(upstream: Server, server: MeasuredServer) {
    this.#upstream = upstream;
    this.#server = server;
    upstream.on('request', (request, response) => {
      // A caller or a limit may end the call in the middle.
      response.on('error', () => undefined);
      request.resume();
      request.on('end', () => this.#answer(response));
    });
  }

  static async open(): Promise<Scene> {
    const upstream = createServer();
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo; // a TCP server that listens has one
    const engine = (id: string): string => `[engines.${id}]\nurl = "http://127.0.0.1:${port}"\nkey = "k"\n`;
    const scene = new Scene(upstream, await startMeasured({ config: ['claude', 'openai', 'gemini'].map(engine).join('') }));
    // Code runs slowly the first times; threads start with the first large body.
    for (let round = 0; round < 3; round += 1) {
      await scene.sent('/e/sim/v1/messages', SMALL);
      await scene.sent('/e/openai/v1/messages', SMALL);
      await scene.sent('/e/openai/v1/messages', { ...SMALL, tools: many(6000, (at) => ({ name: `t${at}`, input_schema: {} })) });
      await scene.sent('/e/sim/v1/messages', { ...SMALL, messages: [{ role: 'user', content: 'hi '.repeat(150_000) }] });
    }
    return scene;
  }

  async close(): Promise<void> {
    if (all) process.stdout.write(`\n| input | ms of the event loop at most | MB at most |\n|---|--:|--:|\n${this.#figures.join('\n')}\n`);
    await this.#server.close();
    this.#upstream.closeAllConnections();
    this.#upstream.close();
  }

  get url(): string {
    return this.#server.url;
  }

  /** Engines answer so from now on. */
  answers(reply: Reply): void {
    this.#answer = reply;
  }

  sent(path: string, body: unknown): ReturnType<typeof post> {
    return post(`${this.url}${path}`, typeof body === 'string' ? body : JSON.stringify(body));
  }

  during(work: () => Promise<unknown>): Promise<Measured> {
    return this.#server.during(work);
  }

  note({ heldMs, rssMb }: Pick<Measured, 'heldMs' | 'rssMb'>): void {
    this.#figures.push(`| ${expect.getState().currentTestName ?? ''} | ${heldMs.toFixed(1)} | ${rssMb.toFixed(0)} |`);
  }

  /** The status that an answer may have does not matter much here; that it comes, and what it took, does. */
  async held(work: () => Promise<{ readonly status: number }>, statuses: readonly number[]): Promise<void> {
    let status = 0;
    const once = (): Promise<Measured> =>
      this.during(async () => {
        status = (await work()).status;
      });
    let measured = await once();
    expect(statuses).toContain(status);
    // An input that holds the loop does so every time; a collection of garbage falls into one of them.
    for (let tries = 1; tries < 3 && measured.heldMs >= MOST_HELD_MS; tries += 1) measured = await once();
    this.note(measured);
    expect(measured.heldMs).toBeLessThan(MOST_HELD_MS);
    expect(measured.rssMb).toBeLessThan(MOST_RSS_MB);
  }
}
