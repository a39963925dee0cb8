import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { newRunId } from '../../src/contract/run-id.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { dialects } from '../../src/dialects/index.ts';
import { ownEngine } from '../../src/engines/index.ts';
import type { Config } from '../../src/gateway/config.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { AgentApi } from '../support/agent-api.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, rawCall } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const SIDECAR = fileURLToPath(new URL('../work-orders/sidecar.mjs', import.meta.url));
const ENGINES = [...new Set(dialects.flatMap(({ id }) => ownEngine(id)?.id ?? []))];
const MODEL = 'denied-1';
const messages = [{ role: 'user', content: 'hi' }];
const TOOL = 'Bash';
const tools: Readonly<Record<string, object>> = {
  claude: { tools: [{ name: TOOL, input_schema: { type: 'object' } }] },
  'openai-responses': { tools: [{ type: 'function', name: TOOL, parameters: { type: 'object' } }] },
  gemini: { tools: [{ functionDeclarations: [{ name: TOOL }] }] },
};
const chatTools = { tools: [{ type: 'function', function: { name: TOOL, parameters: { type: 'object' } } }] };
const bodies: Readonly<Record<string, object>> = {
  claude: { model: MODEL, max_tokens: 5, messages },
  'openai-responses': { model: MODEL, input: 'hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

/** One way to an engine: its name, and what came back as text. */
type Way = readonly [string, (scene: Scene) => Promise<string>];

interface Scene {
  readonly server: TestGateway;
  readonly folder: string;
  readonly api: AgentApi;
  /** Tools that runs deny to themselves. */
  readonly denied: readonly string[];
}

const order = ({ folder, denied }: Scene) =>
  workOrder('do it')
    .workspace({ root: folder })
    .policy({ disallowed_tools: [...denied] })
    .config({ model: MODEL, vendor: { abp: { engine: 'claude' } } })
    .build();

/** Every path of every dialect, to an engine of its own vendor and to one of another. */
const vendorWays = (offer: boolean): Way[] =>
  dialects.flatMap(({ id, paths }) =>
    paths
      .filter(({ method, operation }) => method === 'POST' && (!offer || operation === 'generate'))
      .flatMap(({ path, operation }): Way[] => {
        const own = ownEngine(id)?.id ?? '';
        const named = path.replace('{model}', MODEL);
        const body = { ...(bodies[id] ?? { model: MODEL, messages }), ...(offer && (tools[id] ?? chatTools)) };
        const to = (engine: string): Way => [
          `${id} ${named} on ${engine}`,
          async ({ server }) => String((await post(`${server.url}/e/${engine}${named}`, body)).body),
        ];
        // An offer is edited where it is translated; embeddings have no translation.
        return offer || operation === 'embeddings' ? [to(own)] : [to(own), to(own === 'claude' ? 'gemini' : 'claude')];
      }),
  );

const unreadWays: Way[] = [
  ...[
    '/e/claude/v1/messages/batches',
    '/e/openai/v1/batches',
    '/e/openai/v1/audio/speech',
    `/e/gemini/v1beta/models/${MODEL}:embedText`,
  ].map((path): Way => [`POST ${path}`, async ({ server }) => String((await post(`${server.url}${path}`, { model: MODEL })).body)]),
  [
    'a WebSocket',
    async ({ server }) => {
      const lines = [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ];
      const head = `GET /e/openai/v1/realtime?model=${MODEL} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n${lines.join('\r\n')}\r\n\r\n`;
      return await rawCall(server.url, head);
    },
  ],
];

const turn: Way = [
  'a turn',
  async ({ server }) => {
    const api = new AgentApi(server);
    const agent = await api.agent({ model: `claude/${MODEL}` });
    await api.call('PUT', `/v1/agents/${agent}/capabilities`, { capabilities: ['current_time'] });
    const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
    await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
    let said = '';
    await expect
      .poll(async () => {
        const answer = await call(`${server.url}/v1/sessions/${session.id}/events`, { headers: ['accept', 'application/json'] });
        said = JSON.stringify(JSON.parse(String(answer.body)).items.find(({ type }: { type: string }) => type === 'turn.failed') ?? '');
        return said;
      })
      .toContain('error_code');
    return said;
  },
];

const runWays: Way[] = [
  [
    'a run',
    async (scene) => {
      const env = { PATH: fakeCommand(join(scene.folder, 'bin'), 'codex', 'claude') };
      const options = {
        agent: 'codex',
        prompt: 'hi',
        cwd: scene.folder,
        engine: 'claude',
        model: MODEL,
        env,
        policy: { disallowed_tools: [...scene.denied] },
      };
      return (await scene.api.call('POST', '/v1/runs', options)).text;
    },
  ],
  ...['adapter:codex', 'engine:claude', 'host:codex', 'sidecar:mine'].map(
    (backend): Way => [
      `a work order on ${backend}`,
      async (scene) => (await scene.api.call('POST', `/v1/work-orders?backend=${backend}&engine=claude`, order(scene))).text,
    ],
  ),
  [
    'an entrant of a race',
    async (scene) => {
      const parent = newRunId();
      const port = runPort(scene.server.gateway);
      await port.opened({
        ...{
          run: parent,
          at: Date.now(),
          task: 'race',
          dialect: null,
          engine: null,
          backend: 'race',
          requestedModel: null,
          upstreamModel: null,
        },
        ...{ compatibility: 'best_effort', fidelity: [], request: null, enforcement: 'enforced', tags: [] },
      });
      return (await scene.api.call('POST', `/v1/work-orders?backend=sidecar:mine&engine=claude&parent=${parent}`, order(scene))).text;
    },
  ],
];

const fallback: Way = [
  'a fallback',
  async ({ server }) => {
    const body = { model: 'smart', max_tokens: 5, messages: [{ role: 'user', content: 'fail with 500' }] };
    const answer = await post(`${server.url}/v1/messages`, body);
    // The caller hears of the engine that failed; that no other might be called stands in the receipt.
    const { attempts } = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    return `${answer.status} ${JSON.stringify(attempts)}`;
  },
];

/** Agents that list no models themselves: the list of an engine is theirs, and it is asked with the engine's key. */
const lists: readonly Way[] = ['gemini', 'copilot'].map(
  (agent): Way => [`the models of ${agent}`, async ({ api }) => (await api.call('POST', `/v1/adapters/${agent}/models/refresh`, {})).text],
);

/** Everybody in this walk is a caller without a key, and this one call is all that they may make. */
async function spendAll({ server }: Scene): Promise<void> {
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
  expect((await post(`${server.url}/e/sim/v1/messages`, body)).status).toBe(200);
}

interface Kind {
  readonly kind: string;
  readonly policy?: z.input<typeof Config>['policy'];
  readonly budgets?: z.input<typeof Config>['budgets'];
  readonly ways: readonly Way[];
  /** The error that everybody hears; that of a policy unless named. */
  readonly code?: string;
  readonly before?: (scene: Scene) => Promise<void>;
}

const KINDS: readonly Kind[] = [
  {
    kind: 'deny_engines',
    policy: { deny_engines: ENGINES },
    ways: [...vendorWays(false), ...unreadWays, turn, ...runWays, fallback, ...lists],
  },
  { kind: 'deny_models', policy: { deny_models: ['denied-*'] }, ways: [...vendorWays(false), ...unreadWays, turn, ...runWays, fallback] },
  // Runs on engines and hosts are held to it by their own programs, and go on without the tool.
  { kind: 'disallowed_tools', policy: { disallowed_tools: [TOOL] }, ways: [...vendorWays(true), ...unreadWays] },
  {
    kind: 'a budget that is used up',
    budgets: [{ on: { key: 'local' }, period: 'total', limit_requests: 1 }],
    ways: [...vendorWays(false), ...unreadWays, turn, ...runWays],
    code: 'budget_exceeded',
    before: spendAll,
  },
  { kind: 'allowed_tools', policy: { allowed_tools: ['Read'] }, ways: [...vendorWays(true), ...unreadWays, turn] },
];

describe.each(KINDS)('with $kind', ({ policy = {}, budgets = [], ways, code = 'E005', before }) => {
  let connections = 0;
  let scene: Scene;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`; // a listening TCP server has one
    const server = await startGateway({
      engines: Object.fromEntries(ENGINES.map((id) => [id, { url, key: 'sk-engine-key-0001' }])),
      config: {
        policy,
        budgets,
        routes: [{ match: 'smart', to: 'sim/one', fallback: [`claude/${MODEL}`] }],
        sidecars: { mine: { command: [process.execPath, SIDECAR, 'good'], engine: 'claude' } },
      },
    });
    scene = {
      server,
      folder: mkdtempSync(join(tmpdir(), 'abp-walk-')),
      api: new AgentApi(server).withToken(),
      denied: budgets.length === 0 ? [TOOL] : [],
    };
    await before?.(scene);
  });

  afterAll(async () => {
    await scene.server.close();
    listener.close();
    rmSync(scene.folder, { recursive: true, force: true });
  });

  it('is refused on every way, and no engine sees a connection', async () => {
    const answers: string[] = [];
    for (const [name, go] of ways) answers.push(`${name}: ${(await go(scene)).includes(code) ? code : await go(scene)}`);
    expect(answers).toEqual(ways.map(([name]) => `${name}: ${code}`));
    expect(connections).toBe(0);
  });
});

it('asks a denied engine of the operator’s own for no list of models, whose run is not admitted yet', async () => {
  let asked = 0;
  const engine = createHttpServer((_request, response) => {
    asked += 1;
    response.end('{"data":[{"id":"mine-1","context_length":4096}]}');
  });
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`; // a listening TCP server has one
  onTestFinished(() => void engine.close());
  for (const deny_engines of [[], ['mine']]) {
    const server = await startGateway({
      config: { engines: { mine: { base: 'openai-compatible', url, key: 'sk-engine-key-0001' } }, policy: { deny_engines } },
    });
    onTestFinished(server.close);
    const wish = '/v1/attached-runs/offer?engine=mine&model=mine-1&dialect=openai-chat';
    expect((await new AgentApi(server).withToken().call('GET', wish)).status).toBe(200);
    // The first server, which denies nothing, has asked.
    expect(asked).toBe(1);
  }
});
