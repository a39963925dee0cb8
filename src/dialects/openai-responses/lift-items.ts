import { type JsonObject, jsonOf } from '../../base/json.ts';
import { unpackMeta } from '../../ir/carrier.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import { type Fields, meansNothing } from '../../ir/ledger.ts';
import type { IrPart, ThinkingPart, ToolCallPart, ToolResultPart, VendorMeta } from '../../ir/part.ts';
import { otherMembers, vendorMeta } from '../members.ts';
import { ID, IN_RESULT, inMessage, liftPart, rest, typed } from './lift-content.ts';
import * as wire from './wire.ts';

type Item = Fields<wire.AnyItem>;

/** Items of one turn of the model become one message, and so do the results that follow it; other messages stay by themselves. */
interface Turn {
  readonly kind: 'answer' | 'results' | 'message';
  readonly head: Omit<IrMessage, 'parts'>;
  readonly parts: IrPart[];
}

/** The items of `input` as messages. */
export function liftItems(items: readonly Item[]): IrMessage[] {
  const turns: Turn[] = [];
  let leading = true;
  for (const item of items) {
    const turn = liftItem(item, leading);
    leading &&= turn.head.role === 'system';
    const last = turns.at(-1);
    if (last !== undefined && turn.kind !== 'message' && turn.kind === last.kind) last.parts.push(...turn.parts);
    else turns.push(turn);
  }
  return turns.map(({ head, parts }) => ({ ...head, parts }));
}

function liftItem(item: Item, leading: boolean): Turn {
  const type = itemType(item.value);
  if (type === 'message') return liftMessage(typed(item, wire.Message), leading);
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    return { kind: 'results', head: { role: 'user', at: item.path }, parts: [liftResult(item)] };
  }
  const part = liftOutput(item);
  // A tool search that the vendor ran stands whole in its answer; every other output is the caller's.
  const ran = item.value.execution === 'server';
  const fromCaller = (type.endsWith('_output') && !ran) || type === 'mcp_approval_response';
  if (fromCaller && part.kind === 'vendor')
    return { kind: 'results', head: { role: 'user', at: item.path }, parts: [{ ...part, result: true }] };
  return { kind: 'answer', head: { role: 'assistant', at: item.path }, parts: [part] };
}

/** A message may leave its type out, and so may a reference, which then has nothing but an id. */
function itemType(item: wire.AnyItem): string {
  return item.type ?? ('role' in item ? 'message' : 'item_reference');
}

function liftMessage(m: Fields<wire.Message>, leading: boolean): Turn {
  const role = m.take('role', 'structure');
  takeIdentity(m);
  const others = otherMembers(m.value, ['type', 'role', 'content']);
  if (role === 'assistant') {
    return { kind: 'answer', head: { role, at: m.path }, parts: liftContent(m, 'text').map((part) => withItem(part, others)) };
  }
  if (role === 'user') return { kind: 'message', head: { role, at: m.path, ...vendorMeta(ID, others) }, parts: liftContent(m, 'text') };
  const meta = { [ID]: { role, ...others } };
  return { kind: 'message', head: { role: 'system', at: m.path, meta }, parts: liftContent(m, leading ? 'system' : 'system_in_place') };
}

function liftContent(m: Fields<{ content: string | wire.AnyPart[] }>, concept: Concept): IrPart[] {
  const { content } = m.value;
  if (Array.isArray(content) && content.length === 0)
    for (const name of STATE) m.ledger.leaveIdle(m.at(name), meansNothing('without words'));
  if (typeof content !== 'string') return m.list('content').map((part) => liftPart(part, inMessage(concept)));
  m.take('content', concept);
  return [{ kind: 'text', text: content, at: m.at('content') }];
}

const STATE = ['id', 'status', 'phase'];

/** Takes the members that name an item and its state: only the vendor's own history needs them. */
function takeIdentity(item: Fields<object>): void {
  const fields = item as Fields<Readonly<Record<string, unknown>>>; // every item is a JSON object
  fields.take('type', 'structure');
  fields.take('id', 'item_identity');
  fields.take('status', 'item_identity');
  fields.take('caller', 'tool_option');
  fields.take('phase', 'reasoning_state');
  fields.take('internal_chat_message_metadata_passthrough', 'storage');
}

/** Members of the message that a text belongs to ride on the text, because messages of one turn are joined. */
export function withItem(part: IrPart, item: JsonObject | undefined): IrPart {
  return item === undefined ? part : { ...part, meta: { ...part.meta, [ID]: { ...part.meta?.[ID], item } } };
}

/** An item that the model wrote, except a message. */
export function liftOutput(item: Item): IrPart {
  switch (itemType(item.value)) {
    case 'function_call':
      return liftCall(item);
    case 'custom_tool_call':
      return liftCustomCall(item);
    case 'reasoning':
      return liftReasoning(item);
    default:
      return liftOther(item);
  }
}

const CALL = ['type', 'id', 'status', 'call_id', 'arguments', 'input'];

function liftCall(item: Item): ToolCallPart {
  const c = typed(item, wire.FunctionCall);
  takeIdentity(c);
  c.take('namespace', 'tool_call');
  c.take('name', 'tool_call');
  return {
    kind: 'tool-call',
    id: c.take('call_id', 'tool_call'),
    name: fullName(c.value),
    arguments: c.take('arguments', 'tool_call'),
    at: c.path,
    ...callMeta(c.value),
  };
}

function liftCustomCall(item: Item): ToolCallPart {
  const c = typed(item, wire.CustomToolCall);
  takeIdentity(c);
  c.take('namespace', 'custom_tool');
  c.take('name', 'custom_tool');
  return {
    kind: 'tool-call',
    id: c.take('call_id', 'custom_tool'),
    name: fullName(c.value),
    arguments: c.take('input', 'custom_tool'),
    custom: true,
    at: c.path,
    ...callMeta(c.value),
  };
}

/** A tool inside a namespace is `namespace/name` everywhere else: no dialect has a slash in its names. */
export function fullName(named: { readonly name: string; readonly namespace?: string | null | undefined }): string {
  return typeof named.namespace === 'string' ? `${named.namespace}/${named.name}` : named.name;
}

/**
 * The item's id and status stay with us (`abp`), so that no other dialect carries them about: a call may come back without them.
 * Members that change the call (its namespace, its caller) belong to the dialect.
 */
export function callMeta(item: object): { meta?: VendorMeta } {
  const known = 'namespace' in item && typeof item.namespace === 'string' ? CALL : [...CALL, 'namespace', 'name'];
  const others = otherMembers(item, known);
  const identity = otherMembers(
    item,
    Object.keys(item).filter((key) => key !== 'id' && key !== 'status'),
  );
  if (others === undefined && identity === undefined) return {};
  return { meta: { ...(identity === undefined ? {} : { abp: identity }), ...vendorMeta(ID, others).meta } };
}

/** Reasoning keeps its whole item; a packed state belongs to the engine that wrote it. */
function liftReasoning(item: Item): ThinkingPart {
  const r = typed(item, wire.Reasoning);
  takeIdentity(r);
  takeTexts(r, 'summary');
  takeTexts(r, 'content');
  const carried = unpackMeta(r.take('encrypted_content', 'reasoning_state') ?? '');
  const text = reasoningText(r.value);
  if (carried === undefined) return { kind: 'thinking', text, at: r.path, ...rest(r, ['type']) };
  const { abp, ...meta } = carried;
  return { kind: 'thinking', text, ...(abp?.redacted === true ? { redacted: true } : {}), at: r.path, meta };
}

/** Of what is reasoned the words arrive; members beside them are nobody's. */
function takeTexts(r: Fields<wire.Reasoning>, key: 'summary' | 'content'): void {
  const pieces = r.list(key);
  if (pieces.length === 0) r.take(key, 'thinking_history');
  for (const piece of pieces) {
    piece.take('type', 'thinking_history');
    piece.take('text', 'thinking_history');
  }
}

function reasoningText(item: Pick<wire.Reasoning, 'summary' | 'content'>): string {
  const pieces = [...(item.summary ?? []), ...(item.content ?? [])].map(({ text }) => text);
  return pieces.filter((text) => text !== '').join('\n\n');
}

function liftResult(item: Item): ToolResultPart {
  const r = typed(item, wire.CallOutput);
  takeIdentity(r);
  const { output } = r.value;
  const custom = r.value.type === 'custom_tool_call_output';
  return {
    kind: 'tool-result',
    callId: r.take('call_id', 'tool_result'),
    isError: false,
    parts: typeof output === 'string' ? liftResultText(r, output) : r.list('output').map((part) => liftPart(part, IN_RESULT)),
    at: r.path,
    ...rest(r, custom ? ['call_id', 'output'] : ['type', 'call_id', 'output']),
  };
}

function liftResultText(r: Fields<wire.CallOutput>, text: string): IrPart[] {
  r.take('output', 'tool_result');
  return [{ kind: 'text', text, at: r.at('output') }];
}

function liftOther(item: Item): IrPart {
  const type = itemType(item.value);
  item.ledger.claim(item.path, type === 'item_reference' ? 'stored_state' : 'vendor_block');
  // The item is parsed JSON; the schema only looked at its type.
  return { kind: 'vendor', dialect: ID, type, at: item.path, meta: { [ID]: { ...jsonOf(item.value), type } } };
}
