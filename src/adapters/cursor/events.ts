import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Dialogue, EventDraft, SpawnPlan } from '../adapter.ts';
import { acpDialogue, acpMcpServers } from '../families/acp/dialogue.ts';
import type { AcpKind } from '../families/acp/kind.ts';
import { RunAccount } from '../families/jsonl/account.ts';
import { embeddedError } from '../families/jsonl/embedded-error.ts';
import { type LineHandlers, nothing, readLine } from '../families/jsonl/reader.ts';
import { textAt } from '../families/lines/fields.ts';
import { answerExtension } from './extensions.ts';
import { CursorReader } from './reader.ts';
import { promptOf, READ_ONLY, readsOnly, speaksAcp } from './spawn.ts';
import { VOICE } from './voice.ts';

/** Listens to Cursor's lines; where somebody answers, the run is held over ACP. */
export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  if (speaksAcp(plan)) return overAcp(plan, clock);
  const run = new RunAccount(plan, VOICE, clock);
  const reader = new CursorReader(run, plan.options.approvalMode === 'yolo');
  return {
    begin: () => [],
    line: (line) => readLine(reader, HANDLERS, line, typeOf),
    say: () => undefined,
    end: (exit) => run.close(exit),
  };
}

/** The agent is not asked to log in: it would open a browser, and its key or its earlier login are enough. */
const KIND: AcpKind = {
  voice: VOICE,
  mcpServers: acpMcpServers,
  prompt: promptOf,
  configure: (plan, sessionId) => (readsOnly(plan) ? [{ method: 'session/set_mode', params: { sessionId, modeId: READ_ONLY } }] : []),
};

function overAcp(plan: SpawnPlan, clock: Clock): Dialogue {
  const talk = acpDialogue(KIND, plan, clock);
  return { ...talk, line: (line) => answerExtension(line) ?? talk.line(line) };
}

function typeOf({ type, subtype }: JsonObject): string | undefined {
  return type === 'tool_call' || type === 'thinking' || type === 'system' ? `${type}:${textAt(subtype)}` : textAt(type);
}

const HANDLERS: LineHandlers<CursorReader> = {
  'system:init': ({ run }, line) => run.begun(textAt(line.session_id)),
  user: nothing,
  'thinking:delta': (reader, line) => reader.thinks(line),
  'thinking:completed': ({ run }) => run.spoken.endThinking(),
  assistant: (reader, line) => reader.says(line),
  'tool_call:started': (reader, line) => reader.calls(line),
  'tool_call:completed': (reader, line) => reader.returns(line),
  result: (reader, line) => result(reader, line),
};

/** The text of a failure is no part of the answer. */
function result(reader: CursorReader, line: JsonObject): readonly EventDraft[] {
  reader.run.answered = true;
  if (line.is_error !== true && line.subtype === 'success') return reader.ends(line);
  const { result: text, ...rest } = line;
  reader.run.fail(embeddedError(textAt(line.error) ?? textAt(text) ?? `the agent ended with ${textAt(line.subtype) ?? 'an error'}`));
  return reader.ends(rest);
}
