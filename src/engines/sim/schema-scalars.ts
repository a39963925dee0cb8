import type { Json, JsonObject } from '../../base/json.ts';

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'sim@example.com',
  hostname: 'example.com',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/sim',
  uuid: '00000000-0000-4000-8000-000000000000',
  regex: '.*',
};

/** A pattern cannot be solved in general; these meet the common ones. */
const PATTERN_TRIES = [
  'sim',
  'a',
  'A',
  '0',
  '1',
  'aa',
  'AA',
  '00',
  'abc',
  'ABC',
  '123',
  'a1',
  'A1',
  'sim-1',
  '1.0.0',
  '1.0',
  '00:00',
  '#000000',
  '+10000000000',
  '/sim',
  'sim.txt',
  'sim_1',
  '$1.00',
  '@sim',
];

/** A string for the schema; `nth` makes several differ. */
export function stringFor(schema: JsonObject, nth: number): string {
  const formatted = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
  if (formatted !== undefined) return formatted;
  const least = numeric(schema.minLength) ?? 0;
  const most = numeric(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  const matched = typeof schema.pattern === 'string' ? matching(schema.pattern, least, most) : undefined;
  return matched ?? (nth === 0 ? 'sim' : `${nth}-sim`).padEnd(least, 'x').slice(0, most);
}

function matching(pattern: string, least: number, most: number): string | undefined {
  const compiled = compile(pattern);
  if (compiled === undefined) return undefined;
  const texts = [
    ...PATTERN_TRIES,
    ...Object.values(FORMATS),
    ...['a', 'A', '0', 'x'].map((letter) => letter.repeat(Math.min(least, 1000))),
  ];
  return texts.find((text) => text.length >= least && text.length <= most && compiled.test(text));
}

/** A pattern that is no ECMAScript regular expression cannot be honoured. */
function compile(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A number in the schema's range, 0 if that is allowed; `nth` makes several differ. */
export function numberFor(schema: JsonObject, integer: boolean, nth: number): number {
  const step = stepOf(schema, integer);
  const low = lowest(schema, step);
  const high = highest(schema, step);
  const start = low > 0 ? low : Math.min(high, 0);
  const away = nth * (step ?? 1);
  return start + away <= high ? start + away : start - away;
}

function stepOf(schema: JsonObject, integer: boolean): number | undefined {
  const multiple = numeric(schema.multipleOf);
  if (multiple === undefined || multiple <= 0) return integer ? 1 : undefined;
  return integer && !Number.isInteger(multiple) ? 1 : multiple;
}

/** The lowest value allowed. Draft 4 and OpenAPI 3.0 write an exclusive bound as `true` beside the bound. */
function lowest(schema: JsonObject, step: number | undefined): number {
  const minimum = numeric(schema.minimum) ?? Number.NEGATIVE_INFINITY;
  const exclusive = (schema.exclusiveMinimum === true ? minimum : numeric(schema.exclusiveMinimum)) ?? Number.NEGATIVE_INFINITY;
  if (step === undefined) return exclusive >= minimum ? exclusive + gap(schema) : minimum;
  return Math.max(Math.ceil(minimum / step) * step, (Math.floor(exclusive / step) + 1) * step);
}

/** The highest value allowed. */
function highest(schema: JsonObject, step: number | undefined): number {
  const maximum = numeric(schema.maximum) ?? Number.POSITIVE_INFINITY;
  const exclusive = (schema.exclusiveMaximum === true ? maximum : numeric(schema.exclusiveMaximum)) ?? Number.POSITIVE_INFINITY;
  if (step === undefined) return exclusive <= maximum ? exclusive - gap(schema) : maximum;
  return Math.min(Math.floor(maximum / step) * step, (Math.ceil(exclusive / step) - 1) * step);
}

/** How far a fractional number stays away from an exclusive bound: a part of the range, so that both ends keep clear of each other. */
function gap(schema: JsonObject): number {
  const low = numeric(schema.exclusiveMinimum) ?? numeric(schema.minimum);
  const high = numeric(schema.exclusiveMaximum) ?? numeric(schema.maximum);
  return low === undefined || high === undefined ? 1 : Math.min(1, (high - low) / 4);
}

/** Gemini sends integer keywords as strings. */
function numeric(value: Json | undefined): number | undefined {
  const number = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
