import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import type { AgentEvent } from '../../src/contract/runs/event.ts';
import type { RunResult } from '../../src/contract/runs/run-result.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { type CodingAgents, createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import type { LocalRunOptions, RunHandle } from '../../src/runtime/runs/handle.ts';
import { RunStarter } from '../../src/runtime/runs/run-starter.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import type { Store } from '../../src/store/store.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { type AbpResult, runAbp, spawnAbp } from '../support/run-abp.ts';
import { cacheFolder } from './install.ts';
import { Terminal } from './terminal.ts';

const ABP = join(import.meta.dirname, '../../bin/abp.js');

/** What a run did, seen from both sides: by its events, and by the calls that reached the gateway. */
export interface Played {
  readonly result: RunResult;
  readonly events: readonly AgentEvent[];
  /** Receipts of its model calls, oldest first. */
  readonly calls: readonly JsonObject[];
}

/** Options of a run; those that are left out have a value here. */
type Wishes = Omit<Partial<LocalRunOptions>, 'engine'> & { readonly engine?: string | undefined };

/** A gateway on `sim` and an agent in a home of its own: no key, no network, nothing of the user's. */
export class Stage {
  readonly agent: string;
  readonly agents: CodingAgents;
  /** The home of the user. */
  readonly home: string;
  /** How long the agent may take for an answer. */
  readonly patienceMs: number;
  readonly #server: TestGateway;
  readonly #folder: string;
  /** Variables of the user. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(agent: string, server: TestGateway, where: { folder: string; path: string; patienceMs: number }) {
    this.agent = agent;
    this.#server = server;
    this.patienceMs = where.patienceMs;
    this.#folder = where.folder;
    this.home = join(where.folder, 'user');
    this.env = { PATH: where.path, HOME: this.home, TERM: 'dumb', LANG: 'C.UTF-8' };
    mkdirSync(this.home);
    this.agents = createCodingAgents({ env: this.env });
  }

  static async open(agent: string, path: string, patienceMs: number, engines: GatewayOptions['engines'] = {}): Promise<Stage> {
    // Gemini CLI takes no settings from below a folder that others may write to, as the temporary one is.
    const folder = mkdtempSync(join(cacheFolder(), `stage-${agent}-`));
    return new Stage(agent, await startGateway({ home: join(folder, 'abp'), engines }), { folder, path, patienceMs });
  }

  get url(): string {
    return this.#server.url;
  }

  get store(): Store {
    return this.#server.gateway.store;
  }

  /** The home of the gateway. */
  get abpHome(): string {
    return this.#server.home;
  }

  /** A new empty folder to work in. */
  workspace(): string {
    return mkdtempSync(join(this.#folder, 'work-'));
  }

  /** Runs on `sim` unless told; an engine that is undefined is one that the caller does not name. */
  start(asked: Wishes): RunHandle {
    const { engine, ...options } = { engine: 'sim', ...asked };
    const own = { agent: this.agent, prompt: 'Say hello', cwd: this.workspace(), timeout: this.patienceMs };
    const wishes = { ...own, ...options, ...(engine !== undefined && { engine }) };
    const starter = new RunStarter({ agents: this.agents, homePath: this.#folder, env: this.env });
    return starter.start(starter.check(wishes), { gateway: async () => runPort(this.#server.gateway) });
  }

  async play(options: Wishes): Promise<Played> {
    return await this.finish(this.start(options));
  }

  async finish(handle: RunHandle): Promise<Played> {
    const events: AgentEvent[] = [];
    for await (const event of handle) events.push(event);
    const result = await handle.result();
    return { result, events, calls: await this.calls(result.runId) };
  }

  /** `abp` in a terminal, as a client of the gateway. */
  async terminal(args: readonly string[], cwd: string): Promise<Terminal> {
    const env = { ...this.env, ABP_HOME: this.abpHome, TERM: 'xterm-256color', SHELL: '/bin/sh' };
    return await Terminal.open([process.execPath, ABP, ...args], { cwd, env });
  }

  /** Runs `abp` to its end, as the user, with these variables. */
  async abp(args: readonly string[], env: Readonly<Record<string, string>>): Promise<AbpResult> {
    return await runAbp(args, { env: { ...this.env, ...env } });
  }

  /** Starts `abp` as the user, with these variables. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcessWithoutNullStreams {
    return spawnAbp(args, { ...this.env, ...env });
  }

  /** What the gateway answers to a key. */
  async statusOf(key: string): Promise<number> {
    return (await fetch(`${this.#server.url}/v1/models`, { headers: { 'x-abp-key': key } })).status;
  }

  async receipt(run: string): Promise<JsonObject> {
    return await this.#get(`/v1/receipts/${run}?wait=10`);
  }

  /** The request of a call as the engine got it. */
  async sent(call: JsonObject | undefined): Promise<JsonObject> {
    return await this.#get(`/v1/receipts/${call?.run_id}/request?side=engine`);
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Receipts of the calls under a run, oldest first. */
  async calls(run: string): Promise<JsonObject[]> {
    const page = await listReceipts(this.store, { plane: 'gateway', limit: 500 });
    const mine = page.items.map(({ document }) => document).filter((receipt) => receipt.parent_run_id === run);
    return mine.toSorted((a, b) => String(a.started_at).localeCompare(String(b.started_at)));
  }
  /** Until a model call of the run is answered in pieces. */
  async underWay(run: string): Promise<void> {
    for (let tries = 0; tries < this.patienceMs / 200; tries += 1) {
      await sleep(200);
      const { items } = await this.#get('/v1/runs?status=running&limit=100');
      const calls = (Array.isArray(items) ? items : []).filter(isJsonObject).filter(({ parent_run_id }) => parent_run_id === run);
      if (calls.length === 0) continue;
      // A first word, and the agent's own time to read it.
      await sleep(3500);
      return;
    }
    throw new Error('no model call has begun');
  }

  /** The same for a run whose end nobody waited for: what it called becomes receipts a moment later. */
  async settledCalls(run: string): Promise<JsonObject[]> {
    for (let tries = 0; tries < 50; tries += 1) {
      const calls = await this.calls(run);
      if (calls.length > 0) return calls;
      await sleep(100);
    }
    return [];
  }

  async #get(path: string): Promise<JsonObject> {
    const answer = await fetch(`${this.#server.url}${path}`, { headers: { 'x-abp-key': this.#server.token } });
    const body = (await answer.json()) as Json; // what `json` parses is JSON
    return isJsonObject(body) ? body : {};
  }
}
