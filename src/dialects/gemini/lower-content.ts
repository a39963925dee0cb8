import { type JsonObject, objectIn } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import { AbpError } from '../../contract/errors.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  IrPart,
  MediaSource,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  VideoPart,
} from '../../ir/part.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';
import { mediaTypeOf } from './media.ts';
import { isNameless, resultObject, resultText } from './results.ts';

/** Accepted in place of a signature that Gemini cannot have given: the call was another engine's. */
const NO_SIGNATURE = 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=';

/** Writes `contents`. Results carry the name of the function, so the names of calls are remembered by their ids. */
export class ContentWriter {
  readonly #notes: FateNote[];
  readonly #traits: LowerContext['traits'];
  readonly #names = new Map<string, string>();

  constructor(notes: FateNote[], traits: LowerContext['traits']) {
    this.#notes = notes;
    this.#traits = traits;
  }

  contents(messages: readonly IrMessage[]): JsonObject[] {
    return joinResults(messages).flatMap((message) => {
      const parts = this.#parts(message);
      // A content must have parts; a message of foreign reasoning alone has none left.
      return parts.length === 0 ? [] : [{ role: message.role === 'assistant' ? 'model' : 'user', parts, ...message.meta?.gemini }];
    });
  }

  /** Reasoning state that another dialect carried in a part before a call goes back onto the call. */
  #parts(message: IrMessage): JsonObject[] {
    const out: JsonObject[] = [];
    let carried: JsonObject | undefined;
    message.parts.forEach((part, index) => {
      const next = message.parts[index + 1];
      if (isCarrier(part) && next?.kind === 'tool-call') carried = part.meta?.gemini;
      else if (part.kind === 'tool-call') {
        out.push(this.#call(part, carried, isSigned(out)));
        carried = undefined;
      } else out.push(...this.#part(part));
    });
    return out;
  }

  #part(part: IrPart): JsonObject[] {
    const own = part.meta?.gemini;
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return [{ text: part.text, ...own }];
      case 'image':
      case 'audio':
      case 'video':
      case 'document':
        return [lowerMedia(part)];
      case 'thinking':
        return this.#thinking(part);
      case 'tool-result':
        return [this.#result(part)];
      default:
        return own === undefined ? [] : [own];
    }
  }

  #thinking(part: ThinkingPart): JsonObject[] {
    const own = part.meta?.gemini;
    if (own !== undefined) return [part.redacted ? { text: '', ...own } : { text: part.text, thought: true, ...own }];
    this.#notes.push({
      concept: 'thinking_history',
      fate: 'dropped',
      code: 'reasoning_not_its_own',
      note: 'Gemini takes back only thoughts of its own',
      ...where(part),
    });
    return [];
  }

  /** Only the first call of a turn needs a signature: parallel calls share it. */
  #call(part: ToolCallPart, carried: JsonObject | undefined, signed: boolean): JsonObject {
    this.#names.set(part.id, part.name);
    const { functionCall: inner, ...own } = { ...carried, ...part.meta?.gemini };
    const missing = this.#traits.has('needs-thought-signature') && !signed && own.thoughtSignature === undefined;
    if (missing) {
      this.#notes.push({
        concept: 'tool_call',
        fate: 'emulated',
        code: 'signature_skipped',
        note: 'a call of another engine has no thought signature; Gemini was told to skip the check',
        ...where(part),
      });
    }
    return {
      functionCall: {
        ...(isNameless(part.id) ? {} : { id: part.id }),
        name: part.name,
        args: argumentsObject(part.arguments),
        ...objectIn(inner),
      },
      ...(missing ? { thoughtSignature: NO_SIGNATURE } : {}),
      ...own,
    };
  }

  #result(part: ToolResultPart): JsonObject {
    const own = part.meta?.gemini;
    const { functionResponse, ...members } = own ?? {};
    const { response, ...inner } = (functionResponse ?? {}) as Readonly<Record<string, JsonObject>>; // written by lift as an object
    const texts = part.parts.flatMap((inside) => (inside.kind === 'text' || inside.kind === 'refusal' ? [inside.text] : []));
    const media = part.parts.filter(isMedia);
    const refusal = media.length === 0 ? undefined : this.#mediaRefusal(media);
    if (refusal !== undefined)
      this.#notes.push({ concept: 'tool_result_media', fate: 'refused', code: 'media_in_result', note: refusal, ...where(part) });
    return {
      functionResponse: {
        ...(isNameless(part.callId) ? {} : { id: part.callId }),
        name: (own === undefined ? this.#names.get(part.callId) : part.name) ?? part.name ?? 'unknown_function',
        response: unchanged(response, texts.join('\n'), part.isError) ?? resultObject(texts.join('\n'), part.isError),
        ...(media.length === 0 ? {} : { parts: media.map(lowerMedia) }),
        ...inner,
      },
      ...members,
    };
  }

  #mediaRefusal(media: readonly MediaPart[]): string | undefined {
    if (!this.#traits.has('function-response-media')) return 'this model takes only text in function results';
    return media.every(({ source }) => source.kind === 'base64') ? undefined : 'Gemini takes media in function results only inline';
  }
}

/** The caller's own result object, as long as it still says what the result says. */
function unchanged(response: JsonObject | undefined, text: string, isError: boolean): JsonObject | undefined {
  if (response === undefined) return undefined;
  const said = resultText(response);
  return said.text === text && said.isError === isError ? response : undefined;
}

export function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}

/** Results of a turn stand together in the content right after its calls; what else the user said follows them. */
function joinResults(messages: readonly IrMessage[]): IrMessage[] {
  const out: IrMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    const afterCalls = out.at(-2)?.parts.some((part) => part.kind === 'tool-call') ?? false;
    if (last?.role === 'user' && message.role === 'user' && afterCalls && message.parts.some(isResult)) {
      const parts = [...last.parts, ...message.parts];
      out[out.length - 1] = { ...last, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] };
    } else out.push(message);
  }
  return out;
}

function isResult(part: IrPart): boolean {
  return part.kind === 'tool-result';
}

function isCarrier(part: IrPart): boolean {
  const own = part.meta?.gemini;
  return part.kind === 'thinking' && part.redacted === true && own !== undefined && own.text === undefined;
}

function isSigned(parts: readonly JsonObject[]): boolean {
  return parts.some((part) => part.thoughtSignature !== undefined);
}

function isMedia(part: IrPart): part is MediaPart {
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'video' || part.kind === 'document';
}

type MediaPart = ImagePart | AudioPart | VideoPart | DocumentPart;

function lowerMedia(part: MediaPart): JsonObject {
  const { inlineData, fileData, ...own } = part.meta?.gemini ?? {};
  const { source } = part;
  // Lift keeps the inner members it does not know as objects under the same names.
  if (source.kind === 'base64') {
    return { inlineData: { mimeType: source.mediaType, data: source.data, ...objectIn(inlineData) }, ...own };
  }
  return { fileData: { ...lowerUri(source), ...objectIn(fileData) }, ...own };
}

function lowerUri(source: Exclude<MediaSource, { kind: 'base64' }>): JsonObject {
  const fileUri = source.kind === 'url' ? source.url : source.fileId;
  return compact({ mimeType: source.mediaType ?? mediaTypeOf(fileUri), fileUri });
}

/** Gemini takes arguments as an object; an empty text is a call without arguments. */
function argumentsObject(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseShallowObject(text);
  if (value === undefined) throw new AbpError('invalid_request', 'the arguments of a tool call are not a JSON object');
  return value;
}
