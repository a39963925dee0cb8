import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generate/files.ts';

const root = join(import.meta.dirname, '..');

function current(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const stale = generatedFiles.map((file) => ({ path: file.path, text: file.render() })).filter((file) => current(file.path) !== file.text);

if (process.argv.includes('--check')) {
  for (const { path } of stale) console.error(`out of date: ${path}`);
  if (stale.length > 0) console.error('Run: npm run generate');
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const { path, text } of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`wrote ${path}`);
  }
}
