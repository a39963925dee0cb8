import { createContext, Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { blank, lineOf } from './blanking.ts';
import { isTest, typescriptFiles } from './source-files.ts';
import { worstStrings } from './worst-strings.ts';

const files = typescriptFiles('src').filter(({ path }) => !isTest(path));

/** Long enough that a search which reads the text once for each of its characters takes many times as long as one that reads it once. */
const LENGTH = 16_000;
/** A search that reads once takes less than a millisecond; one that reads as often as there are characters takes 50 to 1000. */
const MOST_MS = 20;

/** Text longer than `LENGTH` cannot reach these, for the reason that is given. */
const BOUNDED: Readonly<Record<string, string>> = {
  '/(?:000)+$/': 'nine digits',
  '/(?:^|[\\n.!?;,:>"(]|\\b(?:please|then|and|now))\\s*$/i': 'the 24 characters before a word',
};

/** An expression without a repetition that may go on reads a part of the text at most. */
const UNBOUNDED = /[*+]|,\}/;

function compiled(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

/** An expression that reads a text more often than all its characters would not end: the deadline of a script also ends a search. */
const DEADLINE_MS = 3000;
const script = new Script('run()');
const context = createContext({});

function isSlow(expression: RegExp, text: string): boolean {
  // The best of three, because other programs run too.
  for (let tries = 0; tries < 3; tries += 1) {
    const begun = performance.now();
    expression.lastIndex = 0;
    if (expression.global) text.replace(expression, '');
    else expression.test(text);
    if (performance.now() - begun <= MOST_MS) return false;
  }
  return true;
}

/** The beginning of a text that takes too long. */
function slowString(literal: string): string | undefined {
  const expression = compiled(literal);
  let tried = '';
  context.run = (): boolean => {
    for (const text of worstStrings(expression.source, LENGTH)) {
      tried = text;
      if (isSlow(expression, text)) return true;
    }
    return false;
  };
  try {
    return script.runInContext(context, { timeout: DEADLINE_MS }) === true ? tried.slice(0, 40) : undefined;
  } catch (error) {
    if (!String(error).includes('timed out')) throw error;
    return tried.slice(0, 40);
  }
}

const expressions = new Map(
  files.flatMap(({ path, text }) =>
    blank(text).expressions.map(({ literal, offset }) => [literal, `${path}:${lineOf(text, offset)}`] as const),
  ),
);

describe('regular expressions', () => {
  it('are found', () => {
    expect(expressions.size).toBeGreaterThan(200);
  });

  it('that read a text again and again are noticed', () => {
    expect(slowString('/(a+)+$/')).toBeDefined();
    expect(slowString('/\\b[a-z][a-z.]*:/g')).toBeDefined();
  });

  it('read each text once, also the text that is worst for them', { timeout: 120_000 }, () => {
    const slow = [...expressions]
      .filter(([literal]) => UNBOUNDED.test(literal) && BOUNDED[literal] === undefined)
      .flatMap(([literal, place]) => {
        const text = slowString(literal);
        return text === undefined ? [] : [`${place} ${literal} on ${JSON.stringify(text)}…`];
      });
    expect(slow).toEqual([]);
  });
});
