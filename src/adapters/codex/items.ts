import type { Json, JsonObject } from '../../base/json.ts';
import type { EventDraft } from '../adapter.ts';
import type { RunAccount } from '../families/jsonl/account.ts';
import { countAt, listAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';
import type { CallEnd } from '../families/tools/calls.ts';
import { textOfContent } from '../families/tools/effects.ts';

type CallReading = (item: JsonObject) => { readonly name: string; readonly input: Json; readonly end: CallEnd };

/** Items that are tool calls, by their type. */
const CALLS: Readonly<Record<string, CallReading>> = {
  commandExecution: (item) => ({
    name: 'shell',
    input: { command: textAt(item.command) ?? '', cwd: textAt(item.cwd) ?? '' },
    end: {
      failed: item.status !== 'completed',
      text: textAt(item.aggregatedOutput) ?? '',
      exitCode: countAt(item.exitCode) ?? null,
      ...lasted(item),
    },
  }),
  fileChange: (item) => ({
    name: 'apply_patch',
    input: { changes: item.changes ?? [] },
    end: {
      failed: item.status !== 'completed',
      text: listAt(item.changes)
        .map((change) => textAt(objectAt(change).path) ?? '')
        .join('\n'),
    },
  }),
  mcpToolCall: (item) => ({
    name: `mcp__${textAt(item.server) ?? ''}__${textAt(item.tool) ?? ''}`,
    input: item.arguments ?? {},
    end: {
      failed: item.status !== 'completed',
      text: textAt(objectAt(item.error).message) ?? textOfContent(objectAt(item.result).content),
      ...lasted(item),
    },
  }),
  dynamicToolCall: (item) => ({
    name: textAt(item.tool) ?? '',
    input: item.arguments ?? {},
    end: { failed: item.status !== 'completed', text: textOfContent(item.contentItems), ...lasted(item) },
  }),
  webSearch: (item) => ({ name: 'web_search', input: { query: textAt(item.query) ?? '' }, end: { failed: false, text: '' } }),
  imageView: (item) => ({ name: 'view_image', input: { path: textAt(item.path) ?? '' }, end: { failed: false, text: '' } }),
  collabAgentToolCall: (item) => ({
    name: item.tool === 'spawnAgent' ? 'spawn_agent' : (textAt(item.tool) ?? ''),
    input: { prompt: textAt(item.prompt) ?? '' },
    end: {
      failed: item.status === 'failed',
      text: listAt(item.receiverThreadIds)
        .map((id) => textAt(id) ?? '')
        .join(', '),
    },
  }),
};

function lasted(item: JsonObject): { readonly durationMs?: number } {
  const durationMs = numberAt(item.durationMs);
  return durationMs === undefined ? {} : { durationMs };
}

function readingOf(item: JsonObject): ReturnType<CallReading> | undefined {
  const type = textAt(item.type) ?? '';
  return Object.hasOwn(CALLS, type) ? CALLS[type]?.(item) : undefined;
}

/** The beginning of an item. `free`: its call runs at once, because nobody is asked first. */
export function itemStarts(run: RunAccount, item: JsonObject, free: boolean): readonly EventDraft[] {
  const call = readingOf(item);
  const id = textAt(item.id) ?? '';
  if (call === undefined) return [];
  const made = free ? run.calls.run(id, call.name, call.input) : run.calls.ready(id, call.name, call.input);
  return [...run.spoken.end(), ...made];
}

/** The end of an item that is a call. */
export function callEnds(run: RunAccount, item: JsonObject): readonly EventDraft[] {
  const call = readingOf(item);
  const id = textAt(item.id) ?? '';
  if (call === undefined) return [];
  const made = run.calls.ready(id, call.name, call.input);
  if (item.status === 'declined') return [...made, ...run.calls.refused(id, call.name, 'The call was not allowed.')];
  const changes = call.end.failed ? [] : listAt(item.changes).map((change) => changed(objectAt(change)));
  return [...made, ...changes, ...run.calls.end(id, call.name, call.end)];
}

function changed(change: JsonObject): EventDraft {
  const path = textAt(change.path) ?? '';
  const diff = textAt(change.diff) ?? '';
  const kind = textAt(objectAt(change.kind).type) ?? textAt(change.kind);
  if (kind === 'delete') return { type: 'file_delete', path };
  return kind === 'add' ? { type: 'file_create', path, byteCount: Buffer.byteLength(diff) } : { type: 'file_patch', path, diff };
}
