import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemClock } from '../../src/base/clock.ts';
import { Admission, EngineDoor } from '../../src/calls/admission.ts';
import { Balancer } from '../../src/calls/balancing/balancer.ts';
import { Batch } from '../../src/calls/batch.ts';
import { BodyBudget } from '../../src/calls/bounds/body-budget.ts';
import type { Deployment } from '../../src/calls/deployment.ts';
import { LiveRuns } from '../../src/calls/live-runs.ts';
import { sim } from '../../src/engines/sim/engine.ts';
import { transport } from '../../src/engines/sim/transport.ts';
import { type Home, openHome } from '../../src/home/home.ts';
import { SessionService } from '../../src/platform/session-service.ts';
import { listMessages, sendMessage } from '../../src/platform/sessions/messages.ts';
import type { Tool } from '../../src/platform/tools/tool.ts';
import type { AgentSource } from '../../src/platform/turns/turn-agent.ts';
import type { Fact } from '../../src/receipts/journal/facts.ts';
import { type Keeper, startKeeper } from '../../src/receipts/keeper/keeper.ts';
import { createAgent } from '../../src/store/agent-plane/agents.ts';
import { listEvents, type StoredEvent } from '../../src/store/agent-plane/session-events.ts';
import { createSession, getSession, type StoredSession } from '../../src/store/agent-plane/sessions.ts';
import { openStore } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { readyHome } from './ready-home.ts';

export interface TestPlatformOptions {
  readonly databaseUrl?: string | undefined;
  readonly home?: string;
  readonly tools?: readonly Tool[];
  /** Instead of the agent that has the tools. */
  readonly agents?: AgentSource;
  readonly slots?: number;
  readonly graceMs?: number;
  readonly sweepMs?: number;
  readonly silentMs?: number;
  /** Whether facts go to a journal and become receipts; otherwise they are only gathered. */
  readonly receipts?: boolean;
}

interface Where {
  readonly home: string;
  readonly databaseUrl: string | undefined;
  readonly keeper: Keeper | undefined;
  readonly remove: () => void;
}

/** The agent plane on a real database, with an agent that has the given tools and the sim engine. */
export class TestPlatform {
  readonly service: SessionService;
  readonly store: Store;
  readonly facts: Fact[];
  readonly home: string;
  readonly databaseUrl: string | undefined;
  /** Of a platform with receipts. */
  readonly keeper: Keeper | undefined;
  readonly #remove: () => void;

  private constructor(service: SessionService, facts: Fact[], where: Where) {
    this.service = service;
    this.keeper = where.keeper;
    this.store = service.parts.store;
    this.facts = facts;
    this.home = where.home;
    this.databaseUrl = where.databaseUrl;
    this.#remove = where.remove;
  }

  static async open(options: TestPlatformOptions = {}): Promise<TestPlatform> {
    const parent = options.home === undefined ? mkdtempSync(join(tmpdir(), 'abp-platform-')) : undefined;
    const home = parent === undefined ? openHome({ path: options.home }) : readyHome(join(parent, 'home'));
    const store = await openStore({ home, url: options.databaseUrl });
    const facts: Fact[] = [];
    const { tools = [] } = options;
    const keeper = options.receipts === true ? keeperOf(home, options.databaseUrl) : undefined;
    await keeper?.ready;
    const service = new SessionService({
      store,
      calls: {
        sink: keeper ?? { append: (fact) => void facts.push(fact) },
        batch: new Batch(keeper ?? { gather: () => undefined, flush: () => undefined }),
        deployments: new Map([['sim', new Balancer([deployment()], systemClock)]]),
        live: new LiveRuns(),
        admission: new Admission(),
        budget: new BodyBudget(64 * 1024 * 1024),
        version: '0',
      },
      // Keys are the gateway's; here nobody has one.
      mayGoOn: async () => true,
      routes: () => [],
      agents:
        options.agents ??
        (async ({ agentId }) => ({
          id: agentId,
          name: 'test',
          model: null,
          systemPrompt: '',
          tools,
          maxIterations: null,
          maxCostNanoUsd: null,
        })),
      homePath: home.path,
      worker: { slots: options.slots ?? 8, graceMs: options.graceMs ?? 5000, sweepMs: options.sweepMs, silentMs: options.silentMs },
      log: pino({ level: process.env.ABP_LOG ?? 'silent' }),
    });
    await service.start(options.databaseUrl);
    const remove = (): void => {
      if (parent !== undefined) rmSync(parent, { recursive: true, force: true });
    };
    return new TestPlatform(service, facts, { home: home.path, databaseUrl: options.databaseUrl, keeper, remove });
  }

  async session({ keyId = null }: { readonly keyId?: string | null } = {}): Promise<StoredSession> {
    const agent = await createAgent(this.store, { keyId, name: 'test', document: {}, createdAt: Date.now() });
    return await createSession(this.store, { agentId: agent.id, keyId, document: {}, createdAt: Date.now() });
  }

  async send(session: StoredSession, text: string): Promise<void> {
    await sendMessage(this.service.parts, this.service.worker, {
      sessionId: session.id,
      visible: { all: true },
      parts: [{ kind: 'text', text }],
      grant: { host: false, recording: 'off' },
    });
  }

  async current(session: StoredSession): Promise<StoredSession> {
    const found = await getSession(this.store, session.id);
    if (found === undefined) throw new Error('the session is gone');
    return found;
  }

  /** The session once it has one of the states. */
  async until(session: StoredSession, status: readonly StoredSession['status'][] = ['idle'], ms = 15_000): Promise<StoredSession> {
    const deadline = performance.now() + ms;
    for (;;) {
      const found = await this.current(session);
      if (status.includes(found.status)) return found;
      if (performance.now() > deadline) throw new Error(`the session is still ${found.status}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Every run that began has ended, by its facts: a turn says so after the commit that a reader of the session sees. */
  async closed(ms = 15_000): Promise<void> {
    const deadline = performance.now() + ms;
    const runs = (kind: Fact['fact']): Set<string> => new Set(this.facts.flatMap(({ fact, run }) => (fact === kind ? [run] : [])));
    while (runs('close').size < runs('open').size) {
      if (performance.now() > deadline) throw new Error('a run has begun and not ended');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async events(session: StoredSession): Promise<StoredEvent[]> {
    return await listEvents(this.store, { sessionId: session.id, after: 0 });
  }

  async types(session: StoredSession): Promise<string[]> {
    return (await this.events(session)).map(({ type }) => type);
  }

  /** What was said: texts of users and agents, results of tools. */
  async said(session: StoredSession): Promise<unknown[]> {
    const messages = await listMessages(this.service.parts, session.id, { after: 0, limit: 1000 });
    return messages.map(({ role, content }) => {
      const [part] = content as { text?: string; name?: string; result?: unknown; error?: string }[];
      return [role, part?.text ?? part?.name ?? part?.result ?? part?.error];
    });
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.keeper?.close();
    await this.store.close();
    this.#remove();
  }
}

function keeperOf(home: Home, databaseUrl: string | undefined): Keeper {
  return startKeeper({
    homePath: home.path,
    journalFolder: home.journalFolder,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    version: '0',
    onStalled: () => undefined,
    onSettled: () => undefined,
  });
}

function deployment(): Deployment {
  return { engine: sim, origin: '', basePath: '', auth: 'none', door: new EngineDoor({ transport }), silenceMs: 60_000 };
}

/** A tool for tests; unless told, it answers with its input. */
export function testTool(name: string, changes: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object' },
    policy: 'auto',
    effect: 'idempotent',
    execute: async (input) => ({ output: input }),
    ...changes,
  };
}
