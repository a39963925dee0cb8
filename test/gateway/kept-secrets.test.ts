import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { openLog } from '../../src/gateway/log.ts';
import { BodyFiles } from '../../src/store/recordings/body-files.ts';
import { AgentApi } from '../support/agent-api.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { callRoute, endedReceipt } from '../work-orders/control-call.ts';

// Secrets of an installation come back from where they were sent, in every form; nothing that is kept may hold one.

/** No shape gives it away, and every encoding writes it in another way. */
const KEY = 'Zw9/x"ü+&<q>\\k7-Öl=p~m';
const TOOL_KEY = 't00l\'s/key?é "ü"';
const PLAIN = 'plainlettersanddigits0815';
const SIDECAR_KEY = 'side/car "0815" ß';
const SECRETS = [KEY, TOOL_KEY, PLAIN, SIDECAR_KEY];

const lower = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase());
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const ascii = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A secret as somebody may write it. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'JSON in a text': json,
  'JSON in ASCII': (secret) => ascii(json(secret)),
  'JSON with escaped slashes': (secret) => json(secret).replaceAll('/', '\\/'),
  'an address': encodeURIComponent,
  'an address in lower case': (secret) => lower(encodeURIComponent(secret)),
  'a query': (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  'base64 at its beginning': (secret) => Buffer.from(secret).toString('base64'),
  'base64 after one byte': (secret) => Buffer.from(`x${secret} and more`).toString('base64'),
  'base64 after two bytes': (secret) => Buffer.from(`xy${secret} and more`).toString('base64'),
  'base64 for addresses': (secret) => Buffer.from(`user:${secret}`).toString('base64url'),
};

/** What must not be found: the middle of each form, so that what stands around it does not matter. */
const needles = SECRETS.flatMap((secret) =>
  Object.entries(FORMS).map(([name, form]) => {
    const text = form(secret);
    return { name: `${name} of ${secret}`, bytes: Buffer.from(name.startsWith('base64') ? text.slice(8, -8) : text) };
  }),
);
const ALL_FORMS = SECRETS.flatMap((secret) => Object.values(FORMS).map((form) => form(secret))).join(' | ');

let upstream: Server;
let server: TestGateway;
let api: AgentApi;
/** Outside of the home: the text that sidecars tell, a workspace and a coding agent. */
let folder: string;
const lines: string[] = [];

/** An engine and a tool that tell what they were sent, wherever there is room for words. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let asked = '';
  for await (const chunk of request) asked += String(chunk);
  const say = (status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': PLAIN }).end(JSON.stringify(body));
  if (request.url?.startsWith('/tool')) say(200, { echo: ALL_FORMS });
  else if (asked.includes('be broken')) say(400, { error: { message: `wrong key ${ALL_FORMS}`, type: KEY, code: PLAIN, param: TOOL_KEY } });
  else if (asked.includes('stream to me')) streamed(response);
  else
    say(200, {
      id: PLAIN,
      object: 'chat.completion',
      created: 1,
      model: KEY,
      service_tier: PLAIN,
      choices: [
        {
          index: 0,
          finish_reason: asked.includes('call a tool') ? 'tool_calls' : 'stop',
          message: {
            role: 'assistant',
            content: ALL_FORMS,
            ...(asked.includes('call a tool')
              ? { tool_calls: [{ id: PLAIN, type: 'function', function: { name: 'echo', arguments: JSON.stringify({ q: ALL_FORMS }) } }] }
              : {}),
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
}

function streamed(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: PLAIN, object: 'chat.completion.chunk', created: 1, model: KEY, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.write(chunk({ role: 'assistant', content: ALL_FORMS }, null));
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
}

beforeAll(async () => {
  upstream = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`; // a TCP server that listens has one
  const url = `http://${host}`;
  folder = mkdtempSync(join(tmpdir(), 'abp-kept-'));
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'text'), ALL_FORMS);
  const script = fileURLToPath(new URL('./telling-sidecar.mjs', import.meta.url));
  const sidecars = ['final', 'fatal', 'dies', 'unheard'].map(
    (how) =>
      [how, { command: [process.execPath, script, how, join(folder, 'text')], env: { VENDOR_API_KEY: SIDECAR_KEY } }] as [
        string,
        { command: string[]; env: Record<string, string> },
      ],
  );
  server = await startGateway({
    engines: { openai: { url, key: PLAIN, headers: { 'x-account': encodeURIComponent(KEY) } } },
    config: {
      secrets: { TOOL: { key: TOOL_KEY, hosts: [host] }, OTHER: { key: KEY, hosts: [] } },
      recording: { default: 'full' },
      tools: { allow_hosts: [host] },
      sidecars: Object.fromEntries(sidecars),
    },
  });
  api = new AgentApi(server).withToken();
  const log = openLog([], { write: (line) => void lines.push(line) }, SECRETS);
  log.error({ error: new Error(`it failed: ${ALL_FORMS}`), details: { list: [ALL_FORMS] } }, ALL_FORMS);
});
afterAll(async () => {
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const CHAT = (content: string, more: object = {}): object => ({ model: 'gpt-4o', messages: [{ role: 'user', content }], ...more });
const CLAUDE = (content: string, more: object = {}): object => ({
  model: 'gpt-4o',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
  ...more,
});

/** Every file of the home but the token itself, and recorded bodies of the last seconds, which nobody has looked at yet. */
function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(path);
    const isKept = entry.name !== 'token' && !entry.name.endsWith('.bodies-open') && statSync(path).size > 0;
    return entry.isFile() && isKept ? [path] : [];
  });
}

function foundIn(name: string, bytes: Buffer): string[] {
  return needles.filter(({ bytes: needle }) => bytes.includes(needle)).map((needle) => `${name}: ${needle.name}`);
}

async function settled(): Promise<void> {
  await server.gateway.keeper.settled();
  const { store } = server.gateway;
  if (store.kind === 'sqlite') await store.exclusive(() => store.sqlite.exec('pragma wal_checkpoint(truncate)'));
}

describe('a secret that was sent away and comes back', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a relayed answer', () => post(`${server.url}/e/openai/v1/chat/completions`, CHAT('hello'))],
    ['a relayed stream', () => post(`${server.url}/e/openai/v1/chat/completions`, CHAT('stream to me', { stream: true }))],
    ['a relayed error', () => post(`${server.url}/e/openai/v1/chat/completions`, CHAT('be broken'))],
    ['a mapped answer', () => post(`${server.url}/e/openai/v1/messages`, CLAUDE('hello'))],
    ['a mapped stream', () => post(`${server.url}/e/openai/v1/messages`, CLAUDE('stream to me', { stream: true }))],
    ['a mapped error', () => post(`${server.url}/e/openai/v1/messages`, CLAUDE('be broken'))],
    [
      'a call of a tool',
      () =>
        post(`${server.url}/e/openai/v1/messages`, CLAUDE('call a tool', { tools: [{ name: 'echo', input_schema: { type: 'object' } }] })),
    ],
    ['a raw path', () => call(`${server.url}/e/openai/v1/files?x=${encodeURIComponent(KEY)}&y=${PLAIN}`, {})],
    ['the name of a model', () => post(`${server.url}/e/openai/v1/chat/completions`, { ...CHAT('hello'), model: KEY })],
    [
      'a tag',
      () =>
        call(`${server.url}/e/openai/v1/chat/completions`, {
          method: 'POST',
          headers: ['x-abp-tags', PLAIN],
          body: JSON.stringify(CHAT('hello')),
        }),
    ],
    ['a path that nobody knows', () => call(`${server.url}/e/openai/nowhere/${encodeURIComponent(KEY)}`, { method: 'POST', body: '{}' })],
    ['a request that is refused', () => post(`${server.url}/e/nowhere-${PLAIN}/v1/messages`, CLAUDE(ALL_FORMS))],
    ['a turn of an agent', () => turn('hello')],
    ['a turn that fails', () => turn('be broken')],
    ['a turn that is told the secret', () => turn(`remember ${ALL_FORMS}`)],
    ['a work order', () => order('engine:openai')],
    ['a work order on a sidecar that tells it in every way', () => order('sidecar:final')],
    ['a sidecar that fails with it', () => order('sidecar:fatal')],
    ['a sidecar that dies with it on its lips', () => order('sidecar:dies')],
    ['a sidecar that ends before it has said hello', () => order('sidecar:unheard')],
    ['a run of a coding agent', () => run('remember')],
    ['a run of a coding agent that fails', () => run('be broken')],
    [
      'a compressed request',
      () =>
        call(`${server.url}/e/openai/v1/chat/completions`, {
          method: 'POST',
          headers: ['content-encoding', 'zstd'],
          body: zstdCompressSync(JSON.stringify(CHAT(ALL_FORMS))),
        }),
    ],
    ['a request that is explained', () => api.call('POST', '/v1/explain', { from: 'claude', to: 'openai', request: CLAUDE(ALL_FORMS) })],
  ])('by %s is in no file of the home and in no recorded body', async (name, work) => {
    await work();
    await settled();
    expect(files(server.home).flatMap((path) => foundIn(`${name}: ${path.slice(server.home.length)}`, readFileSync(path)))).toEqual([]);
    expect((await recordedBodies()).flatMap((bytes) => foundIn(`${name}: a recorded body`, bytes))).toEqual([]);
  });

  it('is not told by a list of backends, whose sidecars tell it in their hello and on their error output', async () => {
    const told = await Promise.all(['/v1/backends', '/v1/matrix', '/v1/runs?view=row'].map((path) => api.call('GET', path)));
    expect(told.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(told.flatMap(({ body }, at) => foundIn(`list ${at}`, Buffer.from(JSON.stringify(body))))).toEqual([]);
  });

  it('is in no line of the log', () => {
    expect(foundIn('log', Buffer.from(lines.join('')))).toEqual([]);
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(['object']);
  });
});

async function turn(content: string): Promise<void> {
  const agent = await api.agent({ model: 'openai/gpt-4o' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content } });
  await expect.poll(async () => (await api.call('GET', `/v1/sessions/${session.id}`)).body.status).toBe('idle');
}

async function order(backend: string): Promise<void> {
  const asked = workOrder(`say "${PLAIN}" and ${ALL_FORMS}`)
    .workspace({ root: join(folder, 'work') })
    .build();
  const { body } = await callRoute(server, 'POST', `/v1/work-orders?backend=${backend}`, asked);
  expect(foundIn(`the answer to a work order on ${backend}`, Buffer.from(JSON.stringify(body)))).toEqual([]);
  if (body.run_id !== undefined) await endedReceipt(server, String(body.run_id));
}

async function run(prompt: string): Promise<void> {
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
  const asked = { agent: 'claude', prompt: `${prompt} ${ALL_FORMS}`, cwd: join(folder, 'work'), engine: 'openai', model: 'gpt-4o', env };
  const { body } = await callRoute(server, 'POST', '/v1/runs', asked);
  await endedReceipt(server, String(body.run_id));
}

/** They are compressed on the disk, so that a look at the files finds nothing in them. */
async function recordedBodies(): Promise<Buffer[]> {
  const blocks = new BodyFiles(server.gateway.home.bodiesFolder);
  const read = await Promise.all([...blocks.blocks().keys()].map((block) => blocks.readBlock(block)));
  return read.filter((bytes) => bytes !== undefined);
}
