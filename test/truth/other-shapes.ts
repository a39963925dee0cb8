import { type JsonObject, objectIn, parseJsonObject } from '../../src/base/json.ts';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post, type WireAnswer } from '../support/http-call.ts';
import { dialectOf } from '../support/mapping.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { fixtureAnswers, fixtureStreams } from './sources.ts';
import type { Tally } from './tally.ts';

/** The engine that is spoken to in each dialect. */
const ENGINES: Readonly<Record<string, string>> = {
  claude: 'claude',
  'openai-chat': 'openai:openai-chat',
  'openai-responses': 'openai:openai-responses',
  gemini: 'gemini',
  kimi: 'kimi',
  copilot: 'copilot',
};

/** These read each other's answers. */
const ALIKE: ReadonlySet<string> = new Set(['openai-chat', 'kimi', 'copilot']);

function nested(open: string, inner: string, close: string, depth: number): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

/** Bodies that are an answer in no dialect. */
export const STRANGE: Readonly<Record<string, string>> = {
  ...{ 'an empty object': '{}', 'an empty list': '[]', 'a list of nothing': '[{}]', 'a number': '7', null: 'null', 'a text': '"hello"' },
  ...{ 'no JSON': 'upstream connect error', 'a page': '<html><body>It works!</body></html>', nothing: '', 'a large number': '1e400' },
  'a cut answer': '{"id":"x","choices":[{"message":{"content":"he',
  'many lists': nested('[', '', ']', 5000),
  'many objects': nested('{"a":', '1', '}', 5000),
  'too many lists': nested('[', '', ']', 100_000),
  'an error without a form': '{"message":"boom"}',
  'an error in a list': '{"errors":[{"message":"boom"}]}',
  'an error as a text': '{"error":"boom"}',
  'an error of another vendor': '{"success":false,"error":{"message":"boom","type":"odd"}}',
  'no error': '{"error":null}',
  ...{ 'choices that are null': '{"choices":null}', 'no choices': '{"choices":[]}', 'a choice of nothing': '{"choices":[{}]}' },
  ...{ 'choices of nulls': '{"choices":[null]}', 'content that is a text': '{"content":"hi"}', 'content of nulls': '{"content":[null]}' },
  ...{ 'output that is a text': '{"output":"hi"}', 'output of nulls': '{"output":[null]}', 'no output': '{"status":"completed"}' },
  ...{ 'no candidates': '{"candidates":[]}', 'a candidate of nothing': '{"candidates":[{}]}' },
  'candidates of nulls': '{"candidates":[null]}',
  'the completions before chat': '{"id":"c","object":"text_completion","choices":[{"text":"hi","index":0,"finish_reason":"stop"}]}',
  'another server': '{"model":"m","message":{"role":"assistant","content":"hi"},"done":true}',
  'a list of models': '{"object":"list","data":[]}',
};

const HI: Readonly<Record<string, JsonObject>> = {
  claude: { model: 'some-model', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': { model: 'some-model', input: 'hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};
const CHAT: JsonObject = { model: 'some-model', messages: [{ role: 'user', content: 'hi' }] };

/** A caller of one dialect, an engine that is spoken to in another, and whether the answer is streamed. */
export interface Meeting {
  readonly caller: string;
  readonly engine: string;
  readonly stream: boolean;
}

/** The gateway in front of engines that answer every call with 200 and whatever bytes they are told. */
export class ShapeScene {
  readonly server: TestGateway;
  readonly #upstream: RecordingUpstream;

  private constructor(server: TestGateway, upstream: RecordingUpstream) {
    this.server = server;
    this.#upstream = upstream;
  }

  static async open(): Promise<ShapeScene> {
    const upstream = await startUpstream();
    const ids = [...new Set(Object.values(ENGINES).map((name) => name.split(':')[0] ?? ''))];
    const engines = Object.fromEntries(ids.map((id) => [id, { url: upstream.url, key: 'sk-test' }]));
    return new ShapeScene(await startGateway({ engines, config: { recording: { default: 'off' } } }), upstream);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#upstream.close();
  }

  /** What the caller gets of an engine that answers with these bytes. */
  async asked({ caller, engine, stream }: Meeting, bytes: Buffer): Promise<WireAnswer> {
    this.#upstream.answer((socket) => void socket.write(whole(bytes)));
    const paths = dialectOf(caller).paths.filter(({ operation }) => operation === 'generate');
    const path = (paths.find((one) => one.stream === stream) ?? paths[0])?.path.replace('{model}', 'some-model') ?? '';
    const inPath = caller === 'gemini';
    const body = { ...(HI[caller] ?? CHAT), ...(stream && !inPath ? { stream } : {}) };
    return await post(`${this.server.url}${path}${stream && inPath ? '?alt=sse' : ''}`, body, ['x-abp-engine', ENGINES[engine] ?? '']);
  }

  /** An answer that is none is a 502 in the caller's own shape, or a stream that ends with an error event. */
  async tryShape(meeting: Meeting, [name, bytes]: Shape, tally: Tally): Promise<void> {
    const { status, headers, body } = await this.asked(meeting, bytes);
    const { caller, engine, stream } = meeting;
    const words = stream ? lastError(caller, body.toString()) : wordsOf(caller, parseJsonObject(body.toString()));
    const right = stream ? status === 200 : status === 502 && headers['x-should-retry'] === 'true';
    tally.tried += 1;
    if (right && words !== undefined && words !== '') return;
    const what = `${status}, x-should-retry ${headers['x-should-retry']}, ${body.toString().slice(-200)}`;
    tally.wrong.push({ sample: name, where: `${engine} → ${caller}${stream ? ', streamed' : ''}`, what });
  }
}

type Shape = readonly [name: string, bytes: Buffer];

/** Everything that is no answer of this engine, the answers of others included. */
export function shapesFor({ engine, stream }: Meeting): Shape[] {
  const foreign = (from: string): boolean => from !== engine && !(ALIKE.has(from) && ALIKE.has(engine));
  const told = dialects.map(({ id }) => id).filter(foreign);
  const strange = Object.entries(STRANGE).map(([name, text]): Shape => [name, Buffer.from(text)]);
  return [
    ...strange,
    ...told.map(
      (id): Shape => [`an answer of ${id}`, Buffer.from(JSON.stringify(fixtureAnswers().find(({ from }) => from === id)?.answer))],
    ),
    ...told.map((id): Shape => [`a stream of ${id}`, fixtureStreams().find(({ from }) => from === id)?.stream ?? Buffer.alloc(0)]),
    ...(stream ? strange.map(([name, text]): Shape => [`${name}, as an event`, Buffer.from(`data: ${text.toString()}\n\n`)]) : []),
  ];
}

/** Every caller of every engine that speaks another dialect, streamed and not. */
export function meetings(): Meeting[] {
  return dialects.flatMap(({ id: caller }) =>
    dialects.filter(({ id }) => id !== caller).flatMap(({ id: engine }) => [false, true].map((stream) => ({ caller, engine, stream }))),
  );
}

/** Where SDKs of a dialect look for the kind of an error, besides its words. */
const KIND: Readonly<Record<string, string>> = { gemini: 'status', copilot: 'code' };

/** The words of an error that the dialect's SDKs take for one. */
export function wordsOf(caller: string, body: JsonObject | undefined, member = KIND[caller] ?? 'type'): string | undefined {
  const error = objectIn(body?.error);
  if (error === undefined || (caller === 'claude' && body?.type !== 'error')) return undefined;
  const { message, [member]: kind } = error;
  return typeof message === 'string' && typeof kind === 'string' ? message : undefined;
}

/** The words of the error that a stream ends with. */
function lastError(caller: string, text: string): string | undefined {
  const events = text.split(/\r?\n\r?\n/).map((frame) => parseJsonObject(/^data: (.*)$/m.exec(frame)?.[1] ?? ''));
  const failed = events.findLast((event) => event !== undefined);
  return failed?.type === 'response.failed' ? wordsOf(caller, objectIn(failed.response), 'code') : wordsOf(caller, failed);
}
