import { connect } from 'node:net';
import { expect } from 'vitest';
import { AgentApi } from '../support/agent-api.ts';
import type { TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { ANSWER } from './priced-engine.ts';

export type RaceMeasure = 'requests' | 'tokens' | 'nano_usd';

/** A call of one way: whether it was answered, or refused because of its budget. */
export type Ask = (node: TestGateway) => Promise<'answered' | 'refused'>;

/** One way to an engine, and which measures are known of its calls: nobody reads the bytes of raw paths and WebSockets. */
export interface RacedWay {
  readonly name: string;
  readonly measures: readonly RaceMeasure[];
  /** Takes a process or a turn for each call, so that `npm test` has few of them. */
  readonly slow: boolean;
  /** `secret`: of the key that has the budget. `first`: a node where what it needs is made. `folder`: where coding agents work. */
  prepare(secret: string, first: TestGateway, folder: string): Promise<Ask>;
}

const ALL: readonly RaceMeasure[] = ['requests', 'tokens', 'nano_usd'];
const MODEL = 'claude-sonnet-4-5';
const MESSAGES = [{ role: 'user', content: 'hi' }];
const CLAUDE = { model: MODEL, max_tokens: 20, messages: MESSAGES };
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 20 } };

function posted(name: string, path: string, body: object, measures: readonly RaceMeasure[] = ALL): RacedWay {
  const prepare = async (secret: string): Promise<Ask> => {
    return async ({ url }) => outcome(await post(`${url}${path}`, body, ['x-abp-key', secret]));
  };
  return { name, measures, slow: false, prepare };
}

function outcome({ status, body }: { readonly status: number; readonly body: unknown }): 'answered' | 'refused' {
  if (status >= 200 && status < 300) return 'answered';
  if (status === 429 && String(body).includes('budget_exceeded')) return 'refused';
  throw new Error(`status ${status}: ${String(body)}`);
}

const SOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

/** Opens a WebSocket and closes it when it is open. */
async function opened({ url }: TestGateway, secret: string): Promise<'answered' | 'refused'> {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`${['GET /e/openai/v1/realtime HTTP/1.1', `Host: ${host}`, `X-ABP-Key: ${secret}`, ...SOCKET].join('\r\n')}\r\n\r\n`);
  const head = await new Promise<string>((resolve, reject) => {
    socket.once('data', (data) => resolve(String(data)));
    socket.once('error', reject);
  });
  socket.destroy();
  if (head.startsWith('HTTP/1.1 101')) return 'answered';
  return outcome({ status: Number(head.slice(9, 12)), body: head });
}

/** A turn of an agent in a session of its own, which any node may work on. */
async function turned(api: AgentApi, agent: string): Promise<'answered' | 'refused'> {
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  const { status, text } = await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
  if (status >= 300) throw new Error(`status ${status}: ${text}`);
  const end = async (): Promise<{ type: string; data: { error_code?: string } } | undefined> => {
    const events = await api.call('GET', `/v1/sessions/${session.id}/events?limit=1000`);
    const items = events.body.items as { type: string; data: { error_code?: string } }[]; // our own answer
    return items.find(({ type }) => type === 'turn.completed' || type === 'turn.failed');
  };
  await expect.poll(end, { interval: 100, timeout: 300_000 }).toBeDefined();
  const { type, data } = (await end()) ?? expect.fail();
  if (type === 'turn.completed') return 'answered';
  if (data.error_code === 'budget_exceeded') return 'refused';
  throw new Error(`${type} ${JSON.stringify(data)}`);
}

/** A run of a coding agent, which calls its model once. */
async function ran(api: AgentApi, cwd: string): Promise<'answered' | 'refused'> {
  const start = () => api.call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', engine: 'claude', cwd });
  let started = await start();
  const retried = async (): Promise<number> => {
    started = await start();
    return started.status;
  };
  // A server has 64 of them under way at most.
  if (started.status === 503) await expect.poll(retried, { interval: 500, timeout: 300_000 }).not.toBe(503);
  if (started.status !== 201) return outcome({ status: started.status, body: started.text });
  const status = async (): Promise<string> => (await api.call('GET', `/v1/receipts/${started.body.run_id}`)).body.status;
  await expect.poll(status, { interval: 500, timeout: 300_000 }).toMatch(/completed|failed/);
  return (await status()) === 'completed' ? 'answered' : 'refused';
}

export const RACED_WAYS: readonly RacedWay[] = [
  posted('relayed', '/e/claude/v1/messages', CLAUDE),
  posted('spliced: relayed with another model name', '/v1/messages', { ...CLAUDE, model: `claude/${MODEL}` }),
  posted('mapped from Chat', '/e/claude/v1/chat/completions', { ...CLAUDE, max_tokens: 20 }),
  posted('mapped from Gemini', `/e/claude/v1beta/models/${MODEL}:generateContent`, GEMINI),
  posted('raw', '/e/claude/v1/messages/batches', { requests: [] }, ['requests']),
  {
    name: 'WebSocket',
    measures: ['requests'],
    slow: false,
    prepare: async (secret) => (node) => opened(node, secret),
  },
  {
    name: 'turn of an agent',
    measures: ALL,
    slow: true,
    prepare: async (secret, first) => {
      const agent = await new AgentApi(first, ['x-abp-key', secret]).agent({ model: `claude/${MODEL}` });
      return (node) => turned(new AgentApi(node, ['x-abp-key', secret, 'accept', 'application/json']), agent);
    },
  },
  {
    name: 'run of a coding agent',
    measures: ['requests', 'tokens'],
    slow: true,
    prepare: async (secret, _first, folder) => (node) => ran(new AgentApi(node, ['x-abp-key', secret]), folder),
  },
];

const SSE = [
  { type: 'message_start', message: { ...ANSWER, content: [], stop_reason: null, usage: { input_tokens: 30, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
];
const STREAMED = SSE.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\n\r\n';

/** Claude as all ways call it: every answer takes 30 and 20 tokens. */
export async function startRacedEngine(): Promise<RecordingUpstream> {
  const upstream = await startUpstream();
  upstream.answer((socket, { line, body }) => {
    if (line.includes('/realtime')) socket.write(SWITCHED);
    else if (body.includes('"stream":true')) socket.write(whole(STREAMED, { headers: ['content-type: text/event-stream'] }));
    else socket.write(whole(JSON.stringify(ANSWER)));
  });
  return upstream;
}
