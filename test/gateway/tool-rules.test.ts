import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rawCall } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

const schema = { type: 'object', properties: { command: { type: 'string' } } };
const ASK = 'call the tool Bash with {"command":"ls"}';
const NAMES = ['Bash', 'Write'];

interface Voice {
  readonly dialect: string;
  /** Where a request of it goes on an engine of its own vendor. */
  readonly engine: string;
  path(stream: boolean): string;
  body(stream: boolean): object;
}

const chat = (stream: boolean): object => ({
  model: 'm',
  stream,
  messages: [{ role: 'user', content: ASK }],
  tools: NAMES.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
});

const VOICES: readonly Voice[] = [
  {
    dialect: 'claude',
    engine: 'claude',
    path: () => '/v1/messages',
    body: (stream) => ({
      model: 'm',
      max_tokens: 100,
      stream,
      messages: [{ role: 'user', content: ASK }],
      tools: NAMES.map((name) => ({ name, input_schema: schema })),
    }),
  },
  { dialect: 'openai-chat', engine: 'openai', path: () => '/v1/chat/completions', body: chat },
  {
    dialect: 'openai-responses',
    engine: 'openai',
    path: () => '/v1/responses',
    body: (stream) => ({
      model: 'm',
      stream,
      input: ASK,
      tools: NAMES.map((name) => ({ type: 'function', name, parameters: schema })),
    }),
  },
  {
    dialect: 'gemini',
    engine: 'gemini',
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: ASK }] }],
      tools: [{ functionDeclarations: NAMES.map((name) => ({ name, parameters: schema })) }],
    }),
  },
  { dialect: 'kimi', engine: 'kimi', path: () => '/kimi/v1/chat/completions', body: chat },
  { dialect: 'copilot', engine: 'copilot', path: () => '/copilot/chat/completions', body: chat },
];

let sim: TestGateway;
let server: TestGateway;
let upstream: RecordingUpstream;
/** Answers of a model that calls Bash, by dialect and form. */
const disobedient = new Map<string, Buffer>();

beforeAll(async () => {
  sim = await startGateway();
  upstream = await startUpstream();
  const engines = Object.fromEntries(['claude', 'openai', 'gemini', 'kimi', 'copilot'].map((id) => [id, { url: upstream.url, key: 'k' }]));
  server = await startGateway({ engines, config: { auth: { local: false } } });
  for (const { dialect, path, body } of VOICES) {
    for (const stream of [false, true]) {
      const { answer } = await sent(sim, `/e/sim:${dialect}${path(stream)}`, body(stream), sim.token);
      expect(answer).toContain('Bash');
      disobedient.set(`${dialect} ${stream}`, Buffer.from(answer));
    }
  }
});

afterAll(async () => {
  await Promise.all([sim.close(), server.close(), upstream.close()]);
});

async function sent({ url }: TestGateway, path: string, body: object, key: string) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...(key !== '' && { 'x-abp-key': key }), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, answer: await answer.text(), run: answer.headers.get('x-abp-run-id') ?? '' };
}

async function runKey(engine: string, tools: { allowed: string[]; denied: string[] }): Promise<string> {
  const ask = { runId: newRunId(), agent: 'codex', engine, model: null, emulate: [], traffic: [], thinking: null, tools } as const;
  return await runPort(server.gateway).mintRunKey({
    ...ask,
    compatibility: 'best_effort',
    raw: true,
    tags: [],
    expiresAt: Date.now() + 3_600_000,
  });
}

/** Serves the recorded answer in pieces of seven bytes, so that no event comes whole. */
function answerWith(dialect: string, stream: boolean): void {
  const bytes = disobedient.get(`${dialect} ${stream}`) ?? Buffer.alloc(0);
  upstream.answer((socket) => {
    if (!stream) return void socket.write(whole(bytes));
    socket.write(chunkedHead());
    for (let at = 0; at < bytes.length; at += 7) socket.write(chunk(bytes.subarray(at, at + 7)));
    socket.write(lastChunk());
  });
}

/** The dialect in which an engine is asked by a caller. */
const spoken = (caller: Voice, other: Voice): string => (caller.engine === other.engine ? caller.dialect : other.dialect);

const PAIRS = VOICES.flatMap((caller) => VOICES.map((other) => ({ caller, other, name: `${caller.dialect} on ${other.engine}` }))).filter(
  // One engine serves two dialects; which of them a foreign caller gets is the engine's first.
  ({ caller, other }) => other.dialect !== 'openai-chat' || caller.dialect === 'openai-chat',
);

/** Whether an answer holds a call of the tool, in any dialect; an answer may repeat the offer of its request. */
const callsBash = (text: string): boolean => /"(?:type":"(?:tool_use|function_call)"|functionCall"|tool_calls")[\s\S]*?"Bash"/.test(text);

describe.each(PAIRS)('$name', ({ caller, other }) => {
  it.each([false, true])('does not offer a denied tool, and refuses a call of it (streamed: %s)', async (stream) => {
    const key = await runKey(other.engine, { allowed: [], denied: ['bash'] });
    const before = upstream.requests.length;
    answerWith(spoken(caller, other), stream);
    const { status, answer, run } = await sent(server, `/e/${other.engine}${caller.path(stream)}`, caller.body(stream), key);
    const asked = String(upstream.requests[before]?.body);
    expect(asked).toContain('"Write"');
    expect(asked).not.toContain('"Bash"');
    expect([status, answer]).toEqual([stream ? 200 : 403, expect.stringContaining('disallowed_tools: bash denies')]);
    expect(callsBash(answer)).toBe(false);
    const receipt = await receiptOf(server.url, run, ['x-abp-key', server.token]);
    expect(receipt).toMatchObject({ status: 'failed', error: { code: 'E005' }, mode: 'mapped' });
    expect(receipt.rules).toEqual([{ rule: 'disallowed_tools: bash', by: 'wire', detail: 'Bash was taken out of the offer' }]);
  });
});

it('lets allowed tools through, streamed and whole, byte for byte', async () => {
  const [voice] = VOICES;
  if (voice === undefined) throw new Error('there is no voice');
  const key = await runKey('claude', { allowed: ['B*', 'Write'], denied: [] });
  for (const stream of [false, true]) {
    answerWith('claude', stream);
    const { status, answer } = await sent(server, `/e/claude${voice.path(stream)}`, voice.body(stream), key);
    expect([status, answer]).toEqual([200, String(disobedient.get(`claude ${stream}`))]);
  }
});

describe('a request that cannot be served without a denied tool', () => {
  it('is E005 where it insists on one, and nobody is called', async () => {
    const key = await runKey('claude', { allowed: ['Write'], denied: [] });
    const before = upstream.requests.length;
    const insisting = { ...VOICES[0]?.body(false), tool_choice: { type: 'tool', name: 'Bash' } };
    const { status, answer } = await sent(server, '/e/claude/v1/messages', insisting, key);
    expect([status, answer]).toEqual([403, expect.stringContaining('allowed_tools: Write denies')]);
    expect(upstream.requests.length).toBe(before);
  });

  it.each(['/e/openai/v1/batches', '/e/claude/v1/messages/batches'])('is E005 on %s, which nobody reads', async (path) => {
    const before = upstream.requests.length;
    const { status, answer } = await sent(server, path, {}, await runKey(path.split('/')[2] ?? '', { allowed: [], denied: ['Bash'] }));
    expect([status, answer]).toEqual([403, expect.stringContaining('E005')]);
    expect(upstream.requests.length).toBe(before);
  });
});

describe('rules of the operator', () => {
  let ruled: TestGateway;
  beforeAll(async () => {
    const engines = {
      claude: { url: upstream.url, key: 'k' },
      gemini: { url: upstream.url, key: 'k' },
      openai: { url: upstream.url, key: 'k' },
    };
    ruled = await startGateway({ engines, config: { policy: { disallowed_tools: ['Bash'] } } });
  });
  afterAll(() => ruled.close());

  it('refuse an offer whose bytes must pass as they are, and take it out of one that is translated', async () => {
    const before = upstream.requests.length;
    const own = await sent(ruled, '/e/claude/v1/messages', VOICES[0]?.body(false) ?? {}, '');
    expect([own.status, own.answer]).toEqual([403, expect.stringContaining('The request offers the tool Bash')]);
    expect(upstream.requests.length).toBe(before);
    answerWith('gemini', false);
    const foreign = await sent(ruled, '/e/gemini/v1/messages', VOICES[0]?.body(false) ?? {}, '');
    expect(String(upstream.requests.at(-1)?.body)).not.toContain('"Bash"');
    expect([foreign.status, foreign.answer]).toEqual([403, expect.stringContaining('The model called the tool Bash')]);
  });

  it('refuse an offer in a body that is read on another thread', async () => {
    const large = { ...VOICES[0]?.body(false), system: 'x'.repeat(1_000_000) };
    const before = upstream.requests.length;
    const { status, answer } = await sent(ruled, '/e/claude/v1/messages', large, '');
    expect([status, answer]).toEqual([403, expect.stringContaining('The request offers the tool Bash')]);
    expect(upstream.requests.length).toBe(before);
  });

  it('let a call pass unchanged that offers nothing denied', async () => {
    upstream.answer((socket) => void socket.write(whole('{"type":"message","role":"assistant","content":[]}')));
    const plain = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
    const { status, run } = await sent(ruled, '/e/claude/v1/messages', plain, '');
    expect([status, String(upstream.requests.at(-1)?.body)]).toEqual([200, JSON.stringify(plain)]);
    expect((await receiptOf(ruled.url, run)).mode).toBe('passthrough');
  });

  it('refuse a WebSocket, whose bytes nobody reads', async () => {
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const head = `GET /e/openai/v1/realtime?model=m HTTP/1.1\r\nHost: ${new URL(ruled.url).host}\r\n${lines.join('\r\n')}\r\n\r\n`;
    expect(await rawCall(ruled.url, head)).toMatch(/^HTTP\/1\.1 403 [\s\S]*E005/);
  });
});
