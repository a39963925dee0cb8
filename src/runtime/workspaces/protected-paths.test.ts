import { expect, it } from 'vitest';
import { adapters } from '../../adapters/index.ts';
import { AGENT_PLACES, heldBack } from './protected-paths.ts';

it.each([
  ['.omp/hooks/pre/a.ts', 'what is in .omp is run without asking'],
  ['packages/a/.OMP/settings.json', 'what is in .omp is run without asking'],
  ['.openclaw/extensions/a/index.ts', 'what is in .openclaw is run without asking'],
  ['.hermes/plugins/a/__init__.py', 'what is in .hermes is run without asking'],
  ['.agents/plugins/marketplace.json', 'what is in .agents is run without asking'],
  ['.GitHub/Hooks/a.json', 'what is in .github/hooks is run without asking'],
  ['.github/mcp.json', '.github/mcp.json is read and run without asking'],
  ['.claude', 'what is in .claude is run without asking'],
  ['a/Opencode.json', 'opencode.json is read and run without asking'],
  ['a/.bashrc', '.bashrc is read and run without asking'],
  ['.github/ISSUE_TEMPLATE/a.md', undefined],
  ['AGENTS.md', undefined],
  ['my.claude/a', undefined],
  ['docs/opencode.json.md', undefined],
])('judges a file %s', (path, held) => {
  expect(heldBack(path, null)).toBe(held);
});

it('knows for every coding agent what it reads from a project', () => {
  const unknown = adapters.map(({ agent }) => agent).filter((agent) => AGENT_PLACES[agent] === undefined);
  expect(unknown).toEqual([]);
});

it.each([
  ['made', 'a/b', undefined],
  ['a/b/made', '../../c', undefined],
  ['a/made', './../b/', undefined],
  ['made', '..', 'the link leads out of the workspace'],
  ['a/made', '../../b', 'the link leads out of the workspace'],
  ['made', '/etc', 'the link leads out of the workspace'],
  // Where a/up leads to the workspace itself, this one leads beside it.
  ['made', 'a/up/../beside', 'the link may lead out of the workspace'],
  ['a/made', '../a/./up/../../a', 'the link may lead out of the workspace'],
])('judges a link %s that says %s', (path, target, held) => {
  expect(heldBack(path, { type: 'link', target })).toBe(held);
});
