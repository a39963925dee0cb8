import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CcrConfig, fromCcr } from '../../src/cli/import/ccr.ts';
import type { Draft } from '../../src/cli/import/draft.ts';
import { fromLitellm } from '../../src/cli/import/litellm.ts';
import { LitellmConfig } from '../../src/cli/import/litellm-config.ts';
import { parseAt } from '../../src/contract/border.ts';

type Value = null | string | number | boolean | Value[] | { [name: string]: Value };
type Step = string | number;

interface Gateway {
  readonly name: string;
  readonly file: Value;
  translate(file: Value): Draft;
  /** Tables whose names the user chooses: whatever is written there is a name. */
  readonly names: readonly RegExp[];
  /** Values that say what is so anyway. */
  readonly defaults: readonly RegExp[];
}

const fixture = (name: string): Value => parse(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'), { version: '1.1' });
const env = { AZURE_API_BASE: 'https://eu.openai.azure.com', GLM_URL: 'https://glm.example/v1/chat/completions' };

const GATEWAYS: readonly Gateway[] = [
  {
    name: 'litellm',
    file: fixture('litellm.yaml'),
    translate: (file) => fromLitellm(parseAt(LitellmConfig, file, 'file'), env),
    names: [/fallbacks\[\d+\]$/, /extra_headers$/],
    defaults: [/model_info\.mode$/, /cache_params\.mode$/],
  },
  {
    name: 'ccr',
    file: fixture('ccr.json'),
    translate: (file) => fromCcr(parseAt(CcrConfig, file, 'file'), env),
    names: [],
    defaults: [/^HOST$/],
  },
];

const textOf = (steps: readonly Step[]): string =>
  steps.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`), '');

/** All places of a file: tables and lists, and the values in them. */
function* placesIn(value: Value, steps: readonly Step[] = []): Generator<{ readonly steps: readonly Step[]; readonly value: Value }> {
  yield { steps, value };
  if (value === null || typeof value !== 'object') return;
  for (const [name, one] of Object.entries(value)) yield* placesIn(one, [...steps, Array.isArray(value) ? Number(name) : name]);
}

/** The file with something else in a place; undefined takes it out. */
function changed(value: Value, [step, ...rest]: readonly Step[], to: Value | undefined): Value {
  if (step === undefined) return to ?? null;
  const copy: Value = structuredClone(value);
  if (copy === null || typeof copy !== 'object') return copy;
  const table = copy as { [name: string]: Value }; // a list is one, too, with numbers for names
  if (rest.length > 0) table[step] = changed(table[step] ?? null, rest, to);
  else if (to !== undefined) table[step] = to;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete table[step];
  return copy;
}

/** What is made of a file; a file that is refused is another thing than any. */
function madeOf({ translate }: Gateway, file: Value): string {
  try {
    const { toml, variables } = ((draft) => ({ toml: draft.toml(), variables: draft.variables }))(translate(file));
    return `${toml}\n${JSON.stringify(variables)}`;
  } catch (error) {
    return String(error);
  }
}

const other = (value: Value): Value => (typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : `${value}-other`);

/** Whether a place or one that it is in is spoken of, or a note names the value itself. */
function isSaid(draft: Draft, steps: readonly Step[], value?: Value): boolean {
  const places = steps.map((_, at) => textOf(steps.slice(0, at + 1)));
  const named = ({ where, what }: Draft['remarks'][number]): boolean =>
    where === places.at(-1) || (typeof value === 'string' && places.includes(where) && what.includes(value));
  return draft.speaksOf(places) || draft.remarks.some(named);
}

describe.each(GATEWAYS)('abp import $name', (gateway) => {
  const { file, translate, names, defaults } = gateway;

  test('translates every value of a file, or says that it does not', () => {
    const [draft, made] = [translate(file), madeOf(gateway, file)];
    const silent = [...placesIn(file)]
      .filter(({ value }) => value === null || typeof value !== 'object')
      .filter(({ steps, value }) => !isSaid(draft, steps, value) && !defaults.some((one) => one.test(textOf(steps))))
      .filter(({ steps, value }) => [undefined, other(value)].every((to) => madeOf(gateway, changed(file, steps, to)) === made));
    expect(silent.map(({ steps }) => textOf(steps))).toEqual([]);
  });

  test('says of an unknown value that it has no counterpart, wherever it is', () => {
    const tables = [...placesIn(file)].filter(({ value }) => value !== null && typeof value === 'object' && !Array.isArray(value));
    expect(tables.length).toBeGreaterThan(15);
    const silent = tables
      .filter(({ steps }) => !names.some((one) => one.test(textOf(steps))))
      .flatMap(({ steps }) =>
        ['a text', { inside: [{ deep: 1 }] }].map((value) => {
          const unknown = [...steps, 'never_heard_of'];
          const leaf = typeof value === 'string' ? unknown : [...unknown, 'inside', 0, 'deep'];
          return { leaf, draft: translate(changed(file, unknown, value)) };
        }),
      )
      .filter(({ leaf, draft }) => !isSaid(draft, leaf));
    expect(silent.map(({ leaf }) => textOf(leaf))).toEqual([]);
  });
});
