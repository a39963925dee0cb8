import { z } from 'zod';
import type { Paint } from './output.ts';
import { table } from './table.ts';

const Change = z.looseObject({ path: z.string(), running: z.json(), file: z.json(), reason: z.string().optional() });
export const ConfigAnswer = z.looseObject({ source: z.string().nullable(), changed: z.array(Change), restart: z.array(Change) });

/** Values in which the file and the running server differ, as people read them. `verb`: what becomes of those that need no restart. */
export function renderChanges({ source, changed, restart }: z.infer<typeof ConfigAnswer>, paint: Paint, verb: string): string {
  const where = source ?? 'the environment (there is no file)';
  if (changed.length + restart.length === 0) return `The server runs as ${where} says.`;
  const rows = (all: readonly z.infer<typeof Change>[]): string =>
    table(
      all.map(({ path, running, file, reason }) => [path, paint.faint(JSON.stringify(running)), '→', JSON.stringify(file), reason ?? '']),
    );
  const parts = [
    ...(changed.length === 0 ? [] : [paint.strong(`${verb}, by ${where}:`), rows(changed)]),
    ...(restart.length === 0 ? [] : [paint.warn('after a restart:'), rows(restart)]),
  ];
  return parts.join('\n');
}
