import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What an engine does with a request, by a word in it. */
export const MANNERS = ['whole', 'stream', 'reset', 'silent'] as const;
export type Manner = (typeof MANNERS)[number];

export interface ChaosEngine {
  readonly url: string;
  /** SHA-256 of every body that arrived whole. */
  readonly asked: ReadonlySet<string>;
  /** Answers under way. */
  open(): number;
  close(): void;
}

const EVENTS = 20;

/** The bytes of an answer, known to both sides: they follow from the id in the request. */
export function answerOf(id: string, manner: Manner): string[] {
  const usage = { input_tokens: 10, output_tokens: EVENTS };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };
  const words = createHash('sha256').update(id).digest('hex');
  if (manner === 'whole')
    return [JSON.stringify({ ...message, content: [{ type: 'text', text: words.repeat(20) }], stop_reason: 'end_turn', usage })];
  const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  return [
    event('message_start', { message: { ...message, content: [], usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: EVENTS }, (_, at) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `${words} ${at} ` } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: EVENTS } }),
    event('message_stop', {}),
  ];
}

async function answer(body: string, response: http.ServerResponse): Promise<void> {
  const [, id = '', manner = 'whole'] = /id=(\S+) manner=(\w+)/.exec(body) ?? [];
  const pieces = answerOf(id, manner as Manner); // the callers of this suite write no other word
  response.writeHead(200, { 'content-type': manner === 'whole' ? 'application/json' : 'text/event-stream' });
  for (const [at, piece] of pieces.entries()) {
    if (response.destroyed) return;
    if (at === 8 && manner === 'reset') {
      response.socket?.resetAndDestroy();
      return;
    }
    // Half open: it says nothing more and does not end.
    if (at === 8 && manner === 'silent') return;
    response.write(piece);
    if (manner !== 'whole') await sleep(20);
  }
  response.end();
}

export async function startChaosEngine(): Promise<ChaosEngine> {
  const asked = new Set<string>();
  const under = new Set<http.ServerResponse>();
  const server = http.createServer((request, response) => {
    under.add(response);
    response.once('close', () => under.delete(response));
    response.on('error', () => response.destroy());
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      asked.add(createHash('sha256').update(body).digest('hex'));
      answer(body.toString(), response).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    open: () => under.size,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
