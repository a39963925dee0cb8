/** A kind of thing that is added as one folder `<id>/` of the same shape. */
export interface Kind {
  readonly folder: string;
  /** The file that wires the parts together and names the id. */
  readonly wiring: string;
  /** Files every `<id>/` has; more are allowed. */
  readonly files: readonly string[];
  /** Folders beside the ids that are not an id: what several ids share, or rows of data. Ids may import them, never the reverse. */
  readonly notIds: readonly string[];
}

export const KINDS: readonly Kind[] = [
  {
    folder: 'src/dialects',
    wiring: 'dialect.ts',
    files: ['dialect.ts', 'wire.ts', 'lift.ts', 'lower.ts', 'stream.ts', 'observe.ts'],
    notIds: ['families'],
  },
  { folder: 'src/engines', wiring: 'engine.ts', files: ['engine.ts', 'manifest.ts'], notIds: ['families', 'openai-compatible'] },
  {
    folder: 'src/adapters',
    wiring: 'adapter.ts',
    files: ['adapter.ts', 'profile.ts', 'models.ts', 'spawn.ts', 'events.ts', 'traffic.ts'],
    notIds: ['families'],
  },
  { folder: 'src/platform/capabilities', wiring: 'capability.ts', files: ['capability.ts'], notIds: [] },
];

/** Where a path stands inside its kind: in the folder of an id, in one that is not an id, or at the top (`part` undefined). */
export interface Place {
  readonly kind: Kind;
  readonly part: string | undefined;
  readonly isId: boolean;
}

export function placeOf(path: string): Place | undefined {
  const kind = KINDS.find(({ folder }) => path.startsWith(`${folder}/`));
  if (kind === undefined) return undefined;
  const [first, ...rest] = path.slice(kind.folder.length + 1).split('/');
  const part = rest.length === 0 ? undefined : first;
  return { kind, part, isId: part !== undefined && part !== 'fixtures' && !kind.notIds.includes(part) };
}
