import { AbpError } from '../../contract/errors.ts';
import { FactTexts, jsonText } from './fact-texts.ts';
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

const NONE: readonly object[] = [];

const NO_OWN_PATTERNS = new FactTexts();

/** The journal line of a fact, without its line break. */
export function factLine(fact: Fact, texts: FactTexts = NO_OWN_PATTERNS): string {
  return fact.fact === 'open' ? openLine(fact, texts) : closeLine(fact, texts);
}

function openLine(fact: OpenFact, texts: FactTexts): string {
  const request = digestText(fact.request);
  const upstreamRequest = fact.upstreamRequest === fact.request ? request : digestText(fact.upstreamRequest);
  const requestedModel = texts.name(fact.requestedModel);
  const upstreamModel = fact.upstreamModel === fact.requestedModel ? requestedModel : texts.name(fact.upstreamModel);
  return (
    `open\t${fact.run}\t${fact.at}\t"${fact.plane}"\t${texts.name(fact.task)}\t${texts.name(fact.dialect)}\t${texts.name(fact.engine)}` +
    `\t${texts.name(fact.backend)}\t${requestedModel}\t${upstreamModel}\t${texts.name(fact.mode)}\t"${fact.compatibility}"` +
    `\t${jsonText(fact.negotiation)}\t${texts.list(fact.emulations)}\t${texts.list(fact.fidelity)}\t${request}\t${upstreamRequest}` +
    `\t"${fact.recording}"\t"${fact.enforcement}"\t${texts.list(fact.tags)}\t${texts.name(fact.keyId)}` +
    `\t${fact.parent === null ? 'null' : `"${fact.parent}"`}`
  );
}

function closeLine(fact: CloseFact, texts: FactTexts): string {
  return (
    `close\t${fact.run}\t${fact.at}\t"${fact.status}"\t${texts.name(fact.reason)}\t${errorText(fact.error, texts)}\t${responseText(fact.response)}` +
    `\t${texts.name(fact.upstreamModel)}\t${fact.eventCount}\t${usageText(fact.usage)}\t${toolCallsText(fact.toolCalls, texts)}\t${attemptsText(fact.attempts, texts)}` +
    `\t${fact.dispatchedMs}\t${fact.firstByteMs}\t${fact.lastByteMs}\t${costText(fact.cost)}\t${fact.replayable}` +
    `\t${texts.list(fact.artifacts ?? NONE)}\t${texts.value(fact.workspaceDelta ?? null)}\t${texts.name(fact.backendVersion ?? null)}\t${texts.name(fact.prices)}`
  );
}

/** Members in the order of RFC 8785, because the text also goes into the hash of the content. */
function digestText(digest: Digest | null): string {
  return digest === null ? 'null' : `{"bytes":${digest.bytes},"sha256":"${digest.sha256}"}`;
}

/** What engines say of a failure may name the key they were called with. */
function errorText(error: CloseFact['error'], texts: FactTexts): string {
  return error === null ? 'null' : `{"code":${texts.name(error.code)},"message":${texts.name(error.message)}}`;
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
  return cost === null ? 'null' : `{"nano_usd":${cost.nanoUsd},"price_version":${JSON.stringify(cost.priceVersion)}}`;
}

function count(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function attemptsText(attempts: CloseFact['attempts'], texts: FactTexts): string {
  const all = attempts.map(
    ({ engine, status, error, ms }) => `{"engine":${texts.name(engine)},"error":${texts.name(error)},"ms":${ms},"status":${status}}`,
  );
  return `[${all.join(',')}]`;
}

function toolCallsText(calls: CloseFact['toolCalls'], texts: FactTexts): string {
  if (calls.length === 0) return '[]';
  const all = calls.map(
    ({ arguments_sha256: argumentsHash, id, name, result_sha256: resultHash }) =>
      `{"arguments_sha256":"${argumentsHash}","id":${texts.name(id)},"name":${texts.name(name)},"result_sha256":${resultHash === null ? resultHash : `"${resultHash}"`}}`,
  );
  return `[${all.join(',')}]`;
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
