import { type Json, type JsonObject, jsonOf } from '../../../base/json.ts';
import { AbpError } from '../../../contract/errors.ts';
import { unpackMeta } from '../../../ir/carrier.ts';
import type { IrMessage } from '../../../ir/conversation.ts';
import { type Fields, join } from '../../../ir/ledger.ts';
import type { IrPart, ThinkingPart, ToolCallPart, ToolResultPart, VendorMeta } from '../../../ir/part.ts';
import type { IrRequest } from '../../../ir/request.ts';
import { otherMembers, vendorMeta } from '../../members.ts';
import { DETAILS, detailParts, detailText, extraMeta } from './details.ts';
import type { ChatFlavour } from './flavour.ts';
import { liftContent } from './lift-parts.ts';
import { mediaParts } from './media.ts';
import { isEmpty, stateOf } from './state.ts';
import * as wire from './wire.ts';

type Message = Fields<wire.Message>;

const KNOWN = ['role', 'content', 'name', 'refusal', 'tool_calls', 'function_call', 'tool_call_id'];

/** Client libraries put what they found in an answer beside its own members. */
const ADDED = 'provider_specific_fields';

/** The state of a walk over the messages, because the meaning of a message may depend on the ones before it. */
interface Walk {
  readonly flavour: ChatFlavour;
  readonly count: number;
  /** Only system messages so far: they are the system prompt. */
  leading: boolean;
  /** Legacy calls have no ids; results find them by order. */
  legacyId: string | undefined;
}

/** Tool messages that follow each other are the results of one turn, so they become one user message. */
export function liftMessages(f: Fields<wire.Request>, flavour: ChatFlavour): IrMessage[] {
  const list = f.list('messages');
  const walk: Walk = { flavour, count: list.length, leading: true, legacyId: undefined };
  const messages: IrMessage[] = [];
  let results: IrPart[] | undefined;
  list.forEach((m, index) => {
    const { role } = m.value;
    walk.leading &&= role === 'system' || role === 'developer';
    if (role !== 'tool' && role !== 'function') {
      results = undefined;
      messages.push(liftMessage(m, index, walk));
      return;
    }
    if (results === undefined) {
      results = [];
      messages.push({ role: 'user', at: m.path, parts: results });
    }
    results.push(liftResult(m, walk));
  });
  return messages;
}

function liftMessage(m: Message, index: number, walk: Walk): IrMessage {
  const { role } = m.value;
  m.take('role', 'structure');
  const name = m.take('name', m.value.name === null ? 'structure' : 'message_name');
  const named = typeof name === 'string' ? { name } : {};
  if (role === 'assistant') return { role, at: m.path, parts: liftAssistant(m, index, walk), ...named, ...assistantMeta(m, index, walk) };
  const system = role === 'system' || role === 'developer';
  const concept = system ? (walk.leading ? 'system' : 'system_in_place') : 'text';
  const other = { ...(role === 'developer' ? { role } : {}), ...otherMembers(m.value, KNOWN) };
  claimMembers(m, walk.flavour);
  return {
    role: system ? 'system' : 'user',
    at: m.path,
    parts: liftContent(m, walk.flavour, concept),
    ...named,
    ...vendorMeta(walk.flavour.id, Object.keys(other).length === 0 ? undefined : jsonOf(other)),
  };
}

function claimMembers(m: Message, flavour: ChatFlavour): void {
  m.take(ADDED, 'item_identity');
  for (const [name, concept] of Object.entries(flavour.messageMembers)) m.take(name, isEmpty(m.value[name]) ? 'structure' : concept);
}

/** A last assistant message without `partial` is no prefill; other wires make it one, so the difference is written down. */
function assistantMeta(m: Message, index: number, walk: Walk): { meta?: VendorMeta } {
  const { flavour } = walk;
  const ours = isDetailed(m, flavour) ? [DETAILS] : [];
  const reasoning = flavour.reasoningField === undefined ? ours : [...flavour.reasoning, ...flavour.state];
  claimMembers(m, flavour);
  const media = mediaParts(flavour, m.value).map(({ type }) => type);
  const other = otherMembers(m.value, [...KNOWN, ...reasoning, ...media]);
  const last = flavour.prefill && index === walk.count - 1 && m.value.partial === undefined;
  return vendorMeta(flavour.id, last ? { ...other, partial: false } : other);
}

function liftAssistant(m: Message, index: number, walk: Walk): IrPart[] {
  const { flavour } = walk;
  const { thinking, call } = liftReasoning(m, flavour);
  const prefill = flavour.prefill && m.value.partial === true;
  const content = liftContent(m, flavour, prefill ? 'prefill' : 'text');
  const refusal = m.take('refusal', typeof m.value.refusal === 'string' ? 'refusal' : 'structure');
  const refused: IrPart[] = typeof refusal === 'string' ? [{ kind: 'refusal', text: refusal, at: m.at('refusal') }] : [];
  const rest = [...liftMedia(m, flavour), ...refused, ...call, ...liftCalls(m, index, walk)];
  // An empty string beside calls or reasoning is how some vendors write "no text".
  const empty = content.every((part) => part.kind === 'text' && part.text === '');
  return [...thinking, ...(empty && thinking.length + rest.length > 0 ? [] : content), ...rest];
}

/** Images and audio of an earlier answer, which stand beside its content. */
function liftMedia(m: Message, flavour: ChatFlavour): IrPart[] {
  let images = 0;
  return mediaParts(flavour, m.value).map((part) => {
    const place = m.at(part.type);
    m.ledger.claim(place, 'vendor_block');
    return { ...part, at: part.type === 'images' && m.ledger.kept ? join(place, images++) : place };
  });
}

/** Reasoning of an earlier answer, with the opaque state it must come back with. */
function liftReasoning(m: Message, flavour: ChatFlavour): Reasoning {
  const details = liftDetails(m, flavour);
  if (flavour.reasoningField === undefined) return { thinking: details ?? [], call: [] };
  const field = flavour.reasoning.find((name) => typeof m.value[name] === 'string');
  // The details, where there are any, hold the same reasoning, which only repeats it here.
  const told = details === undefined ? 'thinking_history' : 'item_identity';
  for (const name of flavour.reasoning) m.take(name, name === field ? told : 'structure');
  for (const name of flavour.state) m.take(name, isEmpty(m.value[name]) ? 'structure' : 'reasoning_state');
  if (details !== undefined) return { thinking: details, call: [] };
  const place = field ?? flavour.state.find((name) => m.value[name] !== undefined);
  return reasoningOf(flavour, m.value, place === undefined ? undefined : m.at(place));
}

/** Reasoning that we wrote for another engine, read back. */
function liftDetails(m: Message, flavour: ChatFlavour): ThinkingPart[] | undefined {
  const details = isDetailed(m, flavour) ? detailParts(m.value[DETAILS] as Json, m.at(DETAILS)) : undefined; // parsed JSON
  for (const { at } of details ?? []) if (at !== undefined) m.ledger.claim(`${at}.text`, 'thinking_history');
  return details;
}

/** Whether a message of the history holds reasoning that we wrote for another engine. */
function isDetailed(m: Message, flavour: ChatFlavour): boolean {
  return flavour.details && detailParts(m.value[DETAILS] as Json | undefined, '') !== undefined; // parsed JSON
}

/** Reasoning of a message; `call` stands right before the first call and has what another engine must get back with it. */
export interface Reasoning {
  readonly thinking: readonly IrPart[];
  readonly call: readonly IrPart[];
}

/** The reasoning of a wire message: its text, and state of its own or of another engine. */
export function reasoningOf(flavour: ChatFlavour, message: Readonly<Record<string, unknown>>, at?: string): Reasoning {
  const plain = flavour.reasoning.map((name) => message[name]).find((value) => typeof value === 'string' && value !== '');
  // In a history such a list is the engine's own, and goes back to it alone.
  const told = plain === undefined && at === undefined ? detailText(flavour, message[DETAILS]) : '';
  const text = told === '' ? plain : told;
  const carried = flavour.carrier === undefined ? undefined : unpackMeta(String(message[flavour.carrier] ?? ''));
  const state = carried === undefined ? stateOf(flavour, message) : undefined;
  const meta = carried === undefined ? state && { [flavour.id]: state } : objects(carried.thinking);
  const place = at === undefined ? {} : { at };
  const thinking: IrPart[] = [];
  if (typeof text === 'string') thinking.push({ kind: 'thinking', text, ...place, ...(meta === undefined ? {} : { meta }) });
  else if (meta !== undefined) thinking.push({ kind: 'thinking', text: '', redacted: true, ...place, meta });
  const call = objects(carried?.call);
  return { thinking, call: call === undefined ? [] : [{ kind: 'thinking', text: '', redacted: true, meta: call }] };
}

/** Packed state is ours, written by `packMeta`; its members are dialects' objects. */
function objects(value: JsonObject | undefined): VendorMeta | undefined {
  return value as VendorMeta | undefined;
}

function liftCalls(m: Message, index: number, walk: Walk): IrPart[] {
  if (m.value.tool_calls === null) m.take('tool_calls', 'structure');
  const calls = m.list('tool_calls').map((call, number): IrPart => {
    if (!isCall(call.value)) throw new AbpError('invalid_request', `${call.path}: a call has a function or a custom tool`);
    const part = callPart(call.value, `call_${index}_${number}`, walk.flavour);
    call.take('id', 'tool_call');
    call.takeMembers('function', 'tool_call', ['name', 'arguments']);
    call.takeMembers('custom', 'custom_tool', ['name', 'input']);
    call.take('type', 'structure');
    for (const node of [call, call.object('function')])
      (node as Fields<Readonly<Record<string, unknown>>> | undefined)?.take(ADDED, 'item_identity'); // looked up by name
    call.take('index', 'structure');
    call.take('extra_content', 'reasoning_state');
    const carried = extraMeta((call.value as Readonly<Record<string, Json>>).extra_content); // parsed JSON
    return { ...part, at: call.path, ...(carried === undefined ? {} : { meta: { ...part.meta, ...carried } }) };
  });
  const legacy = m.takeMembers('function_call', m.value.function_call ? 'tool_call' : 'structure', ['name', 'arguments']);
  if (!legacy) return calls;
  walk.legacyId = `call_${index}`;
  return [...calls, { kind: 'tool-call', id: walk.legacyId, name: legacy.name, arguments: legacy.arguments, at: m.at('function_call') }];
}

/** Members of a call that have no neutral form, those inside its function too. */
function callMembers(call: wire.ToolCall): JsonObject | undefined {
  const beside = otherMembers(call, ['id', 'type', 'index', 'function', 'custom']);
  const inside = call.function ? otherMembers(call.function, ['name', 'arguments']) : undefined;
  return inside === undefined ? beside : { ...beside, function: inside };
}

/** Whether we know what kind of call it is. */
export function isCall(call: wire.ToolCall): boolean {
  return Boolean(call.function ?? call.custom);
}

/** A call of a history or of a whole answer. */
export function callPart(call: wire.ToolCall, inventedId: string, flavour: ChatFlavour): ToolCallPart {
  const { custom, function: fn } = call;
  return {
    kind: 'tool-call',
    id: call.id || inventedId,
    name: fn?.name ?? custom?.name ?? '',
    arguments: fn?.arguments === wire.NO_ARGUMENTS ? '' : (fn?.arguments ?? custom?.input ?? ''),
    ...(fn ? {} : { custom: true }),
    ...vendorMeta(flavour.id, callMembers(call)),
  };
}

function liftResult(m: Message, walk: Walk): ToolResultPart {
  m.take('role', 'structure');
  const name = m.take('name', m.value.name === null ? 'structure' : 'message_name');
  const callId = m.take('tool_call_id', 'tool_result') ?? (m.value.role === 'function' ? walk.legacyId : undefined);
  if (callId === undefined) throw new AbpError('invalid_request', `${m.path}.tool_call_id: required when role is "tool"`);
  claimMembers(m, walk.flavour);
  return {
    kind: 'tool-result',
    callId,
    ...(typeof name === 'string' ? { name } : {}),
    isError: false,
    parts: liftContent(m, walk.flavour, 'tool_result').filter((part) => part.kind !== 'text' || part.text !== ''),
    at: m.path,
    ...vendorMeta(walk.flavour.id, otherMembers(m.value, ['role', 'content', 'tool_call_id', 'name'])),
  };
}

/** Whether the model speaks next on its own account: the last thing it was told is the result of a call. */
export function endsInResults(request: IrRequest): boolean {
  return request.messages.at(-1)?.parts.some((part) => part.kind === 'tool-result') ?? false;
}
