import { ownTurn } from '../../base/bounded/turns.ts';
import { AbpError } from '../../contract/errors.ts';
import { BOUNDING } from './request-bound.ts';
import { BYTES, longEnd, malformed, Skip, shortEnd, skipSpace } from './skip-value.ts';

const { QUOTE, CLOSE_BRACE, OPEN_BRACE, COLON, COMMA } = BYTES;

/** Where a value stands in the body, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface NamedSpan extends Span {
  readonly name: string;
  /** How many values it holds. */
  readonly values: number;
}

/** Longer names of models are refused: no vendor has one, and a name is looked up, matched and written down. */
const LONGEST_MODEL = 512;
/** No request of a vendor has more than some dozen members. */
const MOST_MEMBERS = 1000;

/** Members of a body that routing needs, found without parsing it. */
export interface Scan {
  readonly model?: string;
  /** Span of the model's string including its quotes, for a splice. */
  readonly modelSpan?: Span;
  readonly stream: boolean;
  /** Members that may name further models. */
  readonly naming: readonly NamedSpan[];
  /** Members that say how much the call may use. */
  readonly bounding: readonly NamedSpan[];
  /** The list of messages, where there is one. */
  readonly conversation?: Conversation;
  /** The caller's own name for the conversation, as vendors take it for their caches. */
  readonly cacheKey?: Span;
  /** It asks for a cache that lives for an hour or longer. */
  readonly longCache?: true;
  /** How many values it holds, by their commas and brackets: what it takes to read them goes by that as much as by the bytes. */
  readonly values: number;
}

/** Where the conversation stands, and where its first messages end. */
export interface Conversation extends Span {
  readonly ends: readonly number[];
}

/** Members in which vendors take a conversation. */
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'contents', 'input']);

/** Members in which vendors take models beside `model`: fallbacks, a stored prompt, tools that work with a model of their own. */
const NAMING: ReadonlySet<string> = new Set(
  ['models', 'fallback', 'fallbacks', 'fallback_model', 'fallback_models', 'draft_model', 'prompt', 'tools', 'plugins'].concat(
    'context_management',
    'generateContentRequest',
  ),
);

/**
 * Walks the top-level members of a JSON object and reads `model` and `stream`. Values are skipped, not parsed: an unknown field of
 * tomorrow costs a byte scan. Keys are compared decoded, and a repeated key is refused, because two readers could pick different ones.
 */
export function scanBody(body: Buffer): Scan {
  const scanner = new Scanner(body);
  scanner.goOn(body.length);
  return scanner.found;
}

/** As much as is scanned before others have their turn: some milliseconds, whatever the bytes are. */
const SLICE = 512 * 1024;

/** The same for a large body, in slices between which other calls have their turn. `naming`: the members to tell the places of. */
export async function scanInTurns(body: Buffer, naming: ReadonlySet<string> = NAMING): Promise<Scan> {
  const scanner = new Scanner(body, naming);
  do await ownTurn();
  while (!scanner.goOn(SLICE));
  return scanner.found;
}

/** A scan that can stop inside a value and go on later. */
class Scanner {
  readonly #body: Buffer;
  readonly #naming: ReadonlySet<string>;
  readonly #found: {
    model?: string;
    modelSpan?: Span;
    stream: boolean;
    naming: NamedSpan[];
    bounding: NamedSpan[];
    conversation?: Conversation;
    cacheKey?: Span;
    longCache?: true;
  } = { stream: false, naming: [], bounding: [] };
  readonly #seen = new Set<string>();
  #values = 0;
  #at: number;
  /** The value that the scan is in. */
  #inside: { readonly name: string; readonly start: number; readonly skip: Skip } | undefined;

  constructor(body: Buffer, naming = NAMING) {
    this.#body = body;
    this.#naming = naming;
    const open = skipSpace(body, 0);
    if (body[open] !== OPEN_BRACE) throw malformed('the body is not a JSON object');
    this.#at = skipSpace(body, open + 1);
  }

  get found(): Scan {
    return { ...this.#found, values: this.#values };
  }

  /** Scans some more bytes; true when the end was reached. */
  goOn(bytes: number): boolean {
    const body = this.#body;
    const until = this.#at + bytes;
    for (;;) {
      if (this.#inside === undefined) {
        if (this.#seen.size === 0 && body[this.#at] === CLOSE_BRACE) return this.#end();
        const key = readKey(body, this.#at, this.#seen);
        const start = skipSpace(body, key.end);
        this.#inside = { name: key.name, start, skip: new Skip(body, start, CONVERSATION.has(key.name)) };
      }
      const { name, start, skip } = this.#inside;
      if (!skip.goOn(until)) {
        this.#at = skip.at;
        return false;
      }
      this.#inside = undefined;
      this.#note(start, skip);
      this.#take(name, { start, end: skip.at, values: skip.values });
      this.#at = skipSpace(body, skip.at);
      if (body[this.#at] === CLOSE_BRACE) return this.#end();
      if (body[this.#at] !== COMMA) throw malformed(`unexpected byte at offset ${this.#at}`);
      this.#at = skipSpace(body, this.#at + 1);
    }
  }

  #note(start: number, { at: end, values, longCache, ends }: Skip): void {
    this.#values += values;
    if (longCache) this.#found.longCache = true;
    if (ends !== undefined) this.#found.conversation = { start, end, ends };
  }

  #take(name: string, { start, end, values }: Omit<NamedSpan, 'name'>): void {
    if (name === 'model' && this.#body[start] === QUOTE) {
      this.#found.model = readModel(this.#body, start, end);
      this.#found.modelSpan = { start, end };
    } else if (name === 'stream') this.#found.stream = this.#body.toString('latin1', start, end) === 'true';
    else if (this.#naming.has(name)) this.#found.naming.push({ name, start, end, values });
    else if (BOUNDING.has(name)) this.#found.bounding.push({ name, start, end, values });
    else if (name === 'prompt_cache_key') this.#found.cacheKey = { start, end };
  }

  #end(): true {
    if (skipSpace(this.#body, this.#at + 1) !== this.#body.length) throw malformed('there is text after the JSON object');
    return true;
  }
}

/** The body with another model name; every other byte stays. `splicedModel` are its pieces. */
export function spliceModel(body: Buffer, span: Span, model: string): Buffer {
  return Buffer.concat(splicedModel(body, span, model));
}

export function splicedModel(body: Buffer, span: Span, model: string): readonly Buffer[] {
  return [body.subarray(0, span.start), Buffer.from(JSON.stringify(model), 'utf8'), body.subarray(span.end)];
}

/** No member of a request has a longer name. */
const LONGEST_NAME = 4096;

function readKey(body: Buffer, at: number, seen: Set<string>): { name: string; end: number } {
  if (body[at] !== QUOTE) throw malformed(`a member name is expected at offset ${at}`);
  const end = nameEnd(body, at);
  const name = decode(body, at, end);
  if (seen.has(name)) throw malformed(`the member "${name}" is repeated`);
  if (seen.add(name).size > MOST_MEMBERS) throw malformed(`it has more than ${MOST_MEMBERS} members`);
  const colon = skipSpace(body, end);
  if (body[colon] !== COLON) throw malformed(`a colon is expected at offset ${colon}`);
  return { name, end: colon + 1 };
}

function nameEnd(body: Buffer, from: number): number {
  const short = shortEnd(body, from);
  const end = short > 0 ? short : longEnd(body, -short, from + LONGEST_NAME);
  if (end < 0) throw malformed(`a member name is longer than ${LONGEST_NAME} bytes`);
  return end;
}

function decode(body: Buffer, start: number, end: number): string {
  const inner = body.toString('utf8', start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_all, hex: string | undefined, char: string | undefined) =>
    hex === undefined ? (ESCAPES[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function readModel(body: Buffer, start: number, end: number): string {
  // An escape takes six bytes for one character.
  const name = end - start > 6 * LONGEST_MODEL + 2 ? undefined : decode(body, start, end);
  if (name !== undefined && name.length <= LONGEST_MODEL) return name;
  throw new AbpError('invalid_request', `The name of the model is longer than ${LONGEST_MODEL} characters.`);
}
