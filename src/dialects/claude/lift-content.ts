import type { z } from 'zod';
import { type JsonObject, jsonOf, objectIn } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { unpackMeta } from '../../ir/carrier.ts';
import type { Concept } from '../../ir/concept.ts';
import { Fields } from '../../ir/ledger.ts';
import type { IrPart, MediaSource } from '../../ir/part.ts';
import { otherMembers, vendorMeta } from '../members.ts';
import * as wire from './wire.ts';

type Block = Fields<wire.AnyBlock>;

/** The content of a message: a string is one text part. */
export function liftContent(m: Fields<{ content: string | wire.AnyBlock[] }>, concept: Concept): IrPart[] {
  const { content } = m.value;
  if (typeof content === 'string') {
    m.take('content', concept);
    return [{ kind: 'text', text: content, at: m.at('content') }];
  }
  return m.list('content').map((block) => liftBlock(block, concept));
}

const LIFTS: Readonly<Record<string, (block: Block, concept: Concept) => IrPart>> = {
  text: liftText,
  image: liftImage,
  document: liftDocument,
  thinking: liftThinking,
  redacted_thinking: liftRedacted,
  tool_use: liftToolUse,
  tool_result: liftToolResult,
};

/** One content block. A block of a kind we do not know is kept whole for its owner. */
export function liftBlock(block: Block, concept: Concept): IrPart {
  return (LIFTS[block.value.type] ?? liftOther)(block, concept);
}

function typed<T extends object>(block: Block, schema: z.ZodType<T>): Fields<T> {
  return new Fields(parseAt(schema, block.value, block.path), block.path, block.ledger);
}

function liftText(block: Block, concept: Concept): IrPart {
  const b = typed(block, wire.TextBlock);
  b.take('type', 'structure');
  b.take('cache_control', 'cache_mark');
  b.take('citations', 'citation');
  return { kind: 'text', text: b.take('text', concept), at: b.path, ...rest(b, ['type', 'text']) };
}

function liftImage(block: Block): IrPart {
  const b = typed(block, wire.ImageBlock);
  b.take('type', 'structure');
  b.take('cache_control', 'cache_mark');
  const source = liftSource(b.takeMembers('source', b.value.source.type === 'file' ? 'stored_file' : 'image', SOURCE));
  return source === undefined ? liftOther(block) : { kind: 'image', source, at: b.path, ...media(b, ['type']) };
}

function liftDocument(block: Block): IrPart {
  const b = typed(block, wire.DocumentBlock);
  const { source: raw, title, context, citations } = b.value;
  const source = liftSource(raw);
  if (source === undefined && !(raw.type === 'text' && raw.data !== undefined)) return liftOther(block);
  if (raw.type === 'text' && raw.media_type !== undefined && raw.media_type !== TEXT)
    throw new AbpError('invalid_request', `${b.path}.source.media_type: a source of type "text" is ${TEXT}`);
  b.take('type', 'structure');
  b.takeMembers('source', raw.type === 'file' ? 'stored_file' : 'document', SOURCE);
  b.take('cache_control', 'cache_mark');
  b.take('title', 'document_label');
  b.take('context', 'document_context');
  b.take('citations', citations?.enabled ? 'document_citations' : 'tool_option');
  return {
    kind: 'document',
    source: source ?? { kind: 'base64', mediaType: 'text/plain', data: Buffer.from(raw.data ?? '', 'utf8').toString('base64') },
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof context === 'string' ? { context } : {}),
    ...(citations?.enabled ? { citations: true } : {}),
    at: b.path,
    ...media(b, ['type', 'title', 'context']),
  };
}

function liftThinking(block: Block): IrPart {
  const b = typed(block, wire.ThinkingBlock);
  b.take('type', 'structure');
  const carried = unpackMeta(b.take('signature', 'reasoning_state') ?? '');
  const text = b.take('thinking', 'thinking_history');
  return { kind: 'thinking', text, at: b.path, ...(carried === undefined ? rest(b, ['type', 'thinking']) : { meta: carried }) };
}

function liftRedacted(block: Block): IrPart {
  const b = typed(block, wire.RedactedThinkingBlock);
  b.take('type', 'structure');
  const carried = unpackMeta(b.take('data', 'reasoning_state'));
  return { kind: 'thinking', text: '', redacted: true, at: b.path, ...(carried === undefined ? rest(b, ['type']) : { meta: carried }) };
}

function liftToolUse(block: Block): IrPart {
  const b = typed(block, wire.ToolUseBlock);
  b.take('type', 'structure');
  b.take('cache_control', 'cache_mark');
  const { caller } = b.value;
  if (objectIn(caller)?.type === 'direct') b.takeUsual('caller', 'tool_option');
  else b.take('caller', 'tool_option');
  return {
    kind: 'tool-call',
    id: b.take('id', 'tool_call'),
    name: b.take('name', 'tool_call'),
    arguments: JSON.stringify(b.take('input', 'tool_call')),
    at: b.path,
    ...rest(b, ['type', 'id', 'name', 'input']),
  };
}

/** Members of an answer's call beside its own. A call that the model made directly says what absence says. */
export function callMeta(block: wire.AnyBlock): ReturnType<typeof vendorMeta> {
  const { caller, ...others } = block;
  const direct = typeof caller === 'object' && caller !== null && Reflect.get(caller, 'type') === 'direct';
  return vendorMeta('claude', otherMembers(direct ? others : block, ['type', 'id', 'name', 'input']));
}

function liftToolResult(block: Block): IrPart {
  const b = typed(block, wire.ToolResultBlock);
  b.take('type', 'structure');
  b.take('cache_control', 'cache_mark');
  const { content } = b.value;
  return {
    kind: 'tool-result',
    callId: b.take('tool_use_id', 'tool_result'),
    isError: b.take('is_error', 'tool_result_error') ?? false,
    parts: typeof content === 'string' ? liftResultText(b, content) : b.list('content').map((inner) => liftBlock(inner, 'tool_result')),
    at: b.path,
    ...rest(b, ['type', 'tool_use_id', 'is_error', 'content']),
  };
}

function liftResultText(b: Fields<{ content?: unknown }>, text: string): IrPart[] {
  b.take('content', 'tool_result');
  return [{ kind: 'text', text, at: b.at('content') }];
}

function liftOther(block: Block): IrPart {
  block.ledger.claim(block.path, 'vendor_block');
  // The block is parsed JSON; the schema only looked at its type.
  const value = jsonOf(block.value);
  const told = isPassage(value);
  if (told === 'cited') block.ledger.claim(`${block.path}.citations`, 'document_citations');
  return {
    kind: 'vendor',
    dialect: 'claude',
    type: block.value.type,
    ...(told === 'plain' ? { result: true as const } : {}),
    at: block.path,
    meta: { claude: value },
  };
}

/** Whether a block is text that the caller brings along as a source, which any engine can read; citing it is what only Claude does. */
function isPassage({ type, content, source, citations }: JsonObject): 'plain' | 'cited' | undefined {
  if (type === 'tool_reference') return 'plain';
  const words = type === 'search_result' ? content : type === 'document' ? objectIn(source)?.content : undefined;
  const readable = typeof words === 'string' || (Array.isArray(words) && words.every((one) => objectIn(one)?.type === 'text'));
  if (!readable) return undefined;
  return objectIn(citations)?.enabled === true ? 'cited' : 'plain';
}

const TEXT = 'text/plain';
/** Members of a source. */
const SOURCE = ['type', 'media_type', 'data', 'url', 'file_id', 'content'];

/** Members beside those that are known, and inside of the source. */
function media(b: Fields<{ readonly source: wire.Source }>, known: readonly string[]): ReturnType<typeof vendorMeta> {
  const source = otherMembers(b.value.source, SOURCE);
  const members = otherMembers(b.value, [...known, 'source']);
  return vendorMeta('claude', source === undefined ? members : { ...members, source });
}

function rest(b: Fields<object>, known: readonly string[]): ReturnType<typeof vendorMeta> {
  return vendorMeta('claude', otherMembers(b.value, known));
}

/** Where a medium's bytes are; undefined for sources that are text or nested content. */
function liftSource(source: wire.Source): MediaSource | undefined {
  if (source.type === 'base64' && source.data !== undefined) {
    return { kind: 'base64', mediaType: source.media_type ?? 'application/octet-stream', data: source.data };
  }
  if (source.type === 'url' && source.url !== undefined) return { kind: 'url', url: source.url };
  if (source.type === 'file' && source.file_id !== undefined) return { kind: 'file', fileId: source.file_id };
  return undefined;
}
