import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

/** A number that a double changes. */
const NUMBER = '12345678901234567890';

/** Members that hold schemas and arguments of the caller's own. */
const FREE: ReadonlySet<string> = new Set([
  'input_schema',
  'parameters',
  'parametersJsonSchema',
  'input',
  'args',
  'schema',
  'responseJsonSchema',
]);

/** Puts a large number into each free object of a request in turn and sees that the engine gets it as it is, or that the request is refused. */
export function tryNumbers({ id, from, body, address }: SampleRequest, target: MappingTarget, tally: Tally): void {
  for (const [place, changed] of withNumbers(body, '')) {
    const { upstream } = mapTo(target, from, changed, { emulate: OPTED_IN, address });
    if (upstream === undefined) continue;
    const text = JSON.stringify(upstream.body).replaceAll('\\', '');
    tally.tried += 1;
    // A place that does not arrive at all is a matter of its fate, not of numbers.
    if (text.includes('big_number') && !text.includes(NUMBER)) tally.wrong.push({ sample: id, where: target.name, what: place });
  }
}

function* withNumbers(value: Json, at: string): Generator<readonly [place: string, body: Json]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries())
      for (const [place, changed] of withNumbers(one as Json, `${at}[${index}]`)) // members of JSON
        yield [place, value.map((other: Json, number) => (number === index ? changed : other))];
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, one] of Object.entries(value)) {
    if (FREE.has(key) && isJsonObject(one)) yield [`${at}.${key}`, { ...value, [key]: enlarged(key, one) }];
    else for (const [place, changed] of withNumbers(one, `${at}.${key}`)) yield [place, { ...value, [key]: changed }];
  }
}

/** A schema gets a property with the number as its only value, arguments get a member. */
function enlarged(key: string, object: JsonObject): JsonObject {
  const parsed = parseJson(NUMBER);
  const number = parsed.ok ? parsed.value : null;
  if (key === 'input' || key === 'args') return { ...object, big_number: number };
  return { ...object, properties: { ...(isJsonObject(object.properties) ? object.properties : {}), big_number: { enum: [number] } } };
}
