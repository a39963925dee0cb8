import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fate } from '../../contract/negotiation.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { RunRow } from '../api/run-rows.ts';

const FATES = Fate.options;

const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
const number = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null);
const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The line of a run, read from its receipt. Of a receipt whose content was removed the line keeps what its row knows. */
export function rowOf(receipt: StoredReceipt): RunRow {
  const { document } = receipt;
  const { model, backend, timing, cost, error, task } = document;
  const failure = part(error);
  return {
    run_id: receipt.runId,
    parent_run_id: text(document.parent_run_id),
    plane: receipt.plane,
    status: receipt.status,
    reason: text(document.reason),
    task: text(task) ?? '',
    backend: text(part(backend).id) ?? '',
    engine: receipt.engine,
    model: text(part(model).requested) ?? receipt.model,
    started_at: isoTime(receipt.startedAt),
    completed_at: receipt.completedAt === null ? null : isoTime(receipt.completedAt),
    key_id: receipt.keyId,
    tags: [...receipt.tags],
    dialect: receipt.dialect,
    mode: receipt.mode,
    agent: agentOf(receipt, text(part(backend).id)),
    upstream_model: text(part(model).upstream),
    key_name: null,
    tokens: tokensOf(document.usage),
    cost_nano_usd: number(part(cost).nano_usd),
    first_byte_ms: number(part(timing).first_byte_ms),
    total_ms: number(part(timing).last_byte_ms) ?? durationOf(receipt),
    fates: fatesOf(document.fidelity),
    error: isJsonObject(error) ? { code: text(failure.code) ?? '', message: text(failure.message) ?? '' } : null,
    children: null,
    waiting: false,
    sequence: receipt.sequence,
  } as RunRow; // plane, status and mode are columns of text whose values the receipt's own schema holds
}

function durationOf({ startedAt, completedAt }: StoredReceipt): number | null {
  return completedAt === null ? null : completedAt - startedAt;
}

/** A call that a turn made was answered by an engine, which is nobody's agent. */
function agentOf({ plane }: StoredReceipt, backend: string | null): string | null {
  return plane === 'gateway' || backend === null || backend.startsWith('engine:') ? null : backend.slice(backend.indexOf(':') + 1);
}

function tokensOf(value: Json | undefined): RunRow['tokens'] {
  if (!isJsonObject(value)) return null;
  return {
    in: number(value.input_tokens) ?? 0,
    out: number(value.output_tokens) ?? 0,
    cache_read: number(value.cache_read_tokens) ?? 0,
    thinking: number(value.thinking_tokens) ?? 0,
  };
}

/** Leaves by their fate; one line of a fidelity record may stand for many. */
function fatesOf(value: Json | undefined): RunRow['fates'] {
  const fates: RunRow['fates'] = [0, 0, 0, 0, 0];
  for (const entry of Array.isArray(value) ? value : []) {
    const { fate, count } = part(entry);
    const at = FATES.indexOf(fate as Fate);
    if (at >= 0) fates[at] = (fates[at] ?? 0) + (number(count) ?? 1);
  }
  return fates;
}
