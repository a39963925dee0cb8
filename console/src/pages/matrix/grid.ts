import type { Matrix } from '../../api/types.ts';

export interface Group {
  readonly title: string;
  readonly names: readonly string[];
}

export interface Row {
  readonly id: string;
  readonly name: string;
  /** Levels of capabilities and modes of dialects, by their name. */
  readonly cells: ReadonlyMap<string, string>;
}

export type Kind = 'engine' | 'adapter' | 'host' | 'sidecar';

/** Capabilities by what they are about; what is not named here stands under Other. */
const ABOUT: readonly (readonly [string, RegExp])[] = [
  ['Asking', /streaming|system|max_tokens|stop|temperature|top_|seed|penalty|cache/],
  ['Seeing', /image_input|pdf|audio|video|vision|file_input/],
  ['Tools', /tool|web_|code_execution|function|mcp/],
  ['Answering', /thinking|json|schema|logprobs|image_generation|reasoning|citation|structured/],
];

const SHORT: Readonly<Record<string, string>> = {
  structured_output_json_schema: 'json schema',
  seed_determinism: 'seed',
  tool_web_search: 'web search',
  tool_web_fetch: 'web fetch',
};

export function wordOf(name: string): string {
  return SHORT[name] ?? name.replaceAll('_', ' ');
}

export function dialectsOf(matrix: Matrix | undefined): readonly string[] {
  return [...new Set((matrix?.cells ?? []).map(({ dialect }) => dialect))];
}

/** How many backends there are of a kind. */
export function countOf(matrix: Matrix | undefined, kind: Kind): number {
  const backends = (matrix?.capabilities ?? []).map(({ backend }) => backend).filter((id) => id.startsWith(`${kind}:`));
  return new Set(backends).size;
}

/** Columns: the dialects, then capabilities in groups. */
export function groupsOf(matrix: Matrix | undefined, kind: Kind, find: string): readonly Group[] {
  if (matrix === undefined) return [];
  const wanted = find.trim().toLowerCase().replaceAll(' ', '_');
  const stated = matrix.capabilities.filter(({ backend }) => backend.startsWith(`${kind}:`));
  const names = [...new Set(stated.map(({ capability }) => String(capability)))];
  const fits = names.filter((name) => name.includes(wanted) || wordOf(name).replaceAll(' ', '_').includes(wanted));
  const narrowed = wanted !== '' && fits.length > 0;
  const groups = new Map<string, string[]>([['Dialects', narrowed || kind !== 'engine' ? [] : [...dialectsOf(matrix)]]]);
  for (const name of narrowed ? fits : names) {
    const title = ABOUT.find(([, pattern]) => pattern.test(name))?.[0] ?? 'Other';
    groups.set(title, [...(groups.get(title) ?? []), name]);
  }
  return ['Dialects', ...ABOUT.map(([title]) => title), 'Other']
    .map((title) => ({ title, names: groups.get(title) ?? [] }))
    .filter(({ names: all }) => all.length > 0);
}

/** Rows: the backends of one kind. */
export function rowsOf(matrix: Matrix | undefined, kind: Kind, find: string): readonly Row[] {
  if (matrix === undefined) return [];
  const rows = new Map<string, Map<string, string>>();
  for (const { capability, backend, level } of matrix.capabilities) {
    if (!backend.startsWith(`${kind}:`)) continue;
    const cells = rows.get(backend) ?? new Map<string, string>();
    rows.set(backend, cells.set(capability, typeof level === 'string' ? level : 'restricted'));
  }
  if (kind === 'engine') for (const { dialect, engine, mode } of matrix.cells) rows.get(`engine:${engine}`)?.set(dialect, mode);
  const all = [...rows].map(([id, cells]) => ({ id, name: id.slice(kind.length + 1), cells }));
  const fits = all.filter(({ name }) => name.includes(find.trim().toLowerCase()));
  return fits.length === 0 ? all : fits;
}

/** Why a capability is restricted, in the backend's own words. */
export function reasonOf(matrix: Matrix | undefined, backend: string, capability: string): string | undefined {
  const level = matrix?.capabilities.find((one) => one.backend === backend && one.capability === capability)?.level;
  return typeof level === 'object' ? level.restricted.reason : undefined;
}
