import { type JsonObject, jsonOf } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart, TextPart, ThinkingPart, VendorMeta } from '../../ir/part.ts';
import { compact, vendorMeta } from '../members.ts';
import { mediaKind, sourceOfUri } from './media.ts';
import { camelCase, type ProtoFields } from './proto.ts';
import { isNameless, namelessId, resultText } from './results.ts';
import { carriedBy } from './signature.ts';
import type * as wire from './wire.ts';

type Part = ProtoFields<wire.Part>;

/** Reads `contents` in order, because a result without an id answers the first open call of its name. */
export class ContentReader {
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #calls = 0;

  /** Contents that hold nothing but results of the same turn are one message. */
  messages(contents: readonly ProtoFields<wire.Content>[]): IrMessage[] {
    const out: IrMessage[] = [];
    for (const content of contents) {
      const message = this.#message(content);
      const last = out.at(-1);
      if (last !== undefined && onlyResults(last) && onlyResults(message)) {
        out[out.length - 1] = { ...last, parts: [...last.parts, ...message.parts] };
      } else out.push(message);
    }
    return out;
  }

  #message(content: ProtoFields<wire.Content>): IrMessage {
    const role = content.read('role', 'structure') ?? 'user';
    if (role !== 'user' && role !== 'model') {
      throw new AbpError('invalid_request', `${content.where('role')}: "${role}" is not one of user, model`);
    }
    const parts = withoutEmptyText(content.nodes('parts').map((part) => this.#part(part)));
    return {
      role: role === 'model' ? 'assistant' : 'user',
      at: content.path,
      parts: role === 'model' ? joinTexts(joinThoughts(parts)) : joinThoughts(parts),
      ...vendorMeta('gemini', content.others(['role', 'parts'])),
    };
  }

  #part(part: Part): IrPart {
    if (part.peek('functionCall') !== undefined) return this.#call(part);
    if (part.peek('functionResponse') !== undefined) return this.#result(part);
    if (part.peek('inlineData') !== undefined || part.peek('fileData') !== undefined) return liftMedia(part);
    const other = otherKind(part);
    return other === undefined ? liftText(part, 'text') : liftOther(part, other);
  }

  #call(part: Part): IrPart {
    const call = part.node('functionCall');
    const name = call?.read('name', 'tool_call');
    if (call === undefined || name === undefined) throw required(part.where('functionCall'), 'name');
    const id = call.read('id', 'tool_call') ?? namelessId(this.#calls);
    this.#calls += 1;
    this.#open.push({ id, name });
    const inner = call.others(['id', 'name', 'args']);
    const args = call.read('args', 'tool_call') ?? {};
    return {
      kind: 'tool-call',
      id,
      name,
      arguments: JSON.stringify(args),
      at: part.path,
      ...signedMeta(part, ['functionCall', 'thought'], { ...thoughtOf(part), ...(inner === undefined ? {} : { functionCall: inner }) }),
    };
  }

  #result(part: Part): IrPart {
    const result = part.node('functionResponse');
    const name = result?.peek('name');
    if (result === undefined || name === undefined) throw required(part.where('functionResponse'), 'name');
    const id = result.peek('id');
    const callId = this.#answered(id, name);
    // Whichever of the two finds the call is the one that counts.
    result.read('id', callId === id ? 'tool_result' : 'item_identity');
    result.read('name', callId === id ? 'result_name' : 'tool_result');
    const response = result.read('response', 'tool_result') ?? {};
    const { text, isError } = resultText(response);
    if (isError) result.ledger.claim(`${result.where('response')}.error`, 'tool_result_error');
    const media = result.nodes('parts').map((inner) => liftMedia(inner, 'tool_result_media'));
    const inner = { ...result.others(['id', 'name', 'response', 'parts']), ...(id === undefined || callId === id ? {} : { id }) };
    return {
      kind: 'tool-result',
      callId,
      name,
      isError,
      parts: [{ kind: 'text', text, at: result.where('response') }, ...media],
      at: part.path,
      meta: { gemini: { ...part.others(['functionResponse']), functionResponse: { ...inner, response } } },
    };
  }

  #answered(id: string | undefined, name: string): string {
    const at = this.#open.findIndex((call) => call.id === id);
    // An id that no call has is another call's, unless the calls of this name came without ids.
    const open = at === -1 ? this.#open.findIndex((call) => call.name === name && (id === undefined || isNameless(call.id))) : at;
    const [call] = open === -1 ? [] : this.#open.splice(open, 1);
    return call?.id ?? id ?? `${namelessId(this.#calls)}-unknown`;
  }
}

function required(path: string, member: string): AbpError {
  return new AbpError('invalid_request', `${path}.${member}: is required`);
}

function onlyResults(message: IrMessage): boolean {
  return message.role === 'user' && message.meta === undefined && message.parts.every((part) => part.kind === 'tool-result');
}

/** Streams end in an empty text that callers send back; it says nothing, and other engines refuse it. */
function withoutEmptyText(parts: readonly IrPart[]): readonly IrPart[] {
  const full = parts.filter((part) => part.kind !== 'text' || part.text !== '' || part.meta !== undefined);
  return full.length === 0 ? parts.slice(0, 1) : full;
}

/**
 * A thought streams as pieces, and the state that another engine signed it with comes last; that engine wants both in one part.
 * Gemini's own signatures stay on the part they came with.
 */
function joinThoughts(parts: readonly IrPart[]): readonly IrPart[] {
  const out: IrPart[] = [];
  for (const part of parts) {
    const pieces: string[] = [];
    let first = part;
    for (let last = out.at(-1); isCarried(part) && isUnsigned(last); last = out.at(-1)) {
      pieces.unshift(last.text);
      first = last;
      out.pop();
    }
    out.push(part.kind === 'thinking' ? { ...part, ...whereOf(first), text: pieces.join('') + part.text } : part);
  }
  return out;
}

/** The same for words: what streamed as pieces was one text, and other engines would read as many texts or messages. */
function joinTexts(parts: readonly IrPart[]): readonly IrPart[] {
  const out: IrPart[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (isPlain(part) && isPlain(last)) out[out.length - 1] = { ...last, text: last.text + part.text };
    else out.push(part);
  }
  return out;
}

function isPlain(part: IrPart | undefined): part is TextPart {
  return part?.kind === 'text' && part.meta === undefined;
}

function whereOf(part: IrPart): { at?: string } {
  return part.at === undefined ? {} : { at: part.at };
}

function isCarried(part: IrPart): boolean {
  return part.kind === 'thinking' && !part.redacted && part.meta?.gemini === undefined;
}

function isUnsigned(part: IrPart | undefined): part is ThinkingPart {
  return part?.kind === 'thinking' && part.meta?.gemini !== undefined && Object.keys(part.meta.gemini).length === 0;
}

const TEXT_MEMBERS = ['text', 'thought', 'thoughtSignature'];
/** Members that describe a part whose data is elsewhere. */
const DESCRIPTIONS = {
  partMetadata: 'metadata',
  mediaResolution: 'media_resolution',
  videoMetadata: 'vendor_option',
} as const satisfies Record<string, Concept>;

/** The data member of a part of a kind that has no neutral form. */
function otherKind(part: Part): string | undefined {
  const candidates = Object.entries(part.others([...TEXT_MEMBERS, ...Object.keys(DESCRIPTIONS)]) ?? {});
  return candidates.find(([, value]) => typeof value === 'object' && value !== null)?.[0];
}

function liftOther(part: Part, key: string): IrPart {
  part.ledger.claim(part.path, 'vendor_block');
  // The part is parsed JSON; the schema only looked at members it knows.
  return { kind: 'vendor', dialect: 'gemini', type: camelCase(key), at: part.path, meta: { gemini: jsonOf(part.value) } };
}

/** Text, or reasoning. A signature on an empty text is a state of its own that belongs to no text. */
export function liftText(part: Part, concept: Concept): IrPart {
  const thought = part.peek('thought') === true;
  part.read('thought', 'structure');
  const text = part.read('text', thought ? 'thinking_history' : concept) ?? '';
  const at = part.path;
  const signature = part.peek('thoughtSignature');
  const carried = carriedBy(signature);
  const meta = signedMeta(part, TEXT_MEMBERS);
  // An empty entry says that the thought is Gemini's own, though unsigned.
  const own = carried === undefined ? { meta: { gemini: {}, ...meta.meta } } : meta;
  if (thought) return { kind: 'thinking', text, at, ...(carried?.redacted ? { redacted: true } : {}), ...own };
  if (text !== '' || signature === undefined || carried !== undefined) return { kind: 'text', text, at, ...meta };
  return { kind: 'thinking', text: '', redacted: true, at, meta: { gemini: { text: '', ...meta.meta?.gemini } } };
}

/** Gemini's signature stays with the part; another engine's state that we packed into it is restored. */
function signedMeta(part: Part, known: readonly string[], inner: JsonObject = {}): { meta?: VendorMeta } {
  const signature = part.read('thoughtSignature', 'reasoning_state');
  const carried = carriedBy(signature);
  for (const [key, concept] of Object.entries(DESCRIPTIONS)) claim(part, key, concept);
  const rest = part.others([...known, 'thoughtSignature']);
  const own = compact({ thoughtSignature: carried === undefined ? signature : undefined, ...rest, ...inner });
  const meta = { ...carried?.meta, ...(Object.keys(own).length === 0 ? {} : { gemini: own }) };
  return Object.keys(meta).length === 0 ? {} : { meta };
}

/** A part that is no text may be marked as thought, too; that it is none says nothing. */
function thoughtOf(part: Part): JsonObject {
  if (part.peek('thought') === true) return { thought: true };
  part.read('thought', 'structure');
  return {};
}

/** Claims a member that no schema names. */
function claim(part: Part, key: string, concept: Concept): void {
  const path = part.where(key);
  if (Object.hasOwn(part.value, path.slice(path.lastIndexOf('.') + 1))) part.ledger.claim(path, concept);
}

/** `inlineData` or `fileData`; what is inside decides which medium it is. */
function liftMedia(part: ProtoFields<wire.ResultPart> | Part, concept?: Concept): IrPart {
  const blob = part.node('inlineData');
  const file = part.node('fileData');
  const mediaType = (blob ?? file)?.peek('mimeType');
  const uri = file?.peek('fileUri') ?? '';
  const kind = mediaKind(mediaType, uri);
  const fromUri = sourceOfUri(uri, mediaType);
  const claimed = concept ?? (blob === undefined && fromUri.kind === 'file' ? 'stored_file' : kind);
  const beside = blob === undefined && fromUri.kind === 'url';
  (blob ?? file)?.read('mimeType', beside ? 'media_type' : claimed);
  if (beside && mediaType !== undefined)
    part.ledger.remark({
      at: file?.where('mimeType') ?? part.path,
      concept: 'media_type',
      code: 'media_kind_read',
      note: `read as ${kind}`,
    });
  file?.read('fileUri', claimed);
  const data = blob?.read('data', claimed) ?? '';
  const inner = compact({ inlineData: blob?.others(['mimeType', 'data']), fileData: file?.others(['mimeType', 'fileUri']) });
  const source = blob === undefined ? fromUri : ({ kind: 'base64', mediaType: mediaType ?? 'application/octet-stream', data } as const);
  // A result's part has no signature; reading one there finds nothing.
  return {
    kind,
    source,
    at: part.path,
    ...signedMeta(part as Part, ['inlineData', 'fileData', 'thought'], { ...thoughtOf(part as Part), ...inner }),
  };
}
