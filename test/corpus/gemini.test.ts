import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { claude } from '../../src/dialects/claude/dialect.ts';
import type { AnswerContext, Observed } from '../../src/dialects/dialect.ts';
import { gemini } from '../../src/dialects/gemini/dialect.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrRequest, IrTool } from '../../src/ir/request.ts';
import { besideCorpus, corpusFolder, NO_CORPUS } from '../support/corpus.ts';
import { discoveryChecker } from '../support/discovery-schema.ts';
import { withoutPaths } from '../support/ir.ts';
import { needing } from '../support/needs.ts';

const corpus = corpusFolder();
const description = besideCorpus('vendor-openapi/google-discovery.json');

interface Case {
  readonly id: string;
  readonly model: string;
  readonly stream: boolean;
  readonly status: number;
  readonly vertex: boolean;
  readonly request: Json | undefined;
  readonly body: string;
  readonly sse: boolean;
}

/** Requests that Gemini refused as well: a role it does not know, a temperature out of range. */
const REFUSED = ['098-json-error-400', '099-json-error-400'];
/** What a mapped call refuses although the wire has it: media by address inside a result. */
const NOTED: Readonly<Record<string, readonly string[]>> = {
  '130-json-file-uri-input-error-400-image-input': ['tool_result_media'],
  '134-json-file-uri-input-error-400-tool-result': ['tool_result_media'],
};
/** Answers without anything a caller could use. */
const FAILED = ['009-json-stop-other-blocked', '010-json-stop-malformed-function-call', '012-json-stop-other-blocked'];

function json(text: string): Json {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

function readCase(folder: string, id: string): Case[] {
  const meta = json(readFileSync(join(folder, id, 'meta.json'), 'utf8')) as unknown as {
    http: { url: string; status: number };
    features: string[];
  }; // every case has such a file
  const [, model = '', method = ''] = /\/models\/([^:/]+):(\w+)/.exec(meta.http.url) ?? [];
  if (!['generateContent', 'streamGenerateContent', 'countTokens'].includes(method)) return [];
  const file = (name: string): string => join(folder, id, name);
  const sse = existsSync(file('response.sse'));
  return [
    {
      id,
      model: decodeURIComponent(model),
      stream: method === 'streamGenerateContent',
      status: meta.http.status,
      vertex: meta.http.url.includes('aiplatform'),
      request: existsSync(file('request.json')) ? json(readFileSync(file('request.json'), 'utf8')) : undefined,
      body: readFileSync(file(sse ? 'response.sse' : 'response.json'), 'utf8'),
      sse,
    },
  ];
}

const folder = corpus === undefined ? undefined : join(corpus, 'gemini');
const cases =
  folder === undefined
    ? []
    : readdirSync(folder)
        .sort()
        .flatMap((id) => readCase(folder, id));

function lift(one: Case, body: Json = one.request ?? null): IrRequest {
  return gemini.liftRequest(body, { ledger: new Ledger(), model: one.model, stream: one.stream });
}

const lower = { lacks: new Set<never>(), traits: new Set(['function-response-media']), defaultMaxTokens: 4096 };

function context(model: string, query = '?alt=sse'): AnswerContext {
  return { runHex: '0'.repeat(32), createdAtMs: 0, model, includeUsage: true, query };
}

function frames(text: string): Buffer[] {
  const cutter = new SseFrames();
  return [...cutter.push(Buffer.from(text)), ...cutter.flush()];
}

function steps(text: string): IrEvent[] {
  const stepper = gemini.stepper();
  return [...frames(text).flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
}

function fold(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

function names(tools: readonly IrTool[]): string[] {
  return tools.map(({ name }) => name);
}

function observe(text: string): Observed {
  const observer = gemini.observeStream();
  for (const frame of frames(text)) observer.frame(frame);
  return observer.done();
}

/** Start, parts that open before they grow and close once, exactly one end. */
function wellFormed(events: readonly IrEvent[]): void {
  expect(events[0]?.type).toBe('message-start');
  expect(events.filter((event) => event.type === 'message-end' || event.type === 'error')).toHaveLength(1);
  expect(['message-end', 'error']).toContain(events.at(-1)?.type);
  const open = new Set<number>();
  for (const event of events) {
    if (event.type === 'part-start') open.add(event.index);
    else if (event.type === 'part-delta') expect(open.has(event.index)).toBe(true);
    else if (event.type === 'part-end') expect(open.delete(event.index)).toBe(true);
    else if (event.type === 'message-end') expect([...open]).toEqual([]);
  }
}

/** All text that a recorded answer holds, read without our code. */
function recordedText(chunks: readonly Json[]): string {
  return chunks
    .flatMap((chunk) => (isJsonObject(chunk) && Array.isArray(chunk.candidates) ? (chunk.candidates as JsonObject[]).slice(0, 1) : []))
    .flatMap((candidate) => (isJsonObject(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : []))
    .map((part: JsonObject) => (part.thought === true || typeof part.text !== 'string' ? '' : part.text))
    .join('');
}

function textOf(response: ReturnType<Fold['response']>): string {
  return (response?.parts ?? []).map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

describe.skipIf(corpus === undefined)(needing('recorded Gemini calls', corpus === undefined ? NO_CORPUS : undefined), () => {
  const requests = cases.filter(({ request }) => request !== undefined);
  const accepted = requests.filter(({ id }) => !REFUSED.includes(id));
  const streams = cases.filter(({ sse, status }) => sse && status === 200);
  const answers = cases.filter(({ sse, status, body }) => !sse && status === 200 && !('totalTokens' in Object(json(body))));
  const check = description === undefined ? () => [] : discoveryChecker(description);

  test('are there', () => {
    expect(requests.length).toBeGreaterThan(80);
    expect(streams.length).toBeGreaterThan(30);
    expect(answers.length).toBeGreaterThan(35);
  });

  test.each(accepted)('the request of $id lifts, lowers, and lifts to the same', (one) => {
    const once = lift(one);
    const lowered = gemini.lowerRequest(once, lower);
    expect(withoutPaths(lift(one, lowered.body))).toEqual(withoutPaths(once));
    expect(lowered.notes.map(({ concept }) => concept)).toEqual(NOTED[one.id] ?? []);
    expect(names(once.tools)).toEqual(names(lift(one, lowered.body).tools));
  });

  test.each(REFUSED)('the request of %s is refused, as Gemini refused it', (id) => {
    const one = requests.find((candidate) => candidate.id === id);
    expect(() => lift(one ?? (null as never))).toThrow(/role|temperature/);
  });

  test.each(accepted)('every leaf of the request of $id is claimed', (one) => {
    const ledger = new Ledger();
    gemini.liftRequest(one.request ?? null, { ledger, model: one.model, stream: one.stream });
    expect(leaves(one.request ?? null, '').filter((path) => !claimed(ledger, path))).toEqual([]);
  });

  test.each(accepted.filter(({ status, vertex }) => status === 200 && !vertex))('the lowered request of $id fits the API', (one) => {
    const { body } = gemini.lowerRequest(lift(one), lower);
    // Gemini takes the values of enumerations in lower case as well.
    expect(check('GenerateContentRequest', body).filter((error) => !/(?:\/thinkingLevel|\/type) must be equal/.test(error))).toEqual([]);
  });

  test.each(claudeRequests())('the Claude request of $id, written for Gemini, fits the API', ({ request }) => {
    const asked = claude.liftRequest(request, { ledger: new Ledger() });
    const { body, notes } = gemini.lowerRequest(asked, lower);
    if (notes.some(({ fate }) => fate === 'refused')) return;
    expect(check('GenerateContentRequest', body)).toEqual([]);
    const results = (text: string): number => asked.messages.flatMap(({ parts }) => parts).filter(({ kind }) => kind === text).length;
    expect(JSON.stringify(body).split('"functionResponse":{').length - 1).toBeGreaterThanOrEqual(results('tool-result'));
  });

  test.each(cases.filter(({ status }) => status >= 400))('the error of $id keeps its words', ({ status, body }) => {
    const error = gemini.liftError(status, {}, body);
    expect(body).toContain(JSON.stringify(error.message).slice(1, -1));
    expect(Math.floor(gemini.lowerError(error, { requestId: 'r' }).status / 100)).toBe(Math.floor(status / 100));
  });

  test.each(streams)('the stream of $id steps to a well-formed answer with all its text', (one) => {
    const events = steps(one.body);
    wellFormed(events);
    const chunks = frames(one.body).flatMap((frame) => {
      const parsed = parseJson(decodeSse(frame).data);
      return parsed.ok ? [parsed.value] : [];
    });
    const { response } = { response: fold(events).response() };
    if (response !== undefined) expect(textOf(response)).toBe(recordedText(chunks));
    else expect(one.id).toMatch(/midstream-error|truncated/);
  });

  test.each(streams)('the stream of $id, written again, steps to the same events', (one) => {
    const events = steps(one.body);
    const start = events.find((event) => event.type === 'message-start');
    const emitter = gemini.emitter(context(start?.model ?? ''));
    const again = steps(events.map((event) => emitter.emit(event)).join(''));
    // An error gets the sentence that agents look for; its kind stays.
    const real = (event: IrEvent): IrEvent => (event.type === 'error' ? { ...event, error: { ...event.error, message: '' } } : event);
    expect(again.slice(1).map(real)).toEqual(events.slice(1).map(real));
  });

  test.each(streams)('observing the stream of $id tells what stepping finds', (one) => {
    const response = fold(steps(one.body)).response();
    if (response === undefined) return;
    const seen = observe(one.body);
    expect(seen.usage).toEqual(response.usage);
    expect(seen.finish).toBe(response.finish);
    expect(seen.model ?? '').toBe(response.model);
    expect(seen.toolCalls).toEqual(
      response.parts.flatMap((part) => (part.kind === 'tool-call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [])),
    );
  });

  test.each(answers)('the answer of $id lifts, lowers, and lifts to the same', (one) => {
    const body = json(one.body);
    if (FAILED.includes(one.id)) {
      expect(() => gemini.liftResponse(body)).toThrow('Gemini gave no answer');
      return;
    }
    const response = { id: '0'.repeat(32), ...gemini.liftResponse(body) };
    const lowered = gemini.lowerResponse(response, context(response.model));
    expect(withoutPaths(gemini.liftResponse(lowered))).toEqual(withoutPaths(response));
    expect(textOf(response)).toBe(recordedText(Array.isArray(body) ? body : [body]));
    const seen = gemini.observeBody(one.body);
    expect(seen.usage).toEqual(response.usage);
    expect(seen.finish).toBe(response.finish);
    if (!one.vertex && !Array.isArray(body)) expect(check('GenerateContentResponse', lowered)).toEqual([]);
  });
});

/** Requests that Claude answered, recorded or not refused at our own border. */
function claudeRequests(): { readonly id: string; readonly request: Json }[] {
  if (corpus === undefined) return [];
  const root = join(corpus, 'anthropic');
  return readdirSync(root).flatMap((id) => {
    const file = join(root, id, 'request.json');
    const meta = readFileSync(join(root, id, 'meta.json'), 'utf8');
    if (!existsSync(file) || !meta.includes('"status": 200') || !/"url": "[^"]*\/v1\/messages(?:\?[^"]*)?"/.test(meta)) return [];
    return [{ id, request: json(readFileSync(file, 'utf8')) }];
  });
}

function leaves(value: Json, path: string): string[] {
  const members = Array.isArray(value) ? value.map((item: Json, index) => [`[${index}]`, item] as const) : entries(value);
  return members.length === 0 ? [path] : members.flatMap(([step, member]) => leaves(member, `${path}${step}`));
}

function entries(value: Json): (readonly [string, Json])[] {
  return isJsonObject(value) ? Object.entries(value).map(([key, member]) => [`.${key}`, member] as const) : [];
}

function claimed(ledger: Ledger, path: string): boolean {
  for (let at = path.slice(1); at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.'), at.lastIndexOf('[')))) {
    if (ledger.claims.has(at)) return true;
  }
  return false;
}
