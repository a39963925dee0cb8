import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Dialogue, EventDraft, SpawnPlan } from '../adapter.ts';
import { acpDialogue } from '../families/acp/dialogue.ts';
import { type AcpKind, toolNameInTitle } from '../families/acp/kind.ts';
import { RunAccount, type Voice } from '../families/jsonl/account.ts';
import { type LineHandlers, readLine } from '../families/jsonl/reader.ts';
import { countAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';
import type { McpName } from '../families/tools/effects.ts';
import { speaksAcp } from './spawn.ts';

const GUIDANCE = 'Run `opencode auth login`, or set the API key variable of the provider.';
const PATHS = ['filePath', 'path', 'file_path'];

function voiceOf(plan: SpawnPlan): Voice {
  return {
    guidance: GUIDANCE,
    tools: {
      mcp: mcpNames(plan),
      effects: {
        read: { does: 'read', path: PATHS },
        write: { does: 'write', path: PATHS, content: ['content'] },
        edit: { does: 'patch', path: PATHS },
        multiedit: { does: 'patch', path: PATHS },
        patch: { does: 'patch', path: PATHS },
        bash: { does: 'shell', command: ['command'] },
        task: { does: 'subagent', prompt: ['prompt'] },
      },
    },
  };
}

/** Tools of MCP servers are offered as `server_tool`, so the servers of the run tell which part is which. */
function mcpNames({ options }: SpawnPlan): McpName {
  const servers = (options.mcpServers ?? []).map(({ name }) => name);
  return (toolName) => {
    const server = servers.find((name) => toolName.startsWith(`${name}_`));
    return server === undefined ? undefined : { server, toolName: toolName.slice(server.length + 1) };
  };
}

/** One run of `opencode run`, which prints each part when it is whole. */
interface PartsRun {
  readonly account: RunAccount;
  toldWhole: boolean;
  /** A tool was refused, which makes the agent stop there. */
  refused: boolean;
}

const LINES: LineHandlers<PartsRun> = {
  step_start: (run, line) => [...begun(run, line), ...run.account.turnStarts()],
  text: (run, line) => [...begun(run, line), ...run.account.inTurn(), ...said(run, textAt(objectAt(line.part).text))],
  reasoning: (run, line) => [...begun(run, line), ...run.account.inTurn(), ...thought(run, textAt(objectAt(line.part).text))],
  tool_use: (run, line) => [...begun(run, line), ...run.account.inTurn(), ...used(run, objectAt(line.part))],
  step_finish: (run, line) => [...begun(run, line), ...finished(run, objectAt(line.part))],
  error: (run, line) => [...begun(run, line), ...failed(run, objectAt(line.error))],
};

const WHOLE = 'the agent prints parts when they are whole; stream: true makes it stream';

function begun(run: PartsRun, line: JsonObject): readonly EventDraft[] {
  const start = run.account.begun(textAt(line.sessionID));
  if (run.toldWhole) return start;
  run.toldWhole = true;
  const fallbacks = (['text', 'thinking', 'tool_calls'] as const).map(
    (capability): EventDraft => ({ type: 'stream_fallback', capability, reason: WHOLE }),
  );
  return [...start, ...fallbacks];
}

function said({ account: { spoken } }: PartsRun, text = ''): readonly EventDraft[] {
  return [...spoken.text(text), ...spoken.endText()];
}

function thought({ account: { spoken } }: PartsRun, text = ''): readonly EventDraft[] {
  return [...spoken.thinking(text), ...spoken.endThinking()];
}

/** A tool is told once, when it is over. */
function used(run: PartsRun, part: JsonObject): readonly EventDraft[] {
  const { account } = run;
  const toolCallId = textAt(part.callID) ?? textAt(part.id) ?? '';
  const toolName = textAt(part.tool) ?? '';
  const state = objectAt(part.state);
  const metadata = objectAt(state.metadata);
  const time = objectAt(state.time);
  const failedCall = state.status === 'error';
  const exitCode = numberAt(metadata.exit);
  const diff = textAt(metadata.diff);
  return [
    ...account.calls.run(toolCallId, toolName, state.input ?? {}),
    ...account.calls.end(toolCallId, toolName, {
      failed: failedCall,
      text: (failedCall ? textAt(state.error) : textAt(state.output)) ?? '',
      durationMs: Math.max(0, (numberAt(time.end) ?? 0) - (numberAt(time.start) ?? 0)),
      created: metadata.exists === false,
      ...(exitCode !== undefined && { exitCode }),
      ...(diff !== undefined && { diff }),
    }),
    ...refusal(run, toolCallId, failedCall ? textAt(state.error) : undefined),
  ];
}

/** `ask` has nobody to ask in `opencode run`, and a rule that denies refuses by itself: both fail the tool in these words. */
function refusal(run: PartsRun, interactionId: string, error: string | undefined): readonly EventDraft[] {
  run.refused = error !== undefined && /rejected permission|prevents you from using/i.test(error);
  return run.refused ? [{ type: 'approval_denied', interactionId, reason: error ?? '' }] : [];
}

/** The last step of an answer has a reason other than tool calls; the process ends by itself after it. */
function finished({ account, refused }: PartsRun, part: JsonObject): readonly EventDraft[] {
  const tokens = objectAt(part.tokens);
  const cache = objectAt(tokens.cache);
  const usd = numberAt(part.cost);
  account.answered = part.reason !== 'tool-calls' || refused;
  const usage = account.spending.add({
    inputTokens: countAt(tokens.input) ?? 0,
    outputTokens: countAt(tokens.output) ?? 0,
    thinkingTokens: countAt(tokens.reasoning) ?? 0,
    cacheReadTokens: countAt(cache.read) ?? 0,
    cacheWriteTokens: countAt(cache.write) ?? 0,
    ...(usd !== undefined && { usd }),
  });
  return [...usage, ...account.turnEnds()];
}

function failed({ account }: PartsRun, error: JsonObject): readonly EventDraft[] {
  const data = objectAt(error.data);
  const status = countAt(data.statusCode);
  const message = textAt(data.message) ?? textAt(error.name) ?? 'the agent failed';
  account.fail(status === undefined ? { message } : { message, status });
  return [];
}

export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const voice = voiceOf(plan);
  if (speaksAcp(plan)) {
    const kind: AcpKind = { voice: { guidance: GUIDANCE, tools: { mcp: voice.tools.mcp } }, toolName: toolNameInTitle };
    return acpDialogue(kind, plan, clock);
  }
  const run: PartsRun = { account: new RunAccount(plan, voice, clock), toldWhole: false, refused: false };
  return {
    begin: () => [],
    line: (line) => readLine(run, LINES, line),
    say: () => undefined,
    end: (exit) => run.account.close(exit),
  };
}
