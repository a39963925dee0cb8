import { isJsonObject, type Json, parseJson } from '../../src/base/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { dialectOf, type MappingTarget } from '../support/mapping.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import type { Recorded, SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

/** The engine that speaks each dialect itself. */
const OWN: Readonly<Record<string, string>> = {
  claude: 'claude',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  gemini: 'gemini',
  kimi: 'kimi',
  copilot: 'copilot',
};

/** The gateway as people run it, with every vendor replaced by a server that records what it gets. */
export class Wire {
  readonly #gateway: TestGateway;
  readonly #upstream: RecordingUpstream;

  private constructor(gateway: TestGateway, upstream: RecordingUpstream) {
    this.#gateway = gateway;
    this.#upstream = upstream;
  }

  static async open(): Promise<Wire> {
    const upstream = await startUpstream();
    const engines = Object.fromEntries([...new Set(Object.values(OWN))].map((id) => [id, { url: upstream.url, key: 'sk-test' }]));
    return new Wire(await startGateway({ engines, config: { recording: { default: 'off' } } }), upstream);
  }

  async close(): Promise<void> {
    await this.#gateway.close();
    await this.#upstream.close();
  }

  /** A recorded exchange through the gateway, on the engine that speaks its dialect: both bodies arrive as they were. */
  async tryPassthrough({ from, exchange }: Recorded, requests: Tally, answers: Tally): Promise<void> {
    const { id, status, responseBytes } = exchange;
    const sent = exchange.requestBytes ?? Buffer.from(JSON.stringify(plainRequest(from)));
    const answer = responseBytes ?? Buffer.from('{}');
    const type = exchange.stream === undefined ? 'application/json' : 'text/event-stream';
    this.#upstream.answer(
      (socket) => void socket.write(whole(answer, { status: `${status} Recorded`, headers: [`content-type: ${type}`] })),
    );
    const before = this.#upstream.requests.length;
    const got = await post(`${this.#gateway.url}/e/${OWN[from]}${pathOf(from, exchange.url)}`, sent);
    const arrived = this.#upstream.requests[before]?.body;
    if (exchange.requestBytes !== undefined) {
      requests.tried += 1;
      if (arrived?.equals(sent) !== true)
        requests.wrong.push({
          sample: id,
          where: from,
          what: arrived === undefined ? `not sent: ${got.body.toString().slice(0, 200)}` : 'other bytes',
        });
    }
    if (responseBytes === undefined) return;
    answers.tried += 1;
    if (!got.body.equals(answer)) answers.wrong.push({ sample: id, where: from, what: 'other bytes' });
  }

  /** What `explain` says of a request, and what really happens to it. */
  async tryExplain(sample: SampleRequest, target: MappingTarget, tally: Tally): Promise<void> {
    const [engine] = target.name.split(' ');
    const { model } = target;
    const inAddress = sample.body.model === undefined;
    const request = inAddress ? sample.body : { ...sample.body, model };
    const explained = await post(`${this.#gateway.url}/v1/explain`, {
      from: sample.from,
      to: engine,
      request,
      ...(inAddress ? { model } : {}),
      stream: sample.address.stream,
    });
    const said = jsonOf(explained.body);
    this.#upstream.answer((socket) => void socket.write(whole('{"error":{"message":"no"}}', { status: '400 Bad Request' })));
    const before = this.#upstream.requests.length;
    const path = vendorPath(sample.from, model, sample.address.stream === true);
    // By header: under `/e/kimi` the path of Chat is Kimi's own.
    const real = await post(`${this.#gateway.url}${path}`, JSON.stringify(request), ['x-abp-engine', engine ?? '']);
    const arrived = this.#upstream.requests[before];
    tally.tried += 1;
    const what = difference(said, arrived === undefined ? undefined : { line: arrived.line, body: arrived.body }, jsonOf(real.body));
    if (what !== undefined) tally.wrong.push({ sample: sample.id, where: target.name, what });
  }
}

interface Arrived {
  readonly line: string;
  readonly body: Buffer;
}

function difference(said: Json, arrived: Arrived | undefined, answered: Json): string | undefined {
  if (!isJsonObject(said) || said.mode === undefined) return `explain failed: ${JSON.stringify(said).slice(0, 200)}`;
  const { upstream, error } = said;
  if (arrived === undefined) {
    const code = codeIn(answered);
    return isJsonObject(error ?? null) && code !== undefined && code === codeIn({ error: error ?? null })
      ? undefined
      : `refused (${code}), and explain says ${JSON.stringify(error ?? 'sent').slice(0, 120)}`;
  }
  if (!isJsonObject(upstream ?? null)) return `sent, and explain says ${JSON.stringify(error ?? null).slice(0, 200)}`;
  const { path, body } = upstream as { readonly path: string; readonly body: Json }; // checked above
  if (arrived.line !== `POST ${path} HTTP/1.1`) return `${arrived.line}, and explain says ${path}`;
  return arrived.body.toString('utf8') === JSON.stringify(body) ? undefined : 'another body than explain says';
}

/** The code of an error of ours, wherever the caller's dialect puts it. */
function codeIn(body: Json): string | undefined {
  return /"(E00\d|invalid_request|not_found|unprocessable)"/.exec(JSON.stringify(body))?.[1];
}

function jsonOf(body: Buffer): Json {
  const parsed = parseJson(body.toString('utf8'));
  return parsed.ok ? parsed.value : body.toString('utf8');
}

/** The vendor's path of a recorded call, where it is one of the dialect's own; elsewhere the dialect's first. */
function pathOf(from: string, url: string): string {
  const path = url === '' ? '' : new URL(url).pathname + new URL(url).search;
  const known = from === 'gemini' ? /^\/v1beta\/models\/[^/]+:\w+/ : /^\/v1\/(?:messages|chat\/completions|responses)/;
  const prefix = dialectOf(from).prefix ?? '';
  return known.test(path) ? `${prefix}${path}` : vendorPath(from, 'some-model', false);
}

function vendorPath(from: string, model: string, stream: boolean): string {
  const paths = dialectOf(from).paths.filter(({ operation }) => operation === 'generate');
  const path = (paths.find((one) => one.stream === stream) ?? paths[0])?.path ?? '/';
  return `${path.replace('{model}', model)}${from === 'gemini' && stream ? '?alt=sse' : ''}`;
}

function plainRequest(from: string): Json {
  return from === 'gemini' ? { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] } : { model: 'some-model', messages: [], input: 'hi' };
}
