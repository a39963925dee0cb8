import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapters } from '../../src/adapters/index.ts';
import type { Json } from '../../src/base/json.ts';
import { checkAt } from '../../src/contract/border.ts';
import { RunOptions } from '../../src/contract/runs/run-options.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { assertRunRights } from '../../src/gateway/auth/run-rights.ts';
import { Config } from '../../src/gateway/config.ts';
import { GATEWAY, planOf } from '../support/dialogue.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { keyOf } from '../support/principals.ts';

const top = mkdtempSync(join(tmpdir(), 'abp-rights-walk-'));
const root = join(top, 'projects');
mkdirSync(join(root, 'one'), { recursive: true });
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** What a key of plane `run` that is no admin key may ask for with one option, and what it may not. */
interface Verdict {
  readonly may: readonly unknown[];
  readonly mayNot?: readonly unknown[];
}

const free = (...may: unknown[]): Verdict => ({ may });
const stdio = { name: 'm', transport: 'stdio', command: 'sh', args: ['-c', 'id'] };

/** Every option of a run. A new one has no verdict, and this suite fails until somebody has thought about it. */
const VERDICTS: Readonly<Record<keyof typeof RunOptions.shape, Verdict>> = {
  agent: free('claude'),
  prompt: free('do it', ['do it', 'then that']),
  systemPrompt: free('Be brief.'),
  systemPromptMode: free('append', 'replace'),
  model: free('some-model'),
  thinkingEffort: free('low'),
  thinkingBudgetTokens: free(1024),
  thinkingOverride: free({ effort: 'low' }),
  temperature: free(0.5),
  topP: free(0.5),
  topK: free(5),
  maxTokens: free(100),
  maxOutputTokens: free(100),
  sessionId: { may: ['a-b-c'], mayNot: ['/srv/.pi/sessions/1.jsonl', '../1', 'a\\b'] },
  forkSessionId: { may: ['a-b-c'], mayNot: ['/srv/.pi/sessions/1.jsonl', './1'] },
  noSession: free(true),
  stream: free(true, 'auto'),
  outputFormat: free('json'),
  nonInteractive: free(true, false),
  cwd: { may: [join(root, 'one'), root], mayNot: [top, '/', join(root, '..'), 'relative', join(root, 'missing')] },
  env: {
    may: [{ LANG: 'C', LC_ALL: 'C', NO_COLOR: '1' }, { PROJECT_MODE: 'x' }],
    mayNot: [
      { PATH: '/opt/evil' },
      { NODE_OPTIONS: '--require x' },
      { LD_PRELOAD: 'x' },
      { HOME: '/' },
      { ANTHROPIC_BASE_URL: 'https://x' },
      { ABP_CLAUDE_ADAPTER_MODULE: 'x' },
    ],
  },
  timeout: free(1000),
  inactivityTimeout: free(1000),
  maxTurns: free(3),
  maxBudgetUsd: free(1),
  enforcement: free('advisory'),
  approvalMode: free('yolo', 'prompt', 'deny'),
  approvalTimeout: free(1000),
  workspace: free({ mode: 'staged' }, { mode: 'pass_through' }),
  policy: free({ deny_write: ['a'] }),
  sandbox: free(true, false),
  limits: free({ processes: 100, memoryMb: 1024 }),
  skills: { may: [['pdf']], mayNot: [['/opt/evil'], ['./evil'], ['~/evil'], ['..']] },
  agentsDoc: free('Rules.'),
  check: { may: [], mayNot: ['npm test', 'id'] },
  checkTimeout: free(1000),
  retryPolicy: free({ maxAttempts: 2 }),
  runId: free('run_01980000000070008000000000000000'),
  projectId: free('p'),
  tags: free(['t']),
  invocation: free({ mode: 'local' }),
  collectEvents: free(true),
  gracePeriodMs: free(100),
  engine: free('sim'),
  direct: free(true),
  compatibility: free('strict'),
  profile: free('mine'),
  attachments: {
    may: [[{ base64: 'aGk=', mimeType: 'text/plain', name: 'a.txt' }], [{ url: 'https://example.com/a' }]],
    mayNot: [[{ filePath: '/etc/shadow' }], [{ base64: 'aGk=', mimeType: 'text/plain' }, { filePath: 'a' }]],
  },
  mcpServers: {
    may: [[{ name: 'm', transport: 'streamable-http', url: 'https://mcp.example/x' }]],
    mayNot: [[stdio], [{ name: 'w', transport: 'sse', url: 'https://mcp.example/x' }, stdio]],
  },
  // Functions of the process that calls; nothing that comes over HTTP can hold one.
  hooks: free(),
};

const agents = adapters.map(({ agent }) => agent);
const key = keyOf({ planes: ['run'] });
const runs = { roots: [root], env: ['PROJECT_MODE'] };
const { policy } = Config.parse({});
const optionsWith = (agent: string, name: string, value: unknown): RunOptions => {
  const checked = checkAt(RunOptions, { prompt: 'hi', cwd: join(root, 'one'), workspace: { mode: 'staged' }, [name]: value, agent });
  return checked.ok ? checked.value : expect.fail(JSON.stringify(checked.complaints));
};
const rows = Object.entries(VERDICTS).flatMap(([name, { may, mayNot = [] }]) => [
  ...may.map((value) => ({ name, value, allowed: true })),
  ...mayNot.map((value) => ({ name, value, allowed: false })),
]);

it('every option of a run has a verdict', () => {
  expect(Object.keys(VERDICTS).toSorted()).toEqual(Object.keys(RunOptions.shape).toSorted());
});

it.each(agents)('a key that is no admin key may ask %s for what the table says, and for nothing else', (agent) => {
  for (const { name, value, allowed } of rows.filter((row) => row.name !== 'agent')) {
    const options = optionsWith(agent, name, value);
    const judge = (): void => assertRunRights(key, options, { runs, policy });
    const said = `${name}: ${JSON.stringify(value)}`;
    if (allowed) expect(judge, said).not.toThrow();
    else expect(judge, said).toThrow(expect.objectContaining({ code: 'forbidden' }));
  }
});

const HOSTILE = '--hostile';

/** The value with every text in it begun by a dash. */
function hostile(value: Json): Json {
  if (typeof value === 'string') return `${HOSTILE}-${value}`;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, KEPT.has(name) ? member : hostile(member)]));
}

/** Members that say what kind of thing it is. */
const KEPT = new Set(['transport', 'mode', 'url', 'mimeType']);

describe.each(adapters.map((adapter) => [adapter.agent, adapter] as const))('%s', (agent, { spawn }) => {
  it('gets no text that begins with a dash as an option, whichever option of a run holds it', () => {
    const taken: string[] = [];
    for (const { name, value } of rows.filter((row) => row.name !== 'agent')) {
      const checked = checkAt(RunOptions, {
        prompt: 'hi',
        cwd: root,
        workspace: { mode: 'staged' },
        [name]: hostile(JSON.parse(JSON.stringify(value))),
        agent,
      });
      // Refused before anything is started.
      if (!checked.ok) continue;
      const { args } = spawn(planOf('x', checked.value, { gateway: GATEWAY }));
      const end = args.indexOf('--');
      taken.push(...(end === -1 ? args : args.slice(0, end)).filter((arg) => arg.startsWith(HOSTILE)));
    }
    expect(taken).toEqual([]);
  });

  it('gets the prompt another way than by its arguments, which every user of the machine can read', () => {
    const { args } = spawn(planOf(agent, { prompt: 'the secret plan' }, { gateway: GATEWAY }));
    // Cursor reads its prompt from an argument alone.
    expect(args.filter((arg) => arg.includes('the secret plan'))).toHaveLength(agent === 'cursor' ? 1 : 0);
  });
});

describe('over HTTP', () => {
  let server: TestGateway;
  let secret: string;
  beforeAll(async () => {
    server = await startGateway({ config: { runs } });
    const headers = ['authorization', `Bearer ${server.token}`, 'content-type', 'application/json'];
    const body = JSON.stringify({ name: 'runs', scopes: { planes: ['run'] } });
    secret = JSON.parse(String((await call(`${server.url}/v1/keys`, { method: 'POST', headers, body })).body)).secret;
  });
  afterAll(() => server.close());

  const send = (path: string, body: object) =>
    call(`${server.url}${path}`, {
      method: 'POST',
      headers: ['authorization', `Bearer ${secret}`, 'content-type', 'application/json'],
      body: JSON.stringify(body),
    });

  it.each(agents)('what it may not is refused before anything of %s is looked for', async (agent) => {
    for (const { name, value } of rows.filter(({ allowed }) => !allowed)) {
      const { status, body } = await send('/v1/runs', { prompt: 'hi', cwd: root, workspace: { mode: 'staged' }, [name]: value, agent });
      expect([status, JSON.parse(String(body)).error?.code ?? JSON.parse(String(body)).code], `${name} ${JSON.stringify(value)}`).toEqual([
        403,
        'forbidden',
      ]);
    }
  });

  it.each(['adapter:claude', 'host:claude', 'adapter:codex', 'host:codex', 'host:gemini', 'host:copilot'])(
    'a work order asks for no program either, through the namespace of %s',
    async (backend) => {
      const [, name = ''] = backend.split(':');
      for (const members of [{ mcpServers: [stdio] }, { skills: ['/opt/evil'] }, { sessionId: '/srv/1.jsonl' }]) {
        const order = workOrder('do it')
          .workspace({ root: join(root, 'one') })
          .config({ vendor: { [name]: members } })
          .build();
        const { status, body } = await send(`/v1/work-orders?backend=${backend}&engine=sim`, order);
        expect(status, String(body)).not.toBe(202);
        expect([403, 422, 404, 503, 400], String(body)).toContain(status);
        if (backend.startsWith('host:')) expect(status, String(body)).toBe(403);
      }
    },
  );

  it('a work order has no folder beyond the roots, also by a link or by a relative path', async () => {
    for (const folder of [top, '/', join(root, '..'), '.', '..']) {
      const order = workOrder('do it').workspace({ root: folder }).build();
      expect((await send('/v1/work-orders?backend=engine:sim', order)).status, folder).toBe(403);
    }
  });
});
