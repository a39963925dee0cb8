import { afterAll, beforeAll, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { call } from '../support/http-call.ts';
import { type MeasuredServer, startMeasured } from './measured-server.ts';
import { all, MOST_HELD_MS, MOST_RSS_MB, many } from './scene.ts';

// Every endpoint of ours, with everything hostile in every member of its body, its query and its path, from somebody who may do all of it.

/** `npm run fuzz` tries all of them. */
const STEP = all ? 1 : 331;

let server: MeasuredServer;
let attempts: readonly Attempt[];

interface Attempt {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Made when it is sent: all of them at once would take gigabytes. */
  readonly body?: () => string;
}

beforeAll(async () => {
  server = await startMeasured({ config: '[engines.openai]\nurl = "http://127.0.0.1:9"\nkey = "k"\n' });
  const { body } = await call(`${server.url}/openapi.json`, {});
  const parsed = parseJson(body.toString());
  attempts = attemptsOn(parsed.ok && isJsonObject(parsed.value) ? parsed.value : {});
  expect(attempts.length).toBeGreaterThan(5000);
});
afterAll(() => server.close());

const LONG = 'a'.repeat(300_000);
const WHOLE: Readonly<Record<string, () => string>> = {
  deep: () => `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  wide: () => JSON.stringify(Object.fromEntries(many(60_000, (at) => [`k${at}`, at]))),
  list: () => JSON.stringify(many(200_000, () => ({ a: 1 }))),
  null: () => 'null',
  number: () => '12345678901234567890',
  broken: () => '{',
  prototypes: () => '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
};
const MEMBERS: Readonly<Record<string, Json>> = {
  'a long text': LONG,
  'a text that ends otherwise': `${'a'.repeat(50_000)}!`,
  'a negative number': -1,
  'a huge number': 1e308,
  'many texts': many(50_000, () => 'x'),
  'many objects': many(20_000, (at) => ({ id: `x${at}`, name: 'x', model: `m${at}`, engine: 'sim' })),
  'many members': Object.fromEntries(many(20_000, (at) => [`p${at}`, 'x'])),
  'half a character': '\ud800',
  'nothing but a NUL': '\u0000',
  'an address of the cloud': 'http://169.254.169.254/latest',
  'an address of a file': 'file:///etc/passwd',
};
const WORDS = [
  '',
  'x',
  '-1',
  '999999999999',
  'a'.repeat(6000),
  '\u0000',
  '2026-99-99',
  '__proto__',
  'a,'.repeat(2500),
  "' or 1=1",
  '../../x',
  '%',
];

/** Those that wait, and the ways to engines, which have suites of their own. */
const ELSEWHERE = /stream|events|shutdown|\/e\//;

function attemptsOn(api: JsonObject): Attempt[] {
  const routes = Object.entries(objectAt(api, 'paths')).filter(([path]) => !ELSEWHERE.test(path));
  return routes.flatMap(([path, methods]) =>
    Object.entries(isJsonObject(methods) ? methods : {}).flatMap(([method, operation]) =>
      isJsonObject(operation) ? onRoute(api, { method: method.toUpperCase(), path, operation }) : [],
    ),
  );
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

function onRoute(api: JsonObject, { method, path, operation }: Described): Attempt[] {
  const content = objectAt(objectAt(operation, 'requestBody'), 'content');
  const schema = resolved(api, objectAt(objectAt(content, 'application/json'), 'schema'));
  const at = (word: string): string => path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(word));
  const named = `${method} ${path}`;
  const plain = Object.keys(schema).length === 0 ? {} : { body: () => '{}' };
  const bodies = Object.keys(plain).length === 0 ? [] : bodiesFor(Object.keys(objectAt(schema, 'properties')));
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  const queries = parameters.flatMap((one: Json) => (isJsonObject(one) && one.in === 'query' ? [String(one.name)] : []));
  return [
    ...bodies.map(([name, body]) => ({ name: `${named} with ${name}`, method, path: at(`run_${'0'.repeat(32)}`), body })),
    ...(path.includes('{') ? WORDS : []).map((word) => ({ name: `${named} at ${word.slice(0, 20)}`, method, path: at(word), ...plain })),
    ...queries.flatMap((query) =>
      WORDS.map((word) => ({
        ...{ name: `${named} with ${query}=${word.slice(0, 20)}`, method, ...plain },
        path: `${at('x')}?${encodeURIComponent(query)}=${encodeURIComponent(word)}`,
      })),
    ),
  ];
}

function bodiesFor(members: readonly string[]): [string, () => string][] {
  return [
    ...Object.entries(WHOLE),
    ...members.flatMap((member) =>
      Object.entries(MEMBERS).map(([name, value]): [string, () => string] => [
        `${name} as ${member}`,
        () => JSON.stringify({ [member]: value }),
      ]),
    ),
  ];
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const inner = value[key];
  return isJsonObject(inner) ? inner : {};
}

function resolved(api: JsonObject, schema: JsonObject): JsonObject {
  if (typeof schema.$ref !== 'string') return schema;
  return schema.$ref.slice(2).split('/').reduce(objectAt, api);
}

interface Outcome {
  readonly heldMs: number;
  readonly rssMb: number;
  readonly status: number;
}

async function tried({ method, path, body }: Attempt): Promise<Outcome> {
  let status = 0;
  const sent = body?.();
  const headers = ['authorization', `Bearer ${server.token}`, ...(body === undefined ? [] : ['content-type', 'application/json'])];
  const { heldMs, rssMb } = await server.during(async () => {
    ({ status } = await call(`${server.url}${path}`, { method, headers, ...(sent === undefined ? {} : { body: sent }) }));
  });
  return { heldMs, rssMb, status };
}

it('no endpoint of ours is held up, filled or broken by what somebody sends to it', async () => {
  const wrong: string[] = [];
  const picked = attempts.filter((_, at) => at % STEP === 0);
  for (const attempt of picked) {
    let outcome = await tried(attempt);
    // The first time code is loaded, and garbage may be collected.
    for (let again = 1; again < 3 && outcome.heldMs >= MOST_HELD_MS; again += 1) outcome = await tried(attempt);
    const { status, heldMs, rssMb } = outcome;
    if (status === 500 || heldMs >= MOST_HELD_MS || rssMb >= MOST_RSS_MB)
      wrong.push(`${attempt.name}: ${status}, ${heldMs.toFixed(0)} ms, ${rssMb.toFixed(0)} MB`);
  }
  if (all) process.stdout.write(`\n${picked.length} attempts on endpoints of ours\n`);
  expect(wrong).toEqual([]);
}, 1_800_000);
