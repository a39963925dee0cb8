import type { JsonObject } from '../../base/json.ts';
import { countAt, listAt, objectAt, textAt } from '../families/lines/fields.ts';

/** The agent's own record of an edit as a unified diff; undefined when the result is not an edit. */
export function unifiedDiff(details: JsonObject): string | undefined {
  const hunks = listAt(details.structuredPatch).map(objectAt);
  return hunks.length === 0 ? undefined : hunks.map(hunkText).join('');
}

function hunkText(hunk: JsonObject): string {
  const range = (mark: string, start: number | undefined, lines: number | undefined) => `${mark}${start ?? 0},${lines ?? 0}`;
  const head = `@@ ${range('-', countAt(hunk.oldStart), countAt(hunk.oldLines))} ${range('+', countAt(hunk.newStart), countAt(hunk.newLines))} @@`;
  return `${[head, ...listAt(hunk.lines).map((line) => textAt(line) ?? '')].join('\n')}\n`;
}
