import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import type { AgentEvent } from '../../src/contract/event.ts';
import type { RunOptions } from '../../src/contract/run-options.ts';
import type { RunResult } from '../../src/contract/run-result.ts';
import { runPort } from '../../src/gateway/run-port.ts';
import { type CodingAgents, createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import type { RunHandle } from '../../src/runtime/runs/handle.ts';
import { startRun } from '../../src/runtime/runs/start-run.ts';
import { listReceipts } from '../../src/store/receipts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { cacheFolder } from './install.ts';

/** What a run did, seen from both sides: by its events, and by the calls that reached the gateway. */
export interface Played {
  readonly result: RunResult;
  readonly events: readonly AgentEvent[];
  /** Receipts of its model calls, oldest first. */
  readonly calls: readonly JsonObject[];
}

/** A gateway on `sim` and an agent in a home of its own: no key, no network, nothing of the user's. */
export class Stage {
  readonly agent: string;
  readonly agents: CodingAgents;
  readonly #server: TestGateway;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #patienceMs: number;

  private constructor(agent: string, server: TestGateway, path: string, patienceMs: number) {
    this.agent = agent;
    this.#server = server;
    this.#patienceMs = patienceMs;
    // Gemini CLI takes no settings from below a folder that others may write to, as the temporary one is.
    this.#folder = mkdtempSync(join(cacheFolder(), `stage-${agent}-`));
    this.#env = { PATH: path, HOME: join(this.#folder, 'user'), TERM: 'dumb', LANG: 'C.UTF-8' };
    mkdirSync(this.#env.HOME ?? '');
    this.agents = createCodingAgents({ env: this.#env });
  }

  static async open(agent: string, path: string, patienceMs: number): Promise<Stage> {
    return new Stage(agent, await startGateway(), path, patienceMs);
  }

  /** A new empty folder to work in. */
  workspace(): string {
    return mkdtempSync(join(this.#folder, 'work-'));
  }

  start(options: Partial<RunOptions>): RunHandle {
    const wishes = { agent: this.agent, prompt: 'Say hello', engine: 'sim', cwd: this.workspace(), timeout: this.#patienceMs, ...options };
    return startRun(this.agents.adapters.get(this.agent), wishes, {
      agents: this.agents.knowledge,
      gateway: async () => runPort(this.#server.gateway),
      runsFolder: join(this.#folder, 'runs'),
      env: this.#env,
      clock: systemClock,
    });
  }

  async play(options: Partial<RunOptions>): Promise<Played> {
    return await this.finish(this.start(options));
  }

  async finish(handle: RunHandle): Promise<Played> {
    const events: AgentEvent[] = [];
    for await (const event of handle) events.push(event);
    const result = await handle.result();
    return { result, events, calls: await this.#calls(result.runId) };
  }

  /** The request of a call as the engine got it. */
  async sent(call: JsonObject | undefined): Promise<JsonObject> {
    const answer = await fetch(`${this.#server.url}/v1/receipts/${call?.run_id}/request?side=engine`, {
      headers: { 'x-abp-key': this.#server.token },
    });
    const body = (await answer.json()) as Json;
    return isJsonObject(body) ? body : {};
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #calls(run: string): Promise<JsonObject[]> {
    const page = await listReceipts(this.#server.gateway.store, { plane: 'gateway', limit: 500 });
    const mine = page.items.map(({ document }) => document).filter((receipt) => receipt.parent_run_id === run);
    return mine.toSorted((a, b) => String(a.started_at).localeCompare(String(b.started_at)));
  }
}
