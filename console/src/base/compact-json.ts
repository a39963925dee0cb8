const WIDTH = 76;

/**
 * JSON as people write it: what fits into a line stands on one line, the rest is broken. A list of one object shares its brackets, so that
 * the eye meets fewer lines that say nothing.
 */
export function compactJson(value: unknown, width = WIDTH): string {
  return written(value, '', width, false);
}

function written(value: unknown, indent: string, width: number, broken: boolean): string {
  const line = oneLine(value);
  const fits = !broken && line.length <= width - indent.length;
  if (typeof value !== 'object' || value === null || fits) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const [only] = value;
    if (value.length === 1 && isObject(only)) return `[${written(only, indent, width, true)}]`;
    return `[\n${value.map((item) => `${inner}${written(item, inner, width, false)}`).join(',\n')}\n${indent}]`;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const key = `${inner}${JSON.stringify(name)}: `;
    return `${key}${written(member, inner, width - name.length - 4, false)}`;
  });
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map(oneLine).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  return JSON.stringify(value) ?? 'null';
}
