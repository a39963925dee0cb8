/** Where a fidelity record says a field is: `messages[0].content[*].text`. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of stepsOf(path)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, name === '*' ? '0' : name);
  }
  return value;
}

function stepsOf(path: string): string[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+|\*)\]/g)].map(([, name, index]) => name ?? index ?? '');
}

/** Things with a path in the order in which their fields stand in a body; those that stand nowhere in it come last, as they were. */
export function inOrder<T>(items: readonly T[], pathOf: (item: T) => string, body: unknown): readonly T[] {
  const placed = items.map((item) => ({ item, at: placeOf(body, stepsOf(pathOf(item))) }));
  return placed.toSorted((a, b) => compared(a.at, b.at)).map(({ item }) => item);
}

/** At which member each step of a path is found. */
function placeOf(body: unknown, steps: readonly string[]): readonly number[] {
  let value = body;
  return steps.map((step) => {
    const name = step === '*' ? '0' : step;
    const at = typeof value === 'object' && value !== null ? Object.keys(value).indexOf(name) : -1;
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return at < 0 ? Number.MAX_SAFE_INTEGER : at;
  });
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const by = (a[index] ?? 0) - (b[index] ?? 0);
    if (by !== 0) return by;
  }
  return a.length - b.length;
}

/** The line of a field in the pretty form of a body, counted from 0; undefined where it has no such field. */
export function lineAt(body: unknown, path: string): number | undefined {
  let [value, line] = [body, 0];
  for (const step of stepsOf(path)) {
    const name = step === '*' ? '0' : step;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    const members = Object.entries(value);
    const at = members.findIndex(([key]) => key === name);
    line += members.slice(0, at).reduce((sum, [, member]) => sum + JSON.stringify(member, null, 2).split('\n').length, 1);
    value = Reflect.get(value, name);
  }
  return line;
}

/** A copy without what is at the path; `*` stands for every member of a list. What becomes empty by that goes, too. */
export function without(body: unknown, path: string): unknown {
  return pruned(body, stepsOf(path));
}

function pruned(value: unknown, steps: readonly string[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    return value.flatMap((item, at): unknown[] => {
      if (step !== '*' && step !== String(at)) return [item];
      const kept = pruned(item, rest);
      return kept === undefined ? [] : [kept];
    });
  }
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name !== step) return [[name, member]];
    const kept = pruned(member, rest);
    return kept === undefined || isEmpty(kept) ? [] : [[name, kept]];
  });
  return Object.fromEntries(members);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** A value in one line, as JSON, cut in its middle. */
export function shown(value: unknown, most = 60): string {
  const text = JSON.stringify(value) ?? '';
  if (text.length <= most) return text;
  return `${text.slice(0, Math.ceil(most * 0.7))}…${text.slice(-Math.floor(most * 0.2))}`;
}
