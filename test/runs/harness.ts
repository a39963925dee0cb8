import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { Adapter } from '../../src/adapters/adapter.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { AgentEvent } from '../../src/contract/runs/event.ts';
import type { RunDeps } from '../../src/runtime/runs/deps.ts';
import { passGates } from '../../src/runtime/runs/gated-run.ts';
import type { LocalRunOptions, RunHandle } from '../../src/runtime/runs/handle.ts';
import { Run } from '../../src/runtime/runs/run.ts';
import { knowledge, PaperGateway } from './paper.ts';

export interface Scene {
  readonly gateway: PaperGateway;
  readonly folder: string;
  readonly deps: RunDeps;
  run(adapter: Adapter, options?: Partial<LocalRunOptions>, deps?: Partial<RunDeps>): RunHandle;
}

/** A place to run fake agents in; it vanishes with the test. */
export function scene(): Scene {
  const parent = mkdtempSync(join(tmpdir(), 'abp-runs-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = mkdtempSync(join(parent, 'work-'));
  const gateway = new PaperGateway();
  const deps: RunDeps = {
    agents: knowledge,
    gateway: async () => gateway,
    homePath: join(parent, 'home'),
    env: process.env,
    clock: systemClock,
  };
  return {
    gateway,
    folder,
    deps,
    run(adapter, options = {}, more = {}) {
      const all = { ...deps, ...more };
      return new Run(passGates(adapter, { agent: 'claude', prompt: 'hi', cwd: folder, gracePeriodMs: 300, ...options }, all), all);
    },
  };
}

export async function eventsOf(run: RunHandle): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

export function types(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type);
}

/**
 * From here to the end of the test, the timers of this process wait for the function that is returned, which lets so many milliseconds pass:
 * what counts is what an agent does meanwhile, not how long a busy machine takes for it.
 */
export function timeInHand(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}
