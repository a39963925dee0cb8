import { blank } from './blanking.ts';

/** One import, re-export or dynamic import of a file. */
export interface Import {
  readonly specifier: string;
  /** `import type` or `export type`: gone at run time. */
  readonly typeOnly: boolean;
}

/** Every way to name a module: the clause of a static import or re-export, an import for its effects, a call. */
const NAMES_MODULE = /(?:(?<![.\w$])from\s*|(?<![.\w$])import\s*(?:\(\s*)?|(?<![.\w$])require\s*\(\s*)(['"`])/g;

/** The modules a text names, strings and comments that only look like imports left out. */
export function importsOf(text: string): Import[] {
  const { codeOnly } = blank(text);
  return [...codeOnly.matchAll(NAMES_MODULE)].map((found) => {
    const quote = found[1] ?? "'";
    const start = found.index + found[0].length;
    const end = codeOnly.indexOf(quote, start);
    // Of a computed address only the fixed beginning is known; it still names the room.
    const specifier = text.slice(start, end).split('${')[0] ?? '';
    return { specifier, typeOnly: /^(?:import|export)\s+type\s+[\w{*$]/.test(statementBefore(codeOnly, found.index)) };
  });
}

function statementBefore(code: string, offset: number): string {
  const before = code.slice(0, offset);
  return before.slice(Math.max(before.lastIndexOf('import'), before.lastIndexOf('export'), 0));
}
