import { isJsonObject, type Json } from './json.ts';

/** Stands where a secret was. */
export const REDACTED = '[redacted]';

/**
 * Keys as their issuers write them. Each begins with a word that nothing else begins with, and is at least `SHORTEST` characters
 * long; the scanner below depends on both.
 */
const SHAPES = [
  'sk-ant-[\\w-]{16,}', // Anthropic
  'sk-(?:proj|svcacct|admin|or|kimi|lf)-[\\w-]{16,}', // OpenAI, OpenRouter, Kimi, Langfuse
  'sk-[A-Za-z0-9]{32,}', // OpenAI, DeepSeek, Moonshot
  'sk_(?:live|test)_\\w{16,}', // Stripe
  'rk_(?:live|test)_\\w{16,}',
  'AIza[\\w-]{35}', // Google
  'ya29\\.[\\w-]{20,}',
  'AQ\\.[\\w-]{30,}',
  'gh[pousr]_[A-Za-z0-9]{30,}', // GitHub
  'github_pat_\\w{22,}',
  'glpat-[\\w-]{20,}', // GitLab
  'A(?:KIA|SIA)[0-9A-Z]{16}', // AWS
  'ABSK[A-Za-z0-9]{16,}',
  'gsk_[A-Za-z0-9]{20,}', // Groq
  'xai-[\\w-]{20,}', // xAI
  'csk-[a-z0-9]{20,}', // Cerebras
  'pplx-[A-Za-z0-9]{20,}', // Perplexity
  'nvapi-[\\w-]{20,}', // NVIDIA
  'hf_[A-Za-z0-9]{20,}', // Hugging Face
  'r8_[A-Za-z0-9]{20,}', // Replicate
  'fw_[A-Za-z0-9]{20,}', // Fireworks
  'tgp_v1_[\\w-]{20,}', // Together
  'xox[abeoprs]-[\\w-]{15,}', // Slack
  'npm_[A-Za-z0-9]{30,}', // npm
  'abp_[\\w-]{32,}', // ours
] as const;

/**
 * A JSON Web Token, or a run of characters that only begins like one. The rest is optional so that the run is read once: a pattern that
 * fails at its end would be tried again at every later beginning in it.
 */
const WEB_TOKEN = 'eyJ[\\w-]{8,}(\\.eyJ[\\w-]{8,}\\.[\\w-]{8,})?';

/** No shape is shorter; so every run of token characters that holds one covers a byte in each stride of this length. */
const SHORTEST = 20;

/** A key begins where a word does: in JSON text that is also after an escape, in an address after a percent escape. */
const WORD_BEGINS = '(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt])|(?<=\\\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2}))';
const KEY = new RegExp(`${WORD_BEGINS}(?:${SHAPES.join('|')})`, 'g');
const WEB_TOKEN_RUN = new RegExp(`${WORD_BEGINS}${WEB_TOKEN}`, 'g');
/** `\\u000a` before a key. */
const LONGEST_ESCAPE = 6;
/** A bearer token has a digit; the name of a placeholder has none. */
const BEARER = /([Bb]earer )(?=[\w.~+/-]*\d)[\w.~+/-]{20,}=*/g;
/** One that is cut off ends with the text or, inside JSON, with its string. */
const PRIVATE_KEY = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^"]*?(?:-----END \1PRIVATE KEY-----|(?=")|$)/g;
/** A body without this need not be looked through for the two above. */
const MARKS = ['Bearer ', 'bearer ', ' PRIVATE KEY-----'].map((mark) => Buffer.from(mark));

const SECRET_NAME =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|(?:^|[-_.])(?:key|token|secret|password|passphrase|credential|signature)s?$/i;
/** Names that end like a secret's and count something instead. */
const COUNTED = /tokens$|^idempotency-key$|cache_key$/i;
const SECRET_QUERY =
  /([?&](?:key|api_?key|access_token|refresh_token|id_token|token|password|sslpassword|secret|signature|sig|x-amz-[a-z-]+)=)[^&#\s"]*/gi;
/** It begins at the colon of the scheme, which the scheme itself cannot hold: a search for the scheme would read long names many times. */
const ADDRESS_PASSWORD = /(?<=[a-z0-9+.-]:\/\/)([^\s/?#@:"]*):[^\s/?#"]*@/gi;

const CREDENTIAL_PARAMETER = /^(?:key|api_?key|access_token|refresh_token|id_token|token|password|secret|signature|sig|x-amz-.*)=/i;

/** A path and query without the parameters that hold a credential; everything else keeps its bytes. */
export function withoutCredentials(pathAndQuery: string): string {
  const mark = pathAndQuery.indexOf('?');
  if (mark === -1) return pathAndQuery;
  const kept = pathAndQuery
    .slice(mark + 1)
    .split('&')
    .filter((parameter) => !CREDENTIAL_PARAMETER.test(parameter));
  return `${pathAndQuery.slice(0, mark)}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}

/** Characters from which on a text is looked through before it is searched. */
const LONG = 4096;

/** Finds and removes secrets. */
export interface Redactor {
  /** The text with `[redacted]` for each secret: keys, bearer tokens, private keys, passwords in addresses, own patterns. */
  text(text: string): string;
  /** Whether a body holds a key, a bearer token, a private key or a match of an own pattern. */
  holdsSecret(bytes: Buffer): boolean;
  /** The body without them; every other byte stays. */
  body(bytes: Buffer): Buffer;
  /** A flat list of names and values without the values of secret names. */
  headers(raw: readonly string[]): string[];
  /** A value without the members of secret names, and with each text redacted. */
  value(value: Json, name?: string): Json;
}

/** Values that this thread has learned while it runs. A secret is never forgotten: texts of before may hold it. */
const learned = new Set<string>();

/** From now on every redactor of this thread knows these values, too. */
export function learnSecrets(values: readonly string[]): void {
  for (const value of values) learned.add(value);
}

/** How many values have been learned: what was kept while there were fewer may hold one that is known since. */
export function secretsLearned(): number {
  return learned.size;
}

/** Secrets that are known by their value, whatever they look like. */
class KnownValues {
  readonly #values: readonly string[];
  #forms: readonly string[] = [];
  /** The same as bytes, one character for each. */
  #inBytes: readonly string[] = [];
  #shortest = SHORTEST;
  /** How many values had been learned when the forms were made. */
  #upTo = -1;

  constructor(values: readonly string[]) {
    this.#values = values;
  }

  /** Nothing that is shorter holds one. */
  get shortest(): number {
    this.#refresh();
    return this.#shortest;
  }

  without(text: string): string {
    this.#refresh();
    return this.#forms.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
  }

  withoutInBytes(text: string): string {
    this.#refresh();
    return this.#inBytes.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
  }

  in(bytes: Buffer): boolean {
    this.#refresh();
    return this.#forms.some((form) => bytes.includes(form));
  }

  #refresh(): void {
    if (this.#upTo === learned.size) return;
    this.#upTo = learned.size;
    const all = [...this.#values, ...learned];
    this.#forms = [...new Set(all.flatMap((value) => secretForms(value)))].toSorted((a, b) => b.length - a.length);
    this.#inBytes = this.#forms.map((form) => Buffer.from(form, 'utf8').toString('latin1'));
    this.#shortest = Math.min(SHORTEST, ...this.#forms.map((form) => form.length));
  }
}

/** Puts as many other characters where known secrets stand, so that lengths stay true. */
export interface SecretMask {
  text(text: string): string;
  /** The same buffer where it holds none. */
  bytes(bytes: Buffer): Buffer;
  /** How many bytes at the end may be the beginning of a secret. */
  opened(bytes: Buffer): number;
}

/** Undefined where no value is long enough to be known by it. */
export function secretMask(values: readonly string[]): SecretMask | undefined {
  const forms = [...new Set(values.flatMap((value) => secretForms(value)))].toSorted((a, b) => b.length - a.length);
  const inBytes = forms.map((form) => Buffer.from(form, 'utf8'));
  if (forms.length === 0) return undefined;
  return {
    text: (text) => forms.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, maskOf(form.length)) : rest), text),
    bytes: (bytes) => inBytes.reduce(masked, bytes),
    opened: (bytes) => Math.max(...inBytes.map((form) => overlap(bytes, form))),
  };
}

function maskOf(length: number): string {
  return length < REDACTED.length ? '*'.repeat(length) : REDACTED.padEnd(length, '*');
}

function masked(bytes: Buffer, form: Buffer): Buffer {
  let at = bytes.indexOf(form);
  if (at === -1) return bytes;
  const copy = Buffer.from(bytes);
  for (; at !== -1; at = copy.indexOf(form, at + form.length)) copy.write(maskOf(form.length), at, 'latin1');
  return copy;
}

/** The longest end of the bytes with which the form begins. */
function overlap(bytes: Buffer, form: Buffer): number {
  for (let length = Math.min(bytes.length, form.length - 1); length > 0; length -= 1)
    if (bytes[bytes.length - length] === form[0] && bytes.subarray(bytes.length - length).equals(form.subarray(0, length))) return length;
  return 0;
}

/** Takes these values out of a text, in every form that it may hold them in, and nothing else: what is JSON stays JSON. */
export function withoutValues(values: readonly string[]): (text: string) => string {
  const known = new KnownValues(values);
  return (text) => known.without(text);
}

/** A redactor that knows the shapes above, the given patterns, and the given values in every form that a text may hold them in. */
export function redactor(patterns: readonly string[] = [], values: readonly string[] = []): Redactor {
  const own = patterns.map((source) => new RegExp(source, 'g'));
  const known = new KnownValues(values);
  const inBody = (text: string): string =>
    own.reduce(
      (rest, pattern) => rest.replace(pattern, REDACTED),
      withoutWebTokens(text).replace(KEY, REDACTED).replace(BEARER, `$1${REDACTED}`).replace(PRIVATE_KEY, REDACTED),
    );
  const text = (given: string): string => {
    // Nearly every header and name is too short to hold a key, and holds no parameter.
    if (own.length === 0 && given.length < known.shortest && !given.includes('=') && !given.includes('@')) return given;
    const rest = known.without(given);
    // Nearly no long text holds one, and to look costs a tenth of a search for every shape.
    const clean = own.length > 0 || given.length < LONG || holdsKnownSecret(Buffer.from(rest)) ? inBody(rest) : rest;
    const addressed = clean.includes('@') && clean.includes('://') ? clean.replace(ADDRESS_PASSWORD, `$1:${REDACTED}@`) : clean;
    return addressed.includes('=') ? addressed.replace(SECRET_QUERY, `$1${REDACTED}`) : addressed;
  };
  const value = (given: Json, name = ''): Json => {
    if (Array.isArray(given)) return given.map((item: Json) => value(item, name));
    if (isJsonObject(given)) return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, value(member, key)]));
    if (typeof given !== 'string' || given === '') return given;
    return isSecretName(name) ? REDACTED : text(given);
  };
  return {
    text,
    value,
    holdsSecret: (bytes) => known.in(bytes) || holdsKnownSecret(bytes) || (own.length > 0 && matchesAny(own, bytes.toString('utf8'))),
    // Every byte is one character of Latin-1; own patterns may speak of others, so with them the text is read as UTF-8.
    body: (bytes) =>
      own.length === 0
        ? Buffer.from(inBody(known.withoutInBytes(bytes.toString('latin1'))), 'latin1')
        : Buffer.from(inBody(known.without(bytes.toString('utf8')))),
    headers: (raw) => raw.map((item, at) => (at % 2 === 0 ? item : isSecretName(raw[at - 1] ?? '') ? REDACTED : text(item))),
  };
}

function withoutWebTokens(text: string): string {
  if (!text.includes('eyJ')) return text;
  return text.replace(WEB_TOKEN_RUN, (run: string, rest: string | undefined) => (rest === undefined ? run : REDACTED));
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !COUNTED.test(name);
}

function matchesAny(patterns: readonly RegExp[], text: string): boolean {
  return patterns.some((pattern) => {
    pattern.lastIndex = 0;
    return pattern.test(text);
  });
}

const TOKEN = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.') TOKEN[character.charCodeAt(0)] = 1;

/** The first three characters of every shape, as numbers. */
const BEGINNINGS = new Set(
  ['sk-', 'sk_', 'rk_', 'AIz', 'ya2', 'AQ.', 'ghp', 'gho', 'ghu', 'ghs', 'ghr', 'git', 'glp', 'AKI', 'ASI', 'ABS', 'gsk', 'xai', 'csk']
    .concat(['ppl', 'nva', 'hf_', 'r8_', 'fw_', 'tgp', 'xox', 'npm', 'abp', 'eyJ'])
    .map((word) => (word.charCodeAt(0) << 16) | (word.charCodeAt(1) << 8) | word.charCodeAt(2)),
);

const FIRST = new Uint8Array(256);
for (const word of BEGINNINGS) FIRST[word >> 16] = 1;

/**
 * The same question as whether `body` would change anything, without reading every byte: bodies are large and nearly all of them hold
 * no secret. A key is an unbroken run of token characters, so one look per stride finds every run that is long enough.
 */
function holdsKnownSecret(bytes: Buffer): boolean {
  for (let at = SHORTEST - 1; at < bytes.length; at += SHORTEST) {
    if (TOKEN[bytes[at] ?? 0] === 0) continue;
    const start = runStart(bytes, at);
    at = runEnd(bytes, at);
    if (at - start >= SHORTEST && runHoldsKey(bytes, start, at)) return true;
  }
  return MARKS.some((mark) => bytes.includes(mark)) && matchesAny([BEARER, PRIVATE_KEY], bytes.toString('latin1'));
}

function runStart(bytes: Buffer, inside: number): number {
  let start = inside;
  while (start > 0 && TOKEN[bytes[start - 1] ?? 0] === 1) start -= 1;
  return start;
}

function runEnd(bytes: Buffer, inside: number): number {
  let end = inside + 1;
  while (end < bytes.length && TOKEN[bytes[end] ?? 0] === 1) end += 1;
  return end;
}

/** Few words begin like a key; from the first of those on, the run is compared with the shapes, with what stands before it. */
function runHoldsKey(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at <= end - SHORTEST; at += 1) {
    if (FIRST[bytes[at] ?? 0] === 0) continue;
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    if (!BEGINNINGS.has(word)) continue;
    const rest = bytes.toString('latin1', Math.max(0, at - LONGEST_ESCAPE), end);
    return matchesAny([KEY], rest) || withoutWebTokens(rest) !== rest;
  }
  return false;
}

/** A shorter value would be found in every text. */
const SHORTEST_VALUE = 8;

/**
 * A secret as it may stand in a text: plain, as JSON writes it once and twice, with slashes escaped or in ASCII, as addresses write it, with
 * digits of either case, as HTML writes it, and inside base64, where it begins at any of three places of a group. For a key of letters and digits nearly all of
 * these are the same. Longest first: one form may hold another.
 */
export function secretForms(value: string, shortest = SHORTEST_VALUE): string[] {
  if (value.length < shortest) return [];
  const encoded = [0, 1, 2].flatMap((offset) => [insideBase64(value, offset, 'base64'), insideBase64(value, offset, 'base64url')]);
  // A short value leaves so little in base64 that it would be found in every text.
  const forms = new Set([value, ...inJson(value), ...inAddress(value), inHtml(value), ...encoded.filter(isLong)]);
  return [...forms].filter((form) => form.length >= shortest).toSorted((a, b) => b.length - a.length);
}

function isLong(form: string): boolean {
  return form.length >= SHORTEST_VALUE;
}

function inJson(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1);
  const escapes = [once, once.replaceAll('/', '\\/'), once.replaceAll(/[\u0080-\uffff]/g, unicodeEscape)];
  return [...escapes, JSON.stringify(once).slice(1, -1)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function inAddress(value: string): string[] {
  const inPath = encodeURIComponent(value.toWellFormed());
  const inQuery = new URLSearchParams({ '': value }).toString().slice(1);
  // Strict encoders leave out of RFC 3986 what JavaScript leaves in.
  const strict = inPath.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [inPath, inQuery, strict, encodeURI(value.toWellFormed())];
  return [...forms, ...forms.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function inHtml(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => HTML[character] ?? character);
}

/** The characters of base64 that depend on the value alone when `offset` bytes stand before it. */
function insideBase64(value: string, offset: number, encoding: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value, 'utf8')]);
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString(encoding).slice(Math.ceil((offset * 8) / 6), whole);
}

const MASKED_NAME = /(^|_|-)(key|token|secret|password|passphrase|credential)s?$/i;
const MASK = '••••';
/** The id of a key opens nothing: budgets name by it whom they are for. */
const KEY_ID = /^key_[0-9a-f]{32}$/;

/** Members whose addresses are secrets themselves: who knows the path of such a hook can post to it. */
const HOOK_NAME = /webhooks?$/;

/**
 * The value with everything secret replaced: members named like secrets, headers that somebody configured, passwords inside addresses, and the
 * paths of webhooks.
 */
export function maskSecrets(value: Json, name = ''): Json {
  if (HOOK_NAME.test(name)) return maskHooks(value);
  if (name === 'headers' && isJsonObject(value)) return Object.fromEntries(Object.keys(value).map((header) => [header, MASK]));
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskSecrets(member, key)]));
  if (Array.isArray(value)) return value.map((item: Json) => maskSecrets(item, name));
  if (typeof value !== 'string' || value === '') return value;
  return MASKED_NAME.test(name) && !KEY_ID.test(value) ? MASK : maskAddress(value);
}

function maskHooks(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => maskHooks(item));
  if (typeof value === 'string') return maskPath(value);
  if (!isJsonObject(value)) return value;
  const shown = (name: string, member: Json): Json =>
    name === 'url' && typeof member === 'string' ? maskPath(member) : maskSecrets(member, name);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(name, member)]));
}

/** An address as far as it says where something goes, and not what opens the door there. */
function maskPath(text: string): string {
  const address = URL.parse(text);
  if (address === null) return text === '' ? text : MASK;
  return address.pathname === '/' && address.search === '' ? maskAddress(text) : `${address.protocol}//${address.host}/${MASK}`;
}

/** `postgres://user:secret@host/db` without its secret, also when it stands in the query. */
export function maskAddress(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@]*?):[^/?#]*@/i, `$1:${MASK}@`).replace(SECRET_QUERY, `$1${MASK}`);
}
