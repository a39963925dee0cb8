/** Where a fidelity record says a field is: `messages[0].content[*].text`. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+|\*)\]/g)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const key = name ?? (index === '*' ? '0' : (index ?? ''));
    value = Reflect.get(value, key);
  }
  return value;
}

/** A value in one line, as JSON, cut in its middle. */
export function shown(value: unknown, most = 60): string {
  const text = JSON.stringify(value) ?? '';
  if (text.length <= most) return text;
  return `${text.slice(0, Math.ceil(most * 0.7))}…${text.slice(-Math.floor(most * 0.2))}`;
}
