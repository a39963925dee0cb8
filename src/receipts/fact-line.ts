import { AbpError } from '../contract/errors.ts';
import type { CloseFact, Digest, Fact, OpenFact } from './facts.ts';

/**
 * A fact on its way to a receipt: each value as JSON text, its members in the order of RFC 8785 wherever they are written here. A
 * journal line is the values with tabs between them. JSON text holds no raw tab or line break, so the keeper only cuts lines apart and
 * puts receipts together. Lines are ASCII, which keeps every text of theirs at one byte per character.
 */
export interface OpenTexts {
  /** As it is, without quotes. */
  readonly run: string;
  readonly at: string;
  readonly plane: string;
  readonly task: string;
  readonly dialect: string;
  readonly engine: string;
  readonly backend: string;
  readonly requestedModel: string;
  readonly upstreamModel: string;
  readonly mode: string;
  readonly compatibility: string;
  readonly negotiation: string;
  readonly emulations: string;
  readonly fidelity: string;
  readonly request: string;
  readonly upstreamRequest: string;
  readonly recording: string;
  readonly enforcement: string;
  readonly tags: string;
  readonly keyId: string;
  readonly parent: string;
}

/** See `OpenTexts`. */
export interface CloseTexts {
  readonly run: string;
  readonly at: string;
  readonly status: string;
  readonly reason: string;
  readonly error: string;
  readonly response: string;
  readonly upstreamModel: string;
  readonly eventCount: string;
  readonly usage: string;
  readonly toolCalls: string;
  readonly attempts: string;
  readonly dispatchedMs: string;
  readonly firstByteMs: string;
  readonly lastByteMs: string;
  readonly cost: string;
  readonly replayable: string;
  readonly artifacts: string;
  readonly workspaceDelta: string;
  readonly backendVersion: string;
  /** The last one: whether a line has it is seen without cutting it apart. */
  readonly prices: string;
}

const OPEN_VALUES = 22;
const CLOSE_VALUES = 21;
type Seven = [string, string, string, string, string, string, string];
type OpenValues = readonly [...Seven, ...Seven, ...Seven, string];
type CloseValues = readonly [...Seven, ...Seven, ...Seven];

/** The journal line of a fact, without its line break. */
export function factLine(fact: Fact): string {
  return fact.fact === 'open' ? openLine(fact) : closeLine(fact);
}

function openLine(fact: OpenFact): string {
  const request = digestText(fact.request);
  const upstreamRequest = fact.upstreamRequest === fact.request ? request : digestText(fact.upstreamRequest);
  const requestedModel = nameText(fact.requestedModel);
  const upstreamModel = fact.upstreamModel === fact.requestedModel ? requestedModel : nameText(fact.upstreamModel);
  return (
    `open\t${fact.run}\t${fact.at}\t"${fact.plane}"\t${nameText(fact.task)}\t${nameText(fact.dialect)}\t${nameText(fact.engine)}` +
    `\t${nameText(fact.backend)}\t${requestedModel}\t${upstreamModel}\t${nameText(fact.mode)}\t"${fact.compatibility}"` +
    `\t${jsonText(fact.negotiation)}\t${listText(fact.emulations)}\t${listText(fact.fidelity)}\t${request}\t${upstreamRequest}` +
    `\t"${fact.recording}"\t"${fact.enforcement}"\t${listText(fact.tags)}\t${nameText(fact.keyId)}` +
    `\t${fact.parent === null ? 'null' : `"${fact.parent}"`}`
  );
}

function closeLine(fact: CloseFact): string {
  return (
    `close\t${fact.run}\t${fact.at}\t"${fact.status}"\t${nameText(fact.reason)}\t${jsonText(fact.error)}\t${responseText(fact.response)}` +
    `\t${nameText(fact.upstreamModel)}\t${fact.eventCount}\t${usageText(fact.usage)}\t${toolCallsText(fact.toolCalls)}\t${attemptsText(fact.attempts)}` +
    `\t${fact.dispatchedMs}\t${fact.firstByteMs}\t${fact.lastByteMs}\t${costText(fact.cost)}\t${fact.replayable}` +
    `\t${listText(fact.artifacts ?? NONE)}\t${jsonText(fact.workspaceDelta ?? null)}\t${nameText(fact.backendVersion ?? null)}\t${nameText(fact.prices)}`
  );
}

/** Members in the order of RFC 8785, because the text also goes into the hash of the content. */
function digestText(digest: Digest | null): string {
  return digest === null ? 'null' : `{"bytes":${digest.bytes},"sha256":"${digest.sha256}"}`;
}

export function responseText(response: CloseFact['response']): string {
  return response === null ? 'null' : `{"bytes":${response.bytes},"sha256":"${response.sha256}","status":${response.status}}`;
}

/** The counts are the engine's and may be anything that JSON calls a number; sums of them may be no number at all. */
function usageText(usage: CloseFact['usage']): string {
  if (usage === null) return 'null';
  return (
    `{"cache_read_tokens":${count(usage.cache_read_tokens)},"cache_write_tokens":${count(usage.cache_write_tokens)},"estimated":${usage.estimated}` +
    `,"input_tokens":${count(usage.input_tokens)},"output_tokens":${count(usage.output_tokens)},"thinking_tokens":${count(usage.thinking_tokens)}` +
    `,"web_search_requests":${count(usage.web_search_requests)}}`
  );
}

export function costText(cost: CloseFact['cost']): string {
  return cost === null ? 'null' : `{"nano_usd":${cost.nanoUsd},"price_version":${nameText(cost.priceVersion)}}`;
}

function count(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function attemptsText(attempts: CloseFact['attempts']): string {
  const texts = attempts.map(
    ({ engine, status, error, ms }) => `{"engine":${nameText(engine)},"error":${nameText(error)},"ms":${ms},"status":${status}}`,
  );
  return `[${texts.join(',')}]`;
}

function toolCallsText(calls: CloseFact['toolCalls']): string {
  if (calls.length === 0) return '[]';
  const texts = calls.map(
    ({ arguments_sha256: argumentsHash, id, name, result_sha256: resultHash }) =>
      `{"arguments_sha256":"${argumentsHash}","id":${nameText(id)},"name":${nameText(name)},"result_sha256":${nameText(resultHash)}}`,
  );
  return `[${texts.join(',')}]`;
}

/** Tasks, engines, models and reasons come again and again; looking their text up is much less code to run than making it. */
const known = new Map<string, string>();
const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 128;

function nameText(name: string | null): string {
  if (name === null) return 'null';
  const text = known.get(name);
  if (text !== undefined) return text;
  const made = jsonText(name);
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, made);
  return made;
}

const NONE: readonly object[] = [];

function listText(list: readonly (string | object)[]): string {
  return list.length === 0 ? '[]' : jsonText(list);
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;

/** Half a surrogate pair, which JSON.stringify escapes; an even number of backslashes before it would make it plain text. */
const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** JSON text of a value, in ASCII. Half a surrogate pair has no UTF-8 form, hence none in RFC 8785: it becomes U+FFFD. */
export function jsonText(value: string | object | null): string {
  if (value === null) return 'null';
  const text = JSON.stringify(value);
  return (text.includes('\\ud') ? text.replace(HALF_PAIR, '$1\\ufffd') : text).replace(BEYOND_ASCII, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Whether the line of an end says whose prices its usage is billed by. */
export function hasPrices(line: string): boolean {
  return line.startsWith('close\t') && !line.endsWith('\tnull');
}

export function isOpening(line: string): boolean {
  return line.startsWith('open\t');
}

/** The run of a line of either kind. */
export function runOfLine(line: string): string {
  const start = line.indexOf('\t') + 1;
  return line.slice(start, line.indexOf('\t', start));
}

/** Cuts a line apart. The journal is ours alone, so its lines are trusted; one that is not a fact is a fault worth stopping for. */
export function parseOpening(line: string, segment: string): OpenTexts {
  const values = line.split('\t');
  if (values[0] !== 'open' || values.length !== OPEN_VALUES) throw damaged(segment);
  return openTexts(values as unknown as OpenValues); // as many as there must be
}

export function parseClosing(line: string, segment: string): CloseTexts {
  const values = line.split('\t');
  if (values[0] !== 'close' || values.length !== CLOSE_VALUES) throw damaged(segment);
  return closeTexts(values as unknown as CloseValues); // as many as there must be
}

function damaged(segment: string): AbpError {
  return new AbpError('internal', `the journal segment ${segment} holds a damaged line`);
}

function openTexts(values: OpenValues): OpenTexts {
  return {
    run: values[1],
    at: values[2],
    plane: values[3],
    task: values[4],
    dialect: values[5],
    engine: values[6],
    backend: values[7],
    requestedModel: values[8],
    upstreamModel: values[9],
    mode: values[10],
    compatibility: values[11],
    negotiation: values[12],
    emulations: values[13],
    fidelity: values[14],
    request: values[15],
    upstreamRequest: values[16],
    recording: values[17],
    enforcement: values[18],
    tags: values[19],
    keyId: values[20],
    parent: values[21],
  };
}

function closeTexts(values: CloseValues): CloseTexts {
  return {
    run: values[1],
    at: values[2],
    status: values[3],
    reason: values[4],
    error: values[5],
    response: values[6],
    upstreamModel: values[7],
    eventCount: values[8],
    usage: values[9],
    toolCalls: values[10],
    attempts: values[11],
    dispatchedMs: values[12],
    firstByteMs: values[13],
    lastByteMs: values[14],
    cost: values[15],
    replayable: values[16],
    artifacts: values[17],
    workspaceDelta: values[18],
    backendVersion: values[19],
    prices: values[20],
  };
}
