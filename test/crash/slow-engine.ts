import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An engine whose streams take a while, and which knows what it was asked. */
export interface SlowEngine {
  readonly url: string;
  /** SHA-256 of every body that arrived whole. */
  readonly asked: ReadonlySet<string>;
  /** Lets no stream end until `release` is called, so that a test decides what happens before the end, however slow the machine is. */
  hold(): void;
  release(): void;
  close(): void;
}

/** What all streams of an engine share. */
interface Pace {
  readonly betweenMs: number;
  held: boolean;
}

const EVENTS = 30;
const BETWEEN_MS = 40;

async function answer(request: http.IncomingMessage, response: http.ServerResponse, asked: Set<string>, pace: Pace): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of request) hash.update(chunk);
  asked.add(hash.digest('hex'));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: object): boolean => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const usage = { input_tokens: 10, output_tokens: 1 };
  send('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage } });
  send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  for (let at = 0; (at < EVENTS || pace.held) && !response.destroyed; at += 1) {
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `word ${at} ` } });
    await sleep(pace.betweenMs);
  }
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: EVENTS } });
  send('message_stop', {});
  response.end();
}

export async function startSlowEngine(betweenMs = BETWEEN_MS): Promise<SlowEngine> {
  const asked = new Set<string>();
  const pace: Pace = { betweenMs, held: false };
  const server = http.createServer((request, response) => {
    // A gateway that is killed cuts its connections; that is the point.
    answer(request, response, asked, pace).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    hold: () => {
      pace.held = true;
    },
    release: () => {
      pace.held = false;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
