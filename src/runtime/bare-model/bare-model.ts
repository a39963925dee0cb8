import { globMatch } from '../../base/glob.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { CapabilityManifest } from '../../contract/support.ts';
import type { Result, Sidecar, SidecarRun, WorkOrder } from '../../sidecar/sidecar.ts';
import { WHOLE_EVENT } from '../sidecars/translate.ts';
import { vendorOf } from '../work-orders/vendor.ts';
import { type Answer, ask, type GatewayAccess, stream, type ToolUse } from './model.ts';
import { promptOf } from './prompt.ts';
import { BARE_TOOLS, type BareTool, type ToolOutcome } from './tools.ts';

/** Capabilities that our tool loop adds to an engine: we run the tools, and hooks have a say before and after each. */
export const LOOP_CAPABILITIES: CapabilityManifest = {
  tool_read: 'emulated',
  tool_write: 'emulated',
  tool_edit: 'emulated',
  tool_bash: 'emulated',
  tool_glob: 'emulated',
  tool_grep: 'emulated',
  hooks_pre_tool_use: 'emulated',
  hooks_post_tool_use: 'emulated',
};

const SYSTEM =
  'You are working in a folder of a software project. Use the tools to do what is asked, then say in a few words what you did. Paths are relative to the folder.';
/** Turns where the order sets no limit. */
const MOST_TURNS = 100;
const MAX_TOKENS = 8192;

interface BareModel {
  readonly id: string;
  readonly capabilities: CapabilityManifest;
  readonly gateway: GatewayAccess;
}

type Spent = Answer['usage'];

/** A bare model with our tool loop, as a sidecar. */
export function bareModel({ id, capabilities, gateway }: BareModel): Sidecar {
  return {
    id,
    capabilities,
    extensions: ['tool_approval'],
    run: (order, run) => (vendorOf(order).mode === 'passthrough' ? passed(gateway, order, run) : worked(gateway, order, run)),
  };
}

/** The request of the caller as it is, and every event of the engine as it came. */
async function passed(gateway: GatewayAccess, order: WorkOrder, run: SidecarRun): Promise<Result> {
  const { request, dialect = 'claude' } = vendorOf(order);
  if (!isJsonObject(request)) throw new Error('config.vendor.abp.request must hold the request of the vendor');
  const path = PASSED_PATHS[dialect];
  if (path === undefined) throw new Error(`a request of the dialect ${dialect} cannot be passed on`);
  for await (const data of stream(gateway, { path, body: request, signal: run.signal })) {
    run.send({ type: 'run_started', message: 'raw' }, { raw_message: data, dialect });
  }
  return {};
}

/** Where a request of each dialect is sent that passes as it is. */
export const PASSED_PATHS: Readonly<Record<string, string>> = {
  claude: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  openai: '/v1/chat/completions',
  codex: '/v1/responses',
  'openai-responses': '/v1/responses',
  kimi: '/kimi/v1/chat/completions',
};

async function worked(gateway: GatewayAccess, order: WorkOrder, run: SidecarRun): Promise<Result> {
  const tools = BARE_TOOLS.filter(({ name }) => isOffered(name, order));
  const messages: JsonObject[] = [{ role: 'user', content: promptOf(order) }];
  const { system = SYSTEM, maxTokens = MAX_TOKENS, temperature } = vendorOf(order);
  const limit = order.config.max_turns ?? MOST_TURNS;
  let spent: Spent = { input: 0, output: 0, cached: 0 };
  const offered = tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
  for (let turn = 0; !run.signal.aborted; turn += 1) {
    tell(run, { type: 'turn_start', turnIndex: turn });
    if (turn >= limit) {
      run.warn(`the order allows ${limit} turns, and all of them are used`);
      return { outcome: 'partial', ...usageOf(spent) };
    }
    const body = {
      model: order.config.model ?? gateway.engine,
      max_tokens: maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
      system,
      messages,
      ...(offered.length === 0 ? {} : { tools: offered }),
      stream: true,
    };
    const answer = await ask(gateway, body, listening(run), run.signal);
    spent = added(spent, answer);
    if (answer.text !== '') run.message(answer.text);
    messages.push({ role: 'assistant', content: [...answer.content] });
    if (answer.calls.length === 0) return usageOf(spent);
    messages.push({ role: 'user', content: await called(answer.calls, { tools, order, run }) });
    tell(run, { type: 'turn_end', turnIndex: turn });
  }
  return { outcome: 'partial', ...usageOf(spent) };
}

function listening(run: SidecarRun) {
  return {
    text: (delta: string) => run.delta(delta),
    thinking: (delta: string) => tell(run, { type: 'thinking_delta', delta }),
  };
}

/** An event of our own union that the ten kinds of the protocol have no place for. */
function tell(run: SidecarRun, event: JsonObject): void {
  run.send({ type: 'run_started', message: String(event.type) }, { [WHOLE_EVENT]: event });
}

/** Counts what an answer has used to what the ones before it have. */
function added(spent: Spent, { usage }: Answer): Spent {
  return { input: spent.input + usage.input, output: spent.output + usage.output, cached: spent.cached + usage.cached };
}

function usageOf({ input, output, cached }: Spent): Result {
  return { usage: { input_tokens: input, output_tokens: output, cache_read_tokens: cached } };
}

interface Calling {
  readonly tools: readonly BareTool[];
  readonly order: WorkOrder;
  readonly run: SidecarRun;
}

/** Tools run one after the other: a later call may need what an earlier one has written. */
async function called(calls: readonly ToolUse[], calling: Calling): Promise<Json[]> {
  const results: Json[] = [];
  for (const call of calls) {
    const { output, isError = false } = await made(call, calling);
    results.push({ type: 'tool_result', tool_use_id: call.id, content: output, is_error: isError });
  }
  return results;
}

async function made({ id, name, input }: ToolUse, { tools, order, run }: Calling): Promise<ToolOutcome> {
  run.send({ type: 'tool_call', tool_name: name, tool_use_id: id, parent_tool_use_id: null, input });
  const outcome = await outcomeOf({ id, name, input }, { tools, order, run });
  const { output, isError = false, changed, ran } = outcome;
  run.send({ type: 'tool_result', tool_name: name, tool_use_id: id, output, is_error: isError });
  if (changed !== undefined) run.send({ type: 'file_changed', ...changed });
  if (ran !== undefined) {
    run.send({ type: 'command_executed', command: ran.command, exit_code: ran.exitCode, output_preview: output.slice(0, 2048) });
  }
  return outcome;
}

/** A tool that fails is told to the model, which may know better. */
async function outcomeOf({ id, name, input }: ToolUse, { tools, run, order }: Calling): Promise<ToolOutcome> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return { output: `There is no tool ${name}.`, isError: true };
  const { approve, reason } = await run.approve({ name, id, input });
  if (!approve) return { output: `The call was denied: ${reason ?? 'no reason was given'}`, isError: true };
  try {
    return await tool.run(input, { root: order.workspace.root, signal: run.signal });
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), isError: true };
  }
}

/** Tools that the order denies are not offered. */
function isOffered(name: string, { policy }: WorkOrder): boolean {
  const named = (pattern: string): boolean => globMatch(pattern.toLowerCase(), name.toLowerCase());
  return !policy.disallowed_tools.some(named) && (policy.allowed_tools.length === 0 || policy.allowed_tools.some(named));
}
