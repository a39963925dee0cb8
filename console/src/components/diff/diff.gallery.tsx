import type { Specimen } from '../../base/specimen.ts';
import { Diff } from './diff.tsx';
import { replacement } from './replacement.ts';

const UNIFIED =
  "@@ -18,3 +18,5 @@\n test('two workers never hold one lease', async () => {\n-  const [a, b] = [await claim(), await claim()];\n+  const [a, b] = await Promise.all([\n+    claim(db, 'a'),\n+  ]);\n   expect(a).not.toBe(b);\n@@ -40 +42 @@\n-x\n+y";

export const states: readonly Specimen[] = [
  { name: 'two pieces of a file', shows: <Diff text={UNIFIED} /> },
  { name: 'a new file', shows: <Diff text={'+create table lease (\n+  id uuid primary key\n+);'} /> },
  { name: 'one text for another', shows: <Diff text={replacement('one\ntwo', 'one\nzwei\ndrei')} /> },
  {
    name: 'a thousand lines',
    shows: (
      <div className="tall">
        <div className="scroll">
          <Diff text={'+line\n'.repeat(1000)} />
        </div>
      </div>
    ),
  },
  {
    name: 'a very long line',
    shows: (
      <div className="column">
        <Diff text={`+${'x'.repeat(400)}`} />
      </div>
    ),
  },
];
