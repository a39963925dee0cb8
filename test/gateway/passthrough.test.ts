import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import {
  chunk,
  chunkedHead,
  lastChunk,
  type RecordedRequest,
  type RecordingUpstream,
  startUpstream,
  whole,
} from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;
let url: string;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({ engines: { claude: { url: `${upstream.url}/base` } } });
  url = `${server.url}/v1/messages`;
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const last = (): RecordedRequest => upstream.requests.at(-1)!;
const OURS = new Set(['host', 'connection', 'content-length']);
/** The caller's headers as they arrived, without those that the connection to the engine has of its own. */
const arrived = (): string[] => last().headers.flatMap(([name, value]) => (OURS.has(name.toLowerCase()) ? [] : [name, value]));
const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-abp-run-id', 'x-abp-engine', 'x-abp-attempts']);
const received = (raw: readonly string[]): string[] => raw.filter((_, at) => !HOP.has(raw[at - (at % 2)]?.toLowerCase() ?? ''));

const json = fc.dictionary(
  fc.string({ unit: 'grapheme' }).filter((key) => key !== 'model'),
  fc.jsonValue({ maxDepth: 3 }),
);
const indent = fc.constantFrom('', ' ', '\t', '\n\n');

describe('a request', () => {
  it('reaches the engine byte for byte, whatever it holds', async () => {
    upstream.answer((socket) => void socket.write(whole('{}')));
    await fc.assert(
      fc.asyncProperty(json, indent, fc.string(), async (members, space, model) => {
        const body = `${space}${JSON.stringify({ ...members, unknown_tomorrow: { a: 1.0 }, model }, null, space)}${space}`;
        const answer = await post(url, body);
        expect(answer.status).toBe(200);
        expect(last().body.toString()).toBe(body);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps numbers, escapes and order that a parser would change', async () => {
    const body = '{"z":1.0,"a":1e400,"model":"m\\u0061","n":12345678901234567890,"\\u0062":"\\/"  ,"e":{}}\r\n';
    await post(url, body);
    expect(last().body.toString()).toBe(body);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('compressed with %s is looked into and forwarded as it came', async (encoding, encode) => {
    const body = encode(Buffer.from('{"model":"packed","messages":[]}'));
    const answer = await post(url, body, ['Content-Encoding', encoding]);
    expect(last().body.equals(body)).toBe(true);
    expect(arrived()).toContain(encoding);
    expect((await receiptOf(server.url, answer.headers['x-abp-run-id'])).model.requested).toBe('packed');
  });

  it('in chunks arrives whole', async () => {
    const body = `{"model":"m","text":"${'x'.repeat(300_000)}"}`;
    await call(url, { method: 'POST', headers: ['Content-Type', 'application/json', 'Transfer-Encoding', 'chunked'], body });
    expect(last().body.toString()).toBe(body);
    expect(arrived()).toEqual(['Content-Type', 'application/json']);
  });

  it('keeps its path and query under the engine’s own path', async () => {
    await post(`${url}?beta=true&x=%2F&&y`, '{"model":"m"}');
    expect(last().line).toBe('POST /base/v1/messages?beta=true&x=%2F&&y HTTP/1.1');
  });

  it('keeps its headers: order, spelling, repetitions, bytes beyond ASCII', async () => {
    const headers = [
      'X-B',
      '1',
      'anthropic-version',
      '2023-06-01',
      'X-Api-Key',
      'sk-mine',
      'x-b',
      '2',
      'Anthropic-Beta',
      'a,b',
      'X-Latin',
      'gr\xfc\xdfe',
      'X-Empty',
      '',
    ];
    await call(url, { method: 'POST', headers, body: '{"model":"m"}' });
    expect(arrived()).toEqual(headers);
  });

  it('arrives without what belongs to the hop, the browser or us', async () => {
    const headers = [
      ...[
        'Connection',
        'x-named, keep-alive',
        'X-Named',
        '1',
        'Keep-Alive',
        'timeout=5',
        'TE',
        'trailers',
        'Proxy-Authorization',
        'Basic eA==',
      ],
      ...[
        'Cookie',
        'a=b',
        'Referer',
        'http://a.test/',
        'Forwarded',
        'for=1.1.1.1',
        'X-Forwarded-For',
        '1.1.1.1',
        'X-Forwarded-Proto',
        'https',
      ],
      ...['Expect', '100-continue', 'X-ABP-Compatibility', 'best_effort', 'X-ABP-Anything', '1', 'X-Stays', '1'],
      // A caller who comes through a proxy needs a key.
      ...['X-ABP-Key', server.token],
    ];
    await call(url, { method: 'POST', headers, body: '{"model":"m"}' });
    expect(arrived()).toEqual(['X-Stays', '1']);
    expect(last().headers.find(([name]) => name.toLowerCase() === 'host')?.[1]).toBe(new URL(upstream.url).host);
  });

  it('with an engine prefix is changed in the model name alone', async () => {
    await post(url, '{ "a":1.0, "model" : "claude/opus\\u0021" ,"z":[ ] }');
    expect(last().body.toString()).toBe('{ "a":1.0, "model" : "opus!" ,"z":[ ] }');
    expect(last().headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1]).toBe('39');
  });

  it('with an engine prefix in a compressed body arrives readable', async () => {
    await post(url, gzipSync('{"model":"claude/opus"}'), ['content-encoding', 'gzip']);
    expect(last().body.toString()).toBe('{"model":"opus"}');
    expect(arrived()).toEqual(['content-type', 'application/json']);
  });
});

describe('an answer', () => {
  it('in one piece comes back byte for byte', async () => {
    const body = Buffer.from('{ "id" : "msg_1",\r\n"n":1.0,"unknown":"\\u2028 ü" }\n\n');
    upstream.answer((socket) => void socket.write(whole(body)));
    expect((await post(url, '{"model":"m"}')).body.equals(body)).toBe(true);
  });

  it('in chunks comes back byte for byte, however it is cut', async () => {
    const stream = Buffer.from('event: a\r\ndata: {"text":"é 😀 \u2028"}\r\n\r\n: comment\n\ndata: [DONE]\n\n');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: stream.length - 1 }), { maxLength: 8 }), async (cuts) => {
        const places = [...new Set(cuts), stream.length].sort((a, b) => a - b);
        const pieces = places.map((place, at) => stream.subarray(places[at - 1] ?? 0, place));
        upstream.answer(async (socket) => {
          socket.write(chunkedHead());
          for (const piece of pieces) {
            socket.write(chunk(piece));
            await new Promise(setImmediate);
          }
          socket.write(lastChunk());
        });
        const answer = await post(url, '{"model":"m","stream":true}');
        expect(answer).toMatchObject({ status: 200, complete: true });
        expect(answer.body.equals(stream)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('compressed with %s comes back compressed', async (encoding, encode) => {
    const body = encode(Buffer.from('{"type":"message"}'));
    upstream.answer(
      (socket) => void socket.write(whole(body, { headers: ['content-type: application/json', `content-encoding: ${encoding}`] })),
    );
    const answer = await post(url, '{"model":"m"}', ['accept-encoding', 'gzip, br']);
    expect(answer.body.equals(body)).toBe(true);
    expect(answer.headers['content-encoding']).toBe(encoding);
  });

  it('keeps the vendor’s headers: order, spelling, repetitions, bytes beyond ASCII', async () => {
    const headers = [
      'Request-Id',
      'req_1',
      'Content-Type',
      'application/json',
      'anthropic-ratelimit-requests-limit',
      '50',
      'X-B',
      '1',
      'x-b',
      '2',
      'Retry-After',
      '7',
      'X-Latin',
      '\xfc',
    ];
    const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
    upstream.answer((socket) => void socket.write(whole('{}', { headers: lines })));
    const answer = await post(url, '{"model":"m"}');
    expect(received(answer.rawHeaders)).toEqual([...headers, 'content-length', '2']);
    expect(answer.headers['x-abp-run-id']).toMatch(/^run_[0-9a-f]{32}$/);
  });

  it('comes without what belongs to the hop or to the vendor’s web site', async () => {
    const lines = [
      ...[
        'Connection: keep-alive, x-named',
        'X-Named: 1',
        'Keep-Alive: timeout=9',
        'Set-Cookie: a=b',
        'Set-Cookie: c=d',
        'Alt-Svc: h3=":443"',
      ],
      ...[
        'Strict-Transport-Security: max-age=1',
        'Access-Control-Allow-Origin: *',
        'access-control-expose-headers: *',
        'X-ABP-Run-Id: run_theirs',
        'X-Stays: 1',
      ],
    ];
    upstream.answer((socket) => void socket.write(whole('{}', { headers: lines })));
    const answer = await post(url, '{"model":"m"}');
    expect(received(answer.rawHeaders)).toEqual(['X-Stays', '1', 'content-length', '2']);
    expect(answer.headers['x-abp-run-id']).toMatch(/^run_[0-9a-f]{32}$/);
  });

  it.each([
    '200 OK',
    '201 Created',
    '202 Accepted',
    '301 Moved',
    '400 Bad',
    '401 No',
    '404 No',
    '413 Big',
    '418 Tea',
    '429 Slow',
    '500 Oh',
    '503 Busy',
    '529 Overloaded',
  ])('keeps its status: %s', async (status) => {
    upstream.answer(
      (socket) => void socket.write(whole('{"error":{"message":"own words"}}', { status, headers: ['location: http://elsewhere.test/'] })),
    );
    const before = upstream.requests.length;
    const answer = await post(url, '{"model":"m"}');
    expect(answer.status).toBe(Number(status.slice(0, 3)));
    expect(answer.body.toString()).toBe('{"error":{"message":"own words"}}');
    expect(upstream.requests.length - before).toBe(1);
  });

  it('of 204 and 304 has no body', async () => {
    for (const status of ['204 No Content', '304 Not Modified']) {
      upstream.answer((socket) => void socket.write(`HTTP/1.1 ${status}\r\nx-a: 1\r\n\r\n`));
      const answer = await post(url, '{"model":"m"}');
      expect(answer).toMatchObject({ status: Number(status.slice(0, 3)), complete: true, headers: { 'x-a': '1' } });
      expect(answer.body).toHaveLength(0);
    }
  });

  it('swallows 1xx', async () => {
    upstream.answer((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n');
      socket.write(whole('{"ok":1}'));
    });
    const answer = await post(url, '{"model":"m"}');
    expect(answer.body.toString()).toBe('{"ok":1}');
    expect(answer.headers.link).toBeUndefined();
  });

  it('brings its trailers', async () => {
    upstream.answer((socket) => {
      socket.write(chunkedHead(['content-type: text/event-stream', 'Trailer: X-Sum']));
      socket.write(chunk('data: 1\n\n'));
      socket.write(lastChunk(['X-Sum: abc', 'x-more: 2']));
    });
    expect((await post(url, '{"model":"m"}')).rawTrailers).toEqual(['X-Sum', 'abc', 'x-more', '2']);
  });

  it('without a length ends with the connection', async () => {
    upstream.answer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"a":1}'));
    expect(await post(url, '{"model":"m"}')).toMatchObject({ status: 200, complete: true, body: Buffer.from('{"a":1}') });
  });

  it('sends its head before the body when the engine makes the caller wait', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    upstream.answer(async (socket) => {
      socket.write(chunkedHead());
      await promise;
      socket.write(chunk('data: 1\n\n') + lastChunk());
    });
    const { send } = await import('../support/http-call.ts');
    const response = await send(url, { method: 'POST', body: '{"model":"m"}' });
    expect(response.statusCode).toBe(200);
    resolve();
    response.resume();
    await new Promise((done) => response.once('close', done));
    expect(response.complete).toBe(true);
  });
});

it('nothing of all this was a fault of the server', () => {
  expect(server.faults()).toBe('');
  expect(server.gateway.calls.budget.held).toBe(0);
});
