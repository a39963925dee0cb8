import { describe, expect, it } from 'vitest';
import { linesByFile, linesOfDiff } from './patch-lines.ts';

const PATCH = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@
 kept
--- a line that looks like a head
+++ another one
 kept
diff --git a/new b/new
new file mode 100644
index 0..3
--- /dev/null
+++ b/new
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
deleted file mode 100644
index 3..0
--- "a/\\303\\244.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/picture.png b/picture.png
index 4..5
GIT binary patch
literal 3
`;

describe('the lines of a patch', () => {
  it('are counted by file, also where a line looks like the head of another file', () => {
    expect([...linesByFile(PATCH)]).toEqual([
      ['src/a.ts', { added: 1, removed: 1 }],
      ['new', { added: 2, removed: 0 }],
      ['ä.txt', { added: 0, removed: 1 }],
    ]);
  });

  it('are counted in a diff that an agent told', () => {
    expect(linesOfDiff('@@ -1,1 +1,2 @@\n-a\n+b\n+c\n')).toEqual({ added: 2, removed: 1 });
    expect(linesOfDiff('-one\n+three\n')).toEqual({ added: 1, removed: 1 });
  });
});
