import { objectAt, quotedAt, type Span, unquote } from './literal.ts';
import type { Wonder } from './wonders.ts';

/** Ways in which an answer of a good status goes wrong. */
export type Trouble = 'pause' | 'pause-always' | 'refuse' | 'failed-status' | 'html' | 'gzip' | 'byte-order-mark' | 'overflow';

/** One act that a sentence of the prompt asks of the sim. */
export type Act =
  /** `broken`: the arguments are no JSON, as a model writes them now and then. */
  | { readonly kind: 'call'; readonly name: string; readonly input: string | undefined; readonly broken?: true }
  | { readonly kind: 'write'; readonly text: string; readonly path: string }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'fail'; readonly status: number }
  | { readonly kind: 'cut' }
  /** The token limit comes in the middle of a call. */
  | { readonly kind: 'cut-call' }
  | { readonly kind: 'show'; readonly wonder: Wonder }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'wait'; readonly ms: number; readonly eachWord: boolean };

/** An act and whether its sentence begins with "then", which puts it after the results of the calls before it. */
export interface Sentence {
  readonly act: Act;
  readonly follows: boolean;
}

interface Found {
  readonly act: Act;
  readonly start: number;
  readonly end: number;
}

interface Rule {
  /** A prompt with the phrase, and what it does, as the documentation shows them. */
  readonly example: string;
  readonly does: string;
  readonly pattern: RegExp;
  /** The phrase counts only where a sentence can begin: everyday words are otherwise found everywhere. */
  readonly atSentenceStart?: boolean;
  readonly read: (text: string, match: RegExpExecArray) => { readonly act: Act; readonly end: number } | undefined;
}

const MAX_SENTENCES = 64;
/** Bounds the work on a text full of phrases that begin like a command and are none. */
const MAX_TRIES = 64;
const MAX_WAIT_MS = 600_000;
const THEN = /\b(?:then|after that|afterwards|next),?\s+(?:please\s+)?$/i;
const SENTENCE_START = /(?:^|[\n.!?;,:>"(]|\b(?:please|then|and|now))\s*$/i;
const WITH = /\s+with\b(?:\s+(?:the\s+)?(?:arguments?|input)(?=\s*[:{`]))?\s*:?\s*(?:```(?:json)?\s*)?/iy;
const BROKEN = /\s+with (?:broken|malformed|invalid) arguments\b/iy;
const INTO_FILE = /\s+(?:in)?to (?:the|a) (?:new )?file\s+/giy;
const RESULT_WORDS = /^(?:(?:the|its|their|that)(?: tool(?:'s)?)? (?:results?|output|contents?)|what(?:ever)? (?:it|the tool) \w+)[.!]?$/i;

const WONDERS: Readonly<Record<string, Wonder>> = {
  image: 'image',
  picture: 'image',
  audio: 'audio',
  'code execution': 'code',
  'web search': 'search',
  'document citation': 'document',
};

const TROUBLES: readonly (Pick<Rule, 'pattern' | 'example' | 'does'> & { readonly trouble: Trouble })[] = [
  {
    trouble: 'pause-always',
    pattern: /\bpause the turn again and again\b/gi,
    example: 'Pause the turn again and again.',
    does: 'ends with `pause_turn` however often it is asked to go on',
  },
  {
    trouble: 'pause',
    pattern: /\bpause the turn\b(?! again and again)/gi,
    example: 'Pause the turn.',
    does: 'ends with `pause_turn` (`sim:claude`) and finishes when it is asked to go on; callers of other dialects read that a limit was reached',
  },
  {
    trouble: 'refuse',
    pattern: /\brefuse the request\b/gi,
    example: 'Refuse the request.',
    does: 'refuses in the words of the dialect',
  },
  {
    trouble: 'failed-status',
    pattern: /\bend with (?:the )?status failed\b/gi,
    example: 'End with the status failed.',
    does: 'answers 200 and says in the body that it failed: `status: failed` on Responses, an error body elsewhere',
  },
  {
    trouble: 'html',
    pattern: /\bsend an html page\b/gi,
    example: 'Send an HTML page.',
    does: 'answers 200 with a page, as a proxy before an engine does',
  },
  {
    trouble: 'gzip',
    pattern: /\b(?:compress|gzip) the answer\b/gi,
    example: 'Gzip the answer.',
    does: 'compresses its bytes although nobody asked for it, streamed or not',
  },
  {
    trouble: 'byte-order-mark',
    pattern: /\bbegin with a byte order mark\b/gi,
    example: 'Begin with a byte order mark.',
    does: 'puts the three bytes of a BOM before the answer',
  },
  {
    trouble: 'overflow',
    pattern: /\boverflow the context\b/gi,
    example: 'Overflow the context.',
    does: 'fails as the vendor does when the prompt is too long',
  },
];

/** The phrases that are recognised anywhere in a text. */
const COMMANDS: readonly Rule[] = [
  ...TROUBLES.map(({ trouble, ...row }): Rule => ({ ...row, read: (_, match) => done(match, { kind: 'trouble', trouble }) })),
  {
    example: 'Show an image. Show audio. Show a code execution. Show a web search. Show a document citation.',
    does: 'puts generated media, code that the engine ran with its result, hosted search results with their citations, or a citation of a document into the answer, as the vendor of the dialect writes them; where it has no such thing, the answer says so',
    pattern: /\bshow (?:an? |the )?(image|picture|audio|code execution|web search|document citation)\b/gi,
    read: (_, match) => done(match, { kind: 'show', wonder: WONDERS[(match[1] ?? '').toLowerCase()] ?? 'image' }),
  },
  {
    example: 'Call the tool look_up with {"id": 12345678901234567890}.',
    does: 'calls the tool with these arguments, digits kept; several sentences are parallel calls, "then" puts one after the results; "with broken arguments" writes arguments that are no JSON',
    pattern: /\bcall (?:the )?tool\s+[`"']?([\w.:/-]*\w)[`"']?/gi,
    read: readCall,
  },
  {
    example: 'Write the text "hello" to the file notes.txt',
    does: 'calls whichever tool of the request writes files',
    pattern: /\bwrite the text\s+/gi,
    read: readWrite,
  },
  {
    example: 'Fail with 429.',
    does: 'answers with this status, and a `retry-after` where the vendor sends one',
    pattern: /\bfail with (?:status |an? |http )*([45]\d\d)\b/gi,
    read: (_, match) => done(match, { kind: 'fail', status: Number(match[1]) }),
  },
  {
    example: 'Be cut in a tool call.',
    does: 'reaches the token limit in the middle of the arguments of a call',
    pattern: /\bbe cut in (?:a|the) tool call\b/gi,
    read: (_, match) => done(match, { kind: 'cut-call' }),
  },
  {
    example: 'Cut the stream.',
    does: 'breaks the connection off in the middle of the answer',
    pattern: /\bcut the stream\b/gi,
    read: (_, match) => done(match, { kind: 'cut' }),
  },
  {
    example: 'Wait 2 seconds. Wait 50 ms between words.',
    does: 'is silent first, or writes slowly; at most ten minutes',
    pattern: /\bwait (\d{1,7}) ?(ms|milliseconds?|s|seconds?)\b( between (?:the )?(?:words|deltas))?/gi,
    read: readWait,
  },
];

const RULES: readonly Rule[] = [
  ...COMMANDS,
  {
    example: 'Say exactly: all is well',
    does: 'answers with these words; what stands in quotes, else the rest of the line',
    pattern: /\b(?:say|answer with|reply with|respond with)(?:\s+exactly)?\b\s*:?[ \t]*/gi,
    atSentenceStart: true,
    read: readSay,
  },
];

/** Every phrase with an example and what it does, for the documentation. */
export const PHRASES: readonly Pick<Rule, 'example' | 'does'>[] = RULES.map(({ example, does }) => ({ example, does }));

/** All sentences of a prompt that the sim understands, in order. Everything else in it is ignored. */
export function readSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let pending = RULES.map((rule) => firstMatch(rule, text, 0));
  while (sentences.length < MAX_SENTENCES) {
    const next = earliest(pending);
    if (next === undefined) break;
    sentences.push({ act: next.act, follows: THEN.test(text.slice(Math.max(0, next.start - 24), next.start)) });
    const from = Math.max(next.end, next.start + 1);
    pending = RULES.map((rule, at) => (startOf(pending[at]) < from ? firstMatch(rule, text, from) : pending[at]));
  }
  return sentences;
}

function earliest(pending: readonly (Found | undefined)[]): Found | undefined {
  return pending.reduce((first, found) => (startOf(found) < startOf(first) ? found : first), undefined);
}

function startOf(found: Found | undefined): number {
  return found?.start ?? Number.POSITIVE_INFINITY;
}

function firstMatch(rule: Rule, text: string, from: number): Found | undefined {
  const pattern = new RegExp(rule.pattern);
  pattern.lastIndex = from;
  let tries = 0;
  for (let match = pattern.exec(text); match !== null && tries < MAX_TRIES; match = pattern.exec(text)) {
    if (rule.atSentenceStart && !SENTENCE_START.test(text.slice(Math.max(0, match.index - 24), match.index))) continue;
    const read = rule.read(text, match);
    if (read !== undefined) return { ...read, start: match.index };
    tries += 1;
  }
  return undefined;
}

function done(match: RegExpExecArray, act: Act): { act: Act; end: number } {
  return { act, end: match.index + match[0].length };
}

function readCall(text: string, match: RegExpExecArray): { act: Act; end: number } {
  const name = match[1] ?? '';
  const end = match.index + match[0].length;
  const broken = endOf(BROKEN, text, end);
  if (broken !== undefined) return { act: { kind: 'call', name, input: undefined, broken: true }, end: broken };
  const start = endOf(WITH, text, end);
  if (start === undefined) return { act: { kind: 'call', name, input: undefined }, end };
  const input = objectAt(text, start) ?? phraseAt(text, start);
  return { act: { kind: 'call', name, input: input.value }, end: input.end };
}

function readWrite(text: string, match: RegExpExecArray): { act: Act; end: number } | undefined {
  const start = match.index + match[0].length;
  const quoted = quotedAt(text, start);
  const joint = quoted === undefined ? undefined : endOf(INTO_FILE, text, quoted.end);
  if (quoted !== undefined && joint !== undefined) return fileAct(text, quoted.value, joint);
  const unquoted = new RegExp(INTO_FILE.source, 'gi');
  unquoted.lastIndex = start;
  const found = unquoted.exec(text);
  return found === null ? undefined : fileAct(text, unquote(text.slice(start, found.index)), found.index + found[0].length);
}

function fileAct(text: string, content: string, at: number): { act: Act; end: number } | undefined {
  const quoted = quotedAt(text, at);
  const word = /[^\s<>]*/y;
  word.lastIndex = at;
  const bare = (word.exec(text)?.[0] ?? '').replace(/(?<![.,;:!?)\]"'`])[.,;:!?)\]"'`]+$/, '');
  const path = quoted?.value ?? bare;
  return path === '' ? undefined : { act: { kind: 'write', text: content, path }, end: quoted?.end ?? at + bare.length };
}

function readWait(_: string, match: RegExpExecArray): { act: Act; end: number } {
  const unit = (match[2] ?? 'ms').startsWith('m') ? 1 : 1000;
  return done(match, { kind: 'wait', ms: Math.min(Number(match[1]) * unit, MAX_WAIT_MS), eachWord: match[3] !== undefined });
}

/** "Answer with the result" asks for what the sim does anyway. */
function readSay(text: string, match: RegExpExecArray): { act: Act; end: number } | undefined {
  const { value, end } = phraseAt(text, match.index + match[0].length);
  return value === '' || RESULT_WORDS.test(value) ? undefined : { act: { kind: 'say', text: value }, end };
}

/** Free text at `at`: what is between quotes, else the rest of the line up to the next command. */
function phraseAt(text: string, at: number): Span {
  const quoted = quotedAt(text, at);
  if (quoted !== undefined) return quoted;
  const newline = text.indexOf('\n', at);
  const line = text.slice(at, newline === -1 ? text.length : newline);
  const next = commandStart(line);
  if (next !== undefined) return { value: withoutJoint(line.slice(0, next)), end: at + next };
  return { value: withoutStrayTag(line).trim(), end: at + line.length };
}

function commandStart(line: string): number | undefined {
  const starts = COMMANDS.map((rule) => line.search(rule.pattern)).filter((start) => start !== -1);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** The words that lead over to the next command belong to neither side. */
function withoutJoint(text: string): string {
  let kept = text.trimEnd();
  for (let before = ''; before !== kept; ) {
    before = kept;
    kept = kept.replace(/(?:(?:^|\s)(?:and|then|please|after that)|[,;])$/i, '').trimEnd();
  }
  return kept;
}

/** An agent that wraps the prompt in a tag leaves the closing one on the last line. */
function withoutStrayTag(line: string): string {
  const tag = /<\/([\w-]+)>\s*$/.exec(line);
  return tag === null || line.includes(`<${tag[1]}`) ? line : line.slice(0, tag.index);
}

/** Where a match of the sticky pattern at `at` ends. */
function endOf(sticky: RegExp, text: string, at: number): number | undefined {
  const pattern = new RegExp(sticky);
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
