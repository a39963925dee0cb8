import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { placeOf } from './kinds.ts';
import { RANKS, roomOf } from './ranks.ts';
import { isTest, readSource, type SourceFile, typescriptFiles } from './source-files.ts';

/** The client is what users bundle: of the lower rooms it takes the contract, and types of base. */
const CLIENT_TAKES = ['contract'];
const CLIENT_TAKES_TYPES = ['base'];
/** What a test inside `src/` may import from outside it. */
const TEST_SUPPORT = 'test/support/';

function crossing(file: SourceFile, target: string, typeOnly: boolean): string | undefined {
  if (!target.startsWith('src/')) {
    return isTest(file.path) && target.startsWith(TEST_SUPPORT) ? undefined : 'leaves src';
  }
  const [from, to] = [roomOf(file.path), roomOf(target)];
  const [fromRank, toRank] = [RANKS[from], RANKS[to]];
  if (fromRank === undefined || toRank === undefined) return 'a room without a rank';
  if (from === to) return siblings(file.path, target);
  if (toRank > fromRank) return 'upward';
  if (toRank === fromRank) return 'sideways';
  if (from === 'client' && !CLIENT_TAKES.includes(to) && !(typeOnly && CLIENT_TAKES_TYPES.includes(to))) return 'not for the client';
  return undefined;
}

function siblings(path: string, target: string): string | undefined {
  const [from, to] = [placeOf(path), placeOf(target)];
  if (from === undefined || to === undefined || from.kind !== to.kind || from.part === undefined || from.part === to.part) return undefined;
  if (to.isId) return from.isId ? 'sideways, to a sibling' : 'from what is shared to one id';
  return to.part === undefined && target.endsWith('/index.ts') ? 'back to the registry' : undefined;
}

/** Every import that breaks the table, as `file → target: why`. */
function violations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const home =
      RANKS[roomOf(file.path)] === undefined || file.path.split('/').length < 3 ? [`${file.path}: not in a room of the table`] : [];
    const imports = importsOf(file.text).flatMap(({ specifier, typeOnly }) => {
      if (specifier.startsWith('#') || /^agent-backplane(\/|$)/.test(specifier))
        return [`${file.path} → ${specifier}: goes around the table`];
      if (!specifier.startsWith('.')) return [];
      const target = posix.join(posix.dirname(file.path), specifier);
      const why = crossing(file, target, typeOnly);
      return why === undefined ? [] : [`${file.path} → ${target}: ${why}`];
    });
    return [...home, ...imports];
  });
}

it('imports in src only go down', () => {
  const files = typescriptFiles('src');
  expect(files.length).toBeGreaterThan(0);
  expect(violations(files)).toEqual([]);
});

/** The rows `| rank | room | …` of a Markdown table. */
function documentedRanks(markdown: string): Record<string, number> {
  return Object.fromEntries([...markdown.matchAll(/^\| (\d+) \| `([a-z]+)` \|/gm)].map(([, rank, room]) => [room, Number(rank)]));
}

it('ARCHITECTURE.md shows the same table', () => {
  expect(documentedRanks(readSource('ARCHITECTURE.md').text)).toEqual(RANKS);
  expect(documentedRanks('| rank | room |\n|--:|---|\n| 0 | `base` | x |\n| 3 | `ir` | y |\n')).toEqual({ base: 0, ir: 3 });
});

describe('the checker', () => {
  const check = (path: string, text: string): string[] => violations([{ path, text }]);

  it('lets a file import its own room, lower rooms and packages', () => {
    const text = "import a from './a.ts'; import b from '../base/b.ts'; import z from 'zod'; import fs from 'node:fs';";
    expect(check('src/mapping/route.ts', text)).toEqual([]);
  });

  it('catches an upward import, static, re-exported, dynamic and of types', () => {
    expect(check('src/ir/part.ts', "import { a } from '../gateway/server.ts';")).toEqual([
      'src/ir/part.ts → src/gateway/server.ts: upward',
    ]);
    expect(check('src/ir/part.ts', "export { a } from '../mapping/route.ts';")).toEqual(['src/ir/part.ts → src/mapping/route.ts: upward']);
    expect(check('src/ir/part.ts', "await import('../calls/call.ts');")).toEqual(['src/ir/part.ts → src/calls/call.ts: upward']);
    expect(check('src/base/ids.ts', "import type { RunId } from '../contract/run-id.ts';")).toHaveLength(1);
  });

  it('catches a sideways import', () => {
    expect(check('src/models/cost.ts', "import '../store/database.ts';")).toEqual(['src/models/cost.ts → src/store/database.ts: sideways']);
    expect(check('src/cli/main.ts', "import '../node/client.ts';")).toHaveLength(1);
  });

  it('catches an import between sibling folders', () => {
    expect(check('src/dialects/claude/lift.ts', "import '../gemini/wire.ts';")).toEqual([
      'src/dialects/claude/lift.ts → src/dialects/gemini/wire.ts: sideways, to a sibling',
    ]);
    expect(check('src/platform/capabilities/noop/capability.ts', "import '../research/capability.ts';")).toHaveLength(1);
    expect(check('src/adapters/families/pi.ts', "import '../omp/profile.ts';")).toHaveLength(1);
    expect(check('src/engines/claude/engine.ts', "import { engines } from '../index.ts';")).toHaveLength(1);
  });

  it('lets ids use what their kind shares, and the registry name every id', () => {
    expect(check('src/adapters/omp/adapter.ts', "import '../families/pi.ts'; import '../define.ts';")).toEqual([]);
    expect(check('src/dialects/index.ts', "import { claude } from './claude/dialect.ts';")).toEqual([]);
    expect(check('src/engines/claude/engine.ts', "import '../../dialects/claude/dialect.ts'; import './manifest.ts';")).toEqual([]);
  });

  it('catches a room that is not in the table, on either side', () => {
    expect(check('src/misc/a.ts', '')).toEqual(['src/misc/a.ts: not in a room of the table']);
    expect(check('src/index.ts', '')).toHaveLength(1);
    expect(check('src/cli/main.ts', "import '../misc/a.ts';")).toEqual(['src/cli/main.ts → src/misc/a.ts: a room without a rank']);
  });

  it('holds the client to the contract and types of base', () => {
    expect(check('src/client/client.ts', "import '../contract/receipt.ts'; import type { Json } from '../base/json.ts';")).toEqual([]);
    expect(check('src/client/client.ts', "import { parseJson } from '../base/json.ts';")).toHaveLength(1);
    expect(check('src/client/client.ts', "import type { IrRequest } from '../ir/request.ts';")).toHaveLength(1);
  });

  it('lets a test reach test/support and nothing else outside src', () => {
    expect(check('src/store/keys.test.ts', "import '../../test/support/postgres.ts';")).toEqual([]);
    expect(check('src/store/keys.test.ts', "import '../gateway/server.ts';")).toHaveLength(1);
    expect(check('src/store/keys.ts', "import '../../test/support/postgres.ts';")).toHaveLength(1);
    expect(check('src/store/keys.test.ts', "import '../../bench/run.ts';")).toHaveLength(1);
  });

  it('catches an import by the name of the package', () => {
    expect(check('src/ir/part.ts', "import 'agent-backplane/client'; import '#gateway';")).toHaveLength(2);
  });
});
