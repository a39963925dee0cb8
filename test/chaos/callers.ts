import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { answerOf, type Manner } from './engine.ts';

/** What callers saw. */
export interface Tally {
  sent: number;
  /** Answers that came whole, by the run. */
  readonly whole: string[];
  /** Answers that were refused with a status of ours. */
  refused: number;
  /** Answers that broke off, or never came: the server or the engine was gone, or the caller left. */
  broken: number;
  /** Answers with bytes that the engine did not send. */
  readonly wrong: string[];
}

/** `unfinished` sends a part of its request, then nothing more, and does not close: to the server its connection looks half open. */
type Reader = 'eager' | 'slow' | 'leaving' | 'unfinished';

/** Of a hundred calls: how the engine behaves and how the caller reads. */
const MIX: readonly (readonly [share: number, manner: Manner, reader: Reader])[] = [
  [58, 'whole', 'eager'],
  [2, 'whole', 'unfinished'],
  [20, 'stream', 'eager'],
  [5, 'stream', 'slow'],
  [5, 'stream', 'leaving'],
  [5, 'reset', 'eager'],
  [5, 'silent', 'leaving'],
];

function kindAt(number: number): { manner: Manner; reader: Reader } {
  let left = (number * 37) % 100;
  for (const [share, manner, reader] of MIX) {
    if (left < share) return { manner, reader };
    left -= share;
  }
  return { manner: 'whole', reader: 'eager' };
}

/** Calls so often a second, whatever becomes of the calls before; `stop` sends no more, and resolves when every call is over. */
export function startPacedCallers(url: () => string | undefined, perSecond: number): { readonly tally: Tally; stop(): Promise<void> } {
  const tally: Tally = { sent: 0, whole: [], refused: 0, broken: 0, wrong: [] };
  const open = new Set<Promise<void>>();
  let due = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    due += ((now - last) / 1000) * perSecond;
    last = now;
    for (; due >= 1; due -= 1) {
      const to = url();
      if (to === undefined) continue;
      tally.sent += 1;
      const one = callOnce(to, tally, kindAt(tally.sent)).finally(() => open.delete(one));
      open.add(one);
    }
  }, 5);
  return {
    tally,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

function callOnce(url: string, tally: Tally, { manner, reader }: { manner: Manner; reader: Reader }): Promise<void> {
  const id = randomUUID();
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: manner !== 'whole',
    messages: [{ role: 'user', content: `id=${id} manner=${manner}` }],
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-api-key': 'sk-test' };
  if (reader === 'unfinished') return halfOpen(url, headers, tally);
  return new Promise((resolve) => {
    const request = http.request(`${url}/e/claude/v1/messages`, { method: 'POST', headers, agent: false, timeout: 120_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (reader === 'leaving' && chunks.length === 5) request.destroy();
        if (reader !== 'slow') return;
        response.pause();
        setTimeout(() => response.resume(), 200);
      });
      response.on('error', () => undefined);
      response.once('close', () => {
        judge(tally, { id, manner, response, got: Buffer.concat(chunks).toString() });
        resolve();
      });
    });
    request.on('timeout', () => request.destroy());
    let answered = false;
    request.once('response', () => {
      answered = true;
    });
    request.once('error', () => {
      if (answered) return;
      tally.broken += 1;
      resolve();
    });
    request.end(body);
  });
}

const HALF_OPEN_MS = 10_000;

/** A connection that says half a request and hangs. It asks nothing of an engine, so it must leave no receipt that says so. */
function halfOpen(url: string, headers: http.OutgoingHttpHeaders, tally: Tally): Promise<void> {
  return new Promise((resolve) => {
    const request = http.request(`${url}/e/claude/v1/messages`, { method: 'POST', headers, agent: false });
    request.on('error', () => undefined);
    request.once('close', () => {
      tally.broken += 1;
      resolve();
    });
    request.write('{"model":"claude-sonnet-4-5",');
    setTimeout(() => request.destroy(), HALF_OPEN_MS);
  });
}

interface Seen {
  readonly id: string;
  readonly manner: Manner;
  readonly response: http.IncomingMessage;
  readonly got: string;
}

function judge(tally: Tally, { id, manner, response, got }: Seen): void {
  const run = String(response.headers['x-abp-run-id']);
  if (response.statusCode !== 200) {
    tally.refused += 1;
    return;
  }
  const expected = answerOf(id, manner).join('');
  if (!expected.startsWith(got)) tally.wrong.push(run);
  else if (response.complete && got === expected) tally.whole.push(run);
  // A whole answer that lacks something would be a wrong one.
  else if (response.complete) tally.wrong.push(run);
  else tally.broken += 1;
}
