import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { adapters } from '../../src/adapters/index.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { FidelityEntry } from '../../src/contract/negotiation.ts';
import type { RunResult } from '../../src/contract/runs/run-result.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import type { LocalRunOptions } from '../../src/runtime/runs/handle.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import { requestsOf } from '../support/agent-requests.ts';
import { type FakeOptions, fakeAdapter } from '../support/agents/test-adapter.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';
import { scene } from './harness.ts';

let server: TestGateway;

beforeAll(async () => {
  // Nobody listens there: a call that arrives is refused by the machine, not by us.
  server = await startGateway({
    engines: { gemini: { url: 'http://127.0.0.1:1', key: 'k' }, openai: { url: 'http://127.0.0.1:1', key: 'k' } },
  });
});

afterAll(async () => {
  await server.close();
});

const request = { model: 'claude-x', max_tokens: 4000, messages: [{ role: 'user', content: 'hi' }] };

interface Outcome {
  readonly result: RunResult;
  readonly statuses: string[];
  /** Receipts of its calls, and its own. */
  readonly calls: JsonObject[];
  readonly own: JsonObject;
}

async function called(body: object, options: Partial<LocalRunOptions>, fake: FakeOptions = {}): Promise<Outcome> {
  const { run } = scene();
  const statuses: string[] = [];
  const handle = run(
    fakeAdapter('model-caller', fake),
    { prompt: JSON.stringify(body), engine: 'sim', ...options },
    { gateway: async () => runPort(server.gateway) },
  );
  handle.on('debug', ({ message }) => {
    if (message.startsWith('status')) statuses.push(message.slice(7));
  });
  const result = await handle.result();
  await expect.poll(async () => (await receipts(handle.runId)).length).toBe(2);
  const [own, ...calls] = (await receipts(handle.runId)).toSorted((a, b) => String(b.plane).localeCompare(String(a.plane)));
  return { result, statuses, calls, own: own ?? {} };
}

function adapterOf(agent: string) {
  const adapter = adapters.find((one) => one.agent === agent);
  if (adapter === undefined) throw new Error(`there is no adapter ${agent}`);
  return adapter;
}

async function receipts(run: string): Promise<JsonObject[]> {
  const page = await listReceipts(server.gateway.store, { limit: 500 });
  return page.items
    .map(({ document }) => document)
    .filter((receipt) => receipt.completed_at !== null && (receipt.run_id === run || receipt.parent_run_id === run));
}

/** How many leaves had each fate, by the shape of their path. */
type Sum = Record<string, number>;

function counted(entries: readonly FidelityEntry[]): Sum {
  const sum: Sum = {};
  for (const { path, fate, count = 1 } of entries) {
    const name = fate === 'exact' ? 'exact' : `${fate} ${path.replaceAll(/\[\d+\]/g, '[*]')}`;
    sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

function sumOf(records: readonly unknown[]): Sum {
  return counted(records.flatMap((record) => z.array(FidelityEntry).parse(record)));
}

/** The same of the entries of a run that tell of its calls. */
function ofCalls(record: unknown, prefix: string): Sum {
  const entries = z.array(FidelityEntry).parse(record);
  return counted(
    entries.filter(({ path }) => path.startsWith(prefix)).map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) })),
  );
}

describe('a run through the gateway', () => {
  it('is billed what its calls used, and its receipt is their parent', async () => {
    const { result, statuses, calls, own } = await called(request, { tags: ['t'] });
    expect(statuses).toEqual(['200']);
    expect(result.exitReason).toBe('completed');
    expect(result.tokenUsage.total).toBeGreaterThan(0);
    expect(result.cost).toBeNull();
    expect(calls).toMatchObject([{ plane: 'gateway', mode: 'passthrough', engine: 'sim', parent_run_id: result.runId, tags: ['t'] }]);
    expect(own).toMatchObject({
      plane: 'run',
      status: 'completed',
      backend: { id: 'adapter:claude', version: '1.2.3' },
      engine: 'sim',
      usage: calls[0]?.usage,
      tags: ['t'],
      parent_run_id: null,
    });
  });

  it('opts in by itself to what its agent needs on an engine of another dialect, and says so', async () => {
    const body = { ...request, thinking: { type: 'enabled', budget_tokens: 1024 }, brand_new: { field: 1 } };
    const { statuses, calls } = await called(body, { engine: 'gemini', model: 'gemini-2.5-pro' });
    expect(statuses).toEqual(['503']);
    expect(calls).toMatchObject([
      {
        mode: 'mapped',
        model: { requested: 'claude-x', upstream: 'gemini-2.5-pro' },
        emulations: [{ capability: 'extended_thinking' }],
        error: { code: 'E007' },
      },
    ]);
    expect(calls[0]?.fidelity).toContainEqual(expect.objectContaining({ path: 'brand_new.field', fate: 'dropped', code: 'unknown_field' }));
  });

  it.each([
    {
      agent: 'claude',
      path: '/v1/messages',
      row: 'context_management',
      field: 'context_management.edits[0].keep',
      note: 'Context management has no form on Sim (context management: a hint for shortening long conversations; the whole conversation is sent)',
    },
    {
      agent: 'codex',
      path: '/v1/responses',
      row: 'client_metadata',
      field: 'client_metadata.session_id',
      note: 'Metadata has no form on Sim (metadata of the client: bookkeeping of the vendor)',
    },
    {
      agent: 'gemini',
      path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent',
      row: 'contents[*].parts[*].thoughtSignature',
      field: 'contents[1].parts[1].thoughtSignature',
      note: 'Opaque reasoning state has no form on Sim (signatures of thoughts: only the engine that signed it can read it)',
    },
  ])('of $agent carries its table of traffic, and each call tells by it what was lost', async ({ agent, path, row, field, note }) => {
    const { traffic } = adapterOf(agent);
    const [body] = requestsOf(agent, traffic.dialect);
    const engine = traffic.dialect === 'openai-responses' ? 'sim:claude' : 'sim:openai-responses';
    const { statuses, calls, own } = await called(body ?? {}, { engine }, { traffic, path });
    expect(statuses).toEqual(['200']);
    const answer = await fetch(`${server.url}/v1/receipts/${calls[0]?.run_id}/fidelity`, {
      headers: { 'x-abp-key': server.gateway.home.token },
    });
    const { mode, fidelity } = (await answer.json()) as { mode: string; fidelity: unknown[] };
    expect(mode).toBe('mapped');
    expect(fidelity).toContainEqual(expect.objectContaining({ path: field, fate: 'dropped', code: 'no_form', note }));
    expect(own.fidelity).toContainEqual(
      expect.objectContaining({ path: `calls[*].${field.replaceAll(/\[\d+\]/g, '[*]')}`, fate: 'dropped' }),
    );
    // The receipt of the run sums what happened to its calls, leaf by leaf, and tells nothing that did not happen.
    expect(ofCalls(own.fidelity, 'calls[*].')).toEqual(sumOf(calls.map((call) => call.fidelity)));
    expect(ofCalls(own.answer_fidelity, 'answers[*].')).toEqual(sumOf(calls.map((call) => call.answer_fidelity)));
    expect(new Set(own.emulations as object[])).toEqual(new Set(calls.flatMap((call) => call.emulations as object[]))); // a receipt has it
    expect(traffic.rows.map((one) => one.path)).toContain(row);
  });

  it('on its own engine loses nothing, and its receipt foresees no loss either', async () => {
    const { traffic } = adapterOf('claude');
    const [body] = requestsOf('claude', traffic.dialect);
    const { calls, own } = await called(body ?? {}, { engine: 'sim:claude' }, { traffic, path: '/v1/messages' });
    expect(calls[0]?.mode).toBe('passthrough');
    expect(own.fidelity).toEqual([]);
    const [call] = calls;
    expect(own).toMatchObject({ model: { upstream: isJsonObject(call?.model) ? call.model.upstream : '' } });
  });

  it('is served without what its agent sends by habit, unless the caller set it', async () => {
    const { traffic } = adapterOf('gemini');
    const [body] = requestsOf('gemini', 'gemini');
    const fake = { traffic, path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent' };
    const options = { engine: 'openai', model: 'gpt-5' };
    // Nobody listens there: what is refused before that was refused by us.
    expect((await called(body ?? {}, options, fake)).statuses).toEqual(['503']);
    const own = await called(body ?? {}, { ...options, topP: 0.95 }, fake);
    expect(own.statuses).toEqual(['400']);
    expect(own.calls).toMatchObject([{ error: { code: 'E001', message: 'Nucleus sampling is not supported by OpenAI backend' } }]);
  });

  it('does not opt in where the caller asked for strict', async () => {
    const body = { ...request, thinking: { type: 'enabled', budget_tokens: 1024 } };
    expect((await called(body, { engine: 'sim:gemini', compatibility: 'strict' })).statuses).toEqual(['501']);
  });

  it('has its thinking set on the wire, and the call is mapped then', async () => {
    const thinkingBudgetTokens = 2048;
    const { calls } = await called(request, { thinkingBudgetTokens });
    expect(calls).toMatchObject([{ mode: 'mapped', fidelity: [{ path: 'thinking', fate: 'emulated', code: 'set_by_run' }] }]);
    expect(calls[0]?.upstream_request).not.toEqual(calls[0]?.request);
    const across = await called(request, { engine: 'sim:gemini', thinkingBudgetTokens });
    expect(across.calls[0]?.fidelity).toContainEqual(
      expect.objectContaining({ path: '(thinkingConfig)', fate: 'emulated', code: 'set_by_run' }),
    );
  });

  it('holds a key that opens its own engine only, sees its own calls only, and dies with it', async () => {
    const port = runPort(server.gateway);
    const keys: string[] = [];
    const { run } = scene();
    const spying = {
      ...port,
      mintRunKey: async (wish: Parameters<typeof port.mintRunKey>[0]) => {
        const key = await port.mintRunKey(wish);
        keys.push(key);
        return key;
      },
    };
    const call = async (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${server.url}${path}`, { ...init, headers: { 'x-abp-key': keys[0] ?? '', 'content-type': 'application/json' } });
    const handle = run(fakeAdapter('slow'), { engine: 'sim' }, { gateway: async () => spying });
    await new Promise<void>((resolve) => {
      handle.once('text_delta', () => resolve());
    });
    const post = { method: 'POST', body: JSON.stringify(request) };
    expect((await call('/e/sim/v1/messages', post)).status).toBe(200);
    expect((await call('/v1/messages', post)).status).toBe(200);
    expect((await call('/e/claude/v1/messages', post)).status).toBe(403);
    expect((await call('/v1/runs', { ...post, body: JSON.stringify({ agent: 'claude', prompt: 'x' }) })).status).toBe(403);
    expect((await call('/v1/keys')).status).toBe(403);
    await expect
      .poll(async () => ((await (await call('/v1/receipts')).json()) as { items: { engine: string }[] }).items.map(({ engine }) => engine))
      .toEqual(['claude', 'sim', 'sim']);
    await handle.abort();
    expect((await call('/e/sim/v1/messages', post)).status).toBe(401);
  });
});

describe('an agent with a login of its own', () => {
  it('has it forwarded unchanged to its issuer, and our key goes nowhere', async () => {
    const upstream = await startUpstream();
    const issuer = await startGateway({ engines: { claude: { url: upstream.url } } });
    onTestFinished(async () => {
      await issuer.close();
      await upstream.close();
    });
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'mine' }],
      stop_reason: 'end_turn',
    };
    upstream.answer((socket) => {
      socket.write(whole(JSON.stringify({ ...message, usage: { input_tokens: 7, output_tokens: 2 } })));
    });
    const { run } = scene();
    const deps = { gateway: async () => runPort(issuer.gateway), env: { ...process.env, FAKE_API_KEY: 'sk-own', OTHER_KEY: 'hush' } };
    const result = await run(fakeAdapter('model-caller', { forwardsLogin: true }), { prompt: JSON.stringify(request) }, deps);
    expect(result).toMatchObject({ exitReason: 'completed', text: expect.stringContaining('mine'), tokenUsage: { input: 7, output: 2 } });
    const [sent] = upstream.requests;
    expect(sent?.line).toBe('POST /v1/messages HTTP/1.1');
    expect(sent?.headers).toContainEqual(['x-api-key', 'sk-own']);
    expect(JSON.stringify(sent?.headers)).not.toContain('abp_');
  });
});
