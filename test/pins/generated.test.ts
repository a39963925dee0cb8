import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedFiles } from '../../scripts/generate/files.ts';

const root = join(import.meta.dirname, '..', '..');

it.each(generatedFiles)('$path is what `npm run generate` writes', (file) => {
  const path = join(root, file.path);
  expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(file.render());
});

it('has no schema file that nothing generates', () => {
  const committed = readdirSync(join(root, 'src/contract/schemas')).map((name) => `src/contract/schemas/${name}`);
  const generated = generatedFiles.map((file) => file.path).filter((path) => path.startsWith('src/contract/schemas/'));
  expect(committed.sort()).toEqual(generated.sort());
});
