import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentAsked } from '../../src/cli/runs/asked.ts';
import { runIn } from '../../src/cli/runs/source.ts';
import type { AgentCapabilities } from '../../src/contract/runs/coding-agent.ts';
import { createLocalRuns } from '../../src/node/run.ts';
import { type CodingAgents, createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

interface Counted {
  readonly agents: CodingAgents;
  readonly counts: { gates: number; spawns: number };
}

/** A fake agent that keys are minted for, and how often its gates and its plan are asked. */
function countedAgents(effective: () => object = () => ({}), profile: Partial<AgentCapabilities> = {}): Counted {
  const counts = { gates: 0, spawns: 0 };
  const onPlan = (): void => {
    counts.spawns += 1;
  };
  const fake = fakeAdapter('plain', { onPlan });
  const capabilities = { ...fake.capabilities, ...profile };
  const detect = { ...fake.detect, effective };
  const agents = createCodingAgents({ adapters: [{ id: 'claude', ...fake, capabilities, cliCommand: 'node', detect }] });
  const { check } = agents.knowledge;
  const counting: CodingAgents['knowledge']['check'] = (...asked) => {
    counts.gates += 1;
    check(...asked);
  };
  return { agents: { ...agents, knowledge: { ...agents.knowledge, check: counting } }, counts };
}

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-one-start-'));
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Streaming depends on the version of the agent, so that the gates have something to compare. */
const OPTIONS = { agent: 'claude', prompt: 'hi', engine: 'sim', stream: true } as const;

function serve({ agents }: Counted): void {
  server.gateway.runPlane.agents = Promise.resolve(agents);
  delete server.gateway.runPlane.service;
  onTestFinished(() => {
    delete server.gateway.runPlane.agents;
    delete server.gateway.runPlane.service;
  });
}

async function posted(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'x-abp-key': server.token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function overHttp(): Promise<string> {
  const { run_id: run } = await posted('/v1/runs', { ...OPTIONS, cwd: folder });
  const events = await fetch(`${server.url}/v1/runs/${run}/events`, { headers: { 'x-abp-key': server.token } });
  return await events.text();
}

async function onTheCommandLine(): Promise<string> {
  const run = await runIn(server.gateway, agentAsked({ ...OPTIONS, cwd: folder }));
  const lines: string[] = [];
  for await (const event of run.events) lines.push(JSON.stringify(event));
  return [...lines, JSON.stringify(await run.result())].join('\n');
}

async function inTheCallersProcess({ agents }: Counted): Promise<string> {
  const runs = createLocalRuns({ agents, homePath: server.home });
  const result = await runs.run({ ...OPTIONS, cwd: folder });
  await runs.close();
  return JSON.stringify(result);
}

describe.each([
  ['POST /v1/runs', overHttp],
  ['abp run', onTheCommandLine],
  ['createClient', inTheCallersProcess],
] as const)('%s', (_, start) => {
  it('asks the gates once and plans the process once', async () => {
    const counted = countedAgents();
    serve(counted);
    expect(await start(counted)).toContain('"exitReason":"completed"');
    expect(counted.counts).toEqual({ gates: 1, spawns: 1 });
  });

  it('knows before the gates what the installed version can do beyond its profile, the first time as the second', async () => {
    const counted = countedAgents(() => ({ supportsTextStreaming: true }), { supportsTextStreaming: false });
    serve(counted);
    for (const round of [1, 2]) {
      expect(await start(counted)).toContain('"exitReason":"completed"');
      expect(counted.counts).toEqual({ gates: round, spawns: round });
    }
  });
});

it('asks the gates again where the version that is there has other abilities than its profile, and refuses what it cannot do', async () => {
  const counted = countedAgents(() => ({ supportsTextStreaming: false }));
  serve(counted);
  expect(await posted('/v1/runs', { ...OPTIONS, cwd: folder })).toMatchObject({ error: { code: 'CAPABILITY_ERROR' } });
  expect(await posted('/v1/runs/check', { ...OPTIONS, cwd: folder })).toMatchObject({ ok: false, error: { code: 'CAPABILITY_ERROR' } });
  expect(counted.counts).toEqual({ gates: 2, spawns: 0 });
});

it('hands the events of a run to a reader in the same process without reading them back from the database', async () => {
  serve(countedAgents());
  const read = vi.spyOn(server.gateway.store.db, 'selectFrom');
  onTestFinished(() => read.mockRestore());
  expect(await onTheCommandLine()).toContain('"exitReason":"completed"');
  expect(read.mock.calls.map(([table]) => table)).not.toContain('run_events');
});
