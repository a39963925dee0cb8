import { Slices } from '../../base/bounded/turns.ts';

/** Lists of receipts have long lists themselves: items, their members, the elements of those. */
const DEEPEST = 4;

/**
 * The JSON text of an answer, in parts. Most are written at once; a list of receipts, or one receipt of a run with tens of thousands of
 * tool calls, takes many milliseconds and is written in slices, with everybody else's calls in between.
 */
export function jsonInSlices(body: unknown): string | Promise<Buffer[]> {
  if (!isParted(body, DEEPEST)) return JSON.stringify(body);
  const steps = stepsOf(body, DEEPEST);
  const slices = new Slices();
  let text = '';
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return text;
    text += value;
    if (slices.over) return theRest(text, steps, slices);
  }
}

async function theRest(begun: string, steps: Iterator<string>, slices: Slices): Promise<Buffer[]> {
  const parts = [Buffer.from(begun)];
  await slices.next();
  for (;;) {
    let text = '';
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      text += step.value;
      if (slices.over) break;
    }
    // As bytes at once: what was put together is read when its bytes are counted.
    parts.push(Buffer.from(text));
    if (step.done === true) return parts;
    await slices.next();
  }
}

/** The text of a value piece by piece, as `JSON.stringify` writes it as a whole. */
function* stepsOf(value: object, depth: number): Generator<string, void> {
  if (Array.isArray(value)) yield* elementsOf(value, depth);
  else yield* membersOf(value, depth);
}

function* elementsOf(list: readonly unknown[], depth: number): Generator<string, void> {
  yield '[';
  let comma = '';
  for (const element of list) {
    if (isParted(element, depth)) {
      yield comma;
      yield* stepsOf(element, depth - 1);
    } else yield `${comma}${JSON.stringify(element) ?? 'null'}`;
    comma = ',';
  }
  yield ']';
}

function* membersOf(object: object, depth: number): Generator<string, void> {
  yield '{';
  let comma = '';
  for (const [name, value] of Object.entries(object)) {
    if (isParted(value, depth)) {
      yield `${comma}${JSON.stringify(name)}:`;
      yield* stepsOf(value, depth - 1);
    } else {
      const text = JSON.stringify(value);
      if (text === undefined) continue;
      yield `${comma}${JSON.stringify(name)}:${text}`;
    }
    comma = ',';
  }
  yield '}';
}

/** Whether a value is written piece by piece: a list or a plain object. Dates and exact numbers write themselves. */
function isParted(value: unknown, depth: number): value is object {
  if (depth === 0 || typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || (Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value));
}
