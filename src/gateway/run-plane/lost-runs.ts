import { sha256 } from '../../base/canonical-json.ts';
import type { Json } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import { backendOf } from '../../contract/runs/coding-agent.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import { getRun, type StoredRun } from '../../store/runs/runs.ts';
import type { Gateway } from '../gateway.ts';
import { runPort } from './run-port.ts';

/**
 * Receipts of runs that were accepted and whose process ended before it could journal their beginning: while a workspace was staged, or
 * an agent looked for. Their rows are all that is known of them. Called after the keeper has closed what it knows.
 */
export async function keepLostRuns(gateway: Gateway, runs: readonly RunId[]): Promise<void> {
  for (const id of runs) {
    const run = (await getReceipt(gateway.store, id)) === undefined ? await getRun(gateway.store, id) : undefined;
    if (run !== undefined) await keep(gateway, run);
  }
}

async function keep(gateway: Gateway, { runId: run, agent, keyId, options, createdAt }: StoredRun): Promise<void> {
  const port = runPort(gateway, { keyId, parent: null, tags: [] });
  const prompt = Array.isArray(options.prompt) ? options.prompt.join('\n') : String(options.prompt ?? '');
  await port.opened({
    run,
    at: createdAt,
    task: `run ${agent}`,
    dialect: null,
    engine: textOf(options.engine),
    backend: backendOf(agent),
    requestedModel: textOf(options.model),
    upstreamModel: null,
    compatibility: options.compatibility === 'strict' ? 'strict' : 'best_effort',
    fidelity: [],
    request: { sha256: sha256(prompt), bytes: Buffer.byteLength(prompt) },
    enforcement: options.enforcement === 'advisory' ? 'advisory' : 'enforced',
    tags: Array.isArray(options.tags) ? options.tags.map(String) : [],
  });
  const now = Date.now();
  await port.closed({
    run,
    at: now,
    status: 'failed',
    reason: 'interrupted',
    error: { code: 'internal', message: 'the process of the run ended before its agent was started' },
    upstreamModel: null,
    eventCount: 0,
    usage: null,
    toolCalls: [],
    cost: null,
    lastByteMs: Math.max(0, now - createdAt),
    workspaceDelta: null,
    backendVersion: null,
  });
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
