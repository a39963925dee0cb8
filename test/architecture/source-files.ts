import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** A file of the project: its path from the root with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export const ROOT = join(import.meta.dirname, '..', '..');

/** What git ignores or owns. The tree is walked instead of asking git, so that the tests also hold in an exported copy. */
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** Paths of every file of the project, from the root, sorted. */
export function projectPaths(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      if (NOT_OURS.has(entry.name) || entry.name.endsWith('.log')) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return projectPaths(path);
      return entry.isFile() ? [relative(ROOT, path).split(sep).join('/')] : [];
    })
    .sort();
}

export function readSource(path: string): SourceFile {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** The TypeScript files below the given folders, fixtures left out: those are data, also when they are written in TypeScript. */
export function typescriptFiles(...folders: readonly string[]): SourceFile[] {
  return projectPaths()
    .filter((path) => path.endsWith('.ts') && !path.includes('/fixtures/') && folders.some((folder) => path.startsWith(`${folder}/`)))
    .map(readSource);
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}
