import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { mapTo, OPTED_IN } from '../support/mapping.ts';
import { tryFates, tryStrangers, vocabularyOf } from './fates.ts';
import { programCases } from './program-cases.ts';
import { rivals } from './rivals.ts';
import { fixtureRequests, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

/** One leaf in so many is changed here; `npm run truth` changes all of them, those of recorded requests too. */
const STEP = 5;

const samples = [...fixtureRequests(), ...programCases()];

/** One request with two fields that compete in so many, each on one target in so many. */
const RIVALS = 40;

const competing = rivals();
const words = vocabularyOf(competing);

test.each(TARGETS.map((target, at) => ({ ...target, at })))(
  'where one field goes before another the record of a request says so on $name',
  ({ at, ...target }) => {
    const tally = newTally();
    for (const [nth, sample] of competing.entries()) if ((nth + at) % RIVALS === 0) tryFates(sample, target, tally, { words });
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  },
);

/** Rivals that every dialect with such members must tell apart. */
test.each([
  [
    'gemini',
    { tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' }, parametersJsonSchema: { type: 'object' } }] }] },
    'tools[*].functionDeclarations[*].parameters.type',
    'lost_to_other',
  ],
  [
    'gemini',
    {
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT' },
        responseJsonSchema: { type: 'object' },
      },
    },
    'generationConfig.responseSchema.type',
    'lost_to_other',
  ],
  [
    'gemini',
    { toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } } },
    'toolConfig.functionCallingConfig.allowedFunctionNames[*]',
    'means_nothing_alone',
  ],
  ['openai-chat', { stream_options: { include_obfuscation: false } }, 'stream_options.include_obfuscation', 'means_nothing_alone'],
  ['claude', { max_tokens: 50, thinking: { type: 'disabled', display: 'omitted' } }, 'thinking.display', 'means_nothing_alone'],
] as const)('of rivals in %s the record names the one that is lost: %j', (from, members, path, code) => {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    input: 'hi',
    contents: [{ parts: [{ text: 'hi' }] }],
    ...members,
  };
  const told = TARGETS.filter(({ dialect }) => dialect.id !== from).flatMap((target) => {
    const { fidelity } = mapTo(target, from, JSON.parse(JSON.stringify(body)), { unknownLeaves: 'report', emulate: OPTED_IN });
    const entry = fidelity.find((one) => one.path.replaceAll(/\[\d+\]/g, '[*]') === path);
    return entry === undefined ? [] : [`${entry.fate} ${entry.code}`];
  });
  expect([...new Set(told)]).toEqual([`dropped ${code}`]);
});

describe.each(dialects.map(({ id }) => id))('the record of a request of %s', (from) => {
  test.each(TARGETS)('says of each field what happens to it on $name', (target) => {
    const tally = newTally();
    for (const [at, sample] of samples.filter((one) => one.from === from).entries()) {
      tryFates(sample, target, tally, { picked: (leaf) => (leaf + at) % STEP === 0 });
    }
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });

  test.each(TARGETS)('says of a member that nobody knows what happens to it on $name, in whatever object it stands', (target) => {
    const tally = newTally();
    for (const sample of samples.filter((one) => one.from === from)) tryStrangers(sample, target, tally);
    expect(linesOf(tally)).toEqual([]);
  });
});
