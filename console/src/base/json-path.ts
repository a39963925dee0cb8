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
