import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { NOT_APPLICABLE } from './not-applicable.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ALL = Array.from({ length: 72 }, (_, at) => `C${String(at + 1).padStart(2, '0')}`);

/** The cases that the titles of this folder's tests begin with. */
function tested(): string[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => [...readFileSync(`${FOLDER}${name}`, 'utf8').matchAll(/\bit\(\s*'(C\d\d) /g)].map(([, id]) => id ?? ''));
}

it('every field case is tested once, or listed with the reason why it cannot happen here', () => {
  expect([...tested(), ...NOT_APPLICABLE.map((line) => line.case)].sort()).toEqual(ALL);
  for (const { reason } of NOT_APPLICABLE) expect(reason.length).toBeGreaterThan(20);
});
