import { expect, it } from 'vitest';
import { importsOf } from './imports.ts';

const specifiers = (text: string): string[] => importsOf(text).map((found) => found.specifier);

it('reads every form of import', () => {
  expect(specifiers("import a from 'a';\nimport {\n  b,\n} from \"b\";\nimport 'c';\nimport * as d from 'd';")).toEqual([
    'a',
    'b',
    'c',
    'd',
  ]);
  expect(specifiers("export { e } from 'e';\nexport * from 'f';\nexport type { G } from 'g';")).toEqual(['e', 'f', 'g']);
  expect(specifiers("const h = await import('h');\ntype I = import( 'i' ).I;\nconst j = require('j');")).toEqual(['h', 'i', 'j']);
});

it('reads the fixed beginning of a computed address', () => {
  expect(specifiers(['const m = import(`./commands/', '$', '{name}.ts`);'].join(''))).toEqual(['./commands/']);
});

it('is not misled by comments, strings and calls named from', () => {
  expect(specifiers("// import a from 'a'\n/* from 'b' */ const c = \"import 'd'\";\nArray.from('e'); x.import('f');")).toEqual([]);
});

it('knows a type import from an import that names types', () => {
  const text = "import type { A } from 'a';\nimport { type B } from 'b';\nexport type { C } from 'c';\nimport type from 'd';";
  expect(importsOf(text).map((found) => found.typeOnly)).toEqual([true, false, true, false]);
});
