import { posix } from 'node:path';
import type { TreeNode } from './tree.ts';

/**
 * What each coding agent reads from a project as settings, hooks, plugins or programs to start, and nobody is asked: folders with `/` at
 * their end, and files. At any depth. Texts that instruct a model are work as any other.
 */
export const AGENT_PLACES: Readonly<Record<string, readonly string[]>> = {
  claude: ['.claude/', '.claude-plugin/', '.mcp.json'],
  codex: ['.codex/', '.codex-plugin/', '.agents/'],
  gemini: ['.gemini/', '.agents/'],
  copilot: [
    '.github/hooks/',
    '.github/copilot/',
    '.github/extensions/',
    '.github/plugin/',
    '.github/lsp.json',
    '.github/mcp.json',
    '.copilot/',
  ],
  cursor: ['.cursor/', '.cursor-plugin/'],
  opencode: ['.opencode/', 'opencode.json', 'opencode.jsonc'],
  pi: ['.pi/', '.agents/'],
  omp: ['.omp/', '.agent/', '.agents/', '.windsurf/', '.cline/', '.vscode/', 'mcp.json'],
  openclaw: ['.openclaw/', '.agents/'],
  hermes: ['.hermes/'],
  kimi: ['.kimi/'],
};

/** The same of git, editors, shells and what people start beside them. */
const OTHER_PLACES = [
  ...['.git/', '.vscode/', '.idea/', '.devcontainer/', '.abp/', '.gitmodules', '.envrc', '.gitconfig', '.ripgreprc'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin'],
];

/** Places as they stand in a path between slashes. */
const HELD_PLACES = [...new Set([...OTHER_PLACES, ...Object.values(AGENT_PLACES).flat()])].map((place) => ({ place, needle: `/${place}` }));

/** Run when somebody works on the project; denying them would stop normal work. */
const MARKED_FILES = new Set([
  'package.json',
  '.npmrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'Makefile',
  'setup.py',
  'conftest.py',
  'build.rs',
  '.pre-commit-config.yaml',
  'Dockerfile',
]);
const MARKED_PREFIXES = ['.husky/', '.github/workflows/'];

/** Why a change is not applied unless somebody asks for it by name; undefined when it is. */
export function heldBack(path: string, after: TreeNode | null): string | undefined {
  // A link or a file in the place of such a folder counts as well. Some file systems know no case of letters.
  const lower = `/${path.toLowerCase()}/`;
  const held = HELD_PLACES.find(({ needle }) => (needle.endsWith('/') ? lower.includes(needle) : lower.endsWith(`${needle}/`)));
  if (held !== undefined) {
    const { place } = held;
    return place.endsWith('/') ? `what is in ${place.slice(0, -1)} is run without asking` : `${place} is read and run without asking`;
  }
  if (after?.type === 'special') return heldSpecial(after);
  if (after?.type === 'file' && after.setid === true) return 'it has a set-id bit';
  return after?.type === 'link' ? heldLink(path, after.target) : undefined;
}

function heldSpecial({ hollow, tooDeep }: Extract<TreeNode, { type: 'special' }>): string {
  if (tooDeep === true) return 'its path is longer than the system takes';
  return hollow === true ? 'it is one of more holes than are read' : 'it is a pipe, a socket or a device';
}

/**
 * A link is judged by its words. Those that go up behind a name say nothing of where that is: the name may be that of another link, and
 * what is above the place it leads to may lie outside.
 */
function heldLink(path: string, target: string): string | undefined {
  if (leaves(path, target)) return 'the link leads out of the workspace';
  const steps = target.split('/').filter((step) => step !== '' && step !== '.');
  const name = steps.findIndex((step) => step !== '..');
  return name !== -1 && steps.includes('..', name) ? 'the link may lead out of the workspace' : undefined;
}

function leaves(path: string, target: string): boolean {
  if (target.startsWith('/')) return true;
  const end = posix.normalize(posix.join(posix.dirname(path), target));
  return end === '..' || end.startsWith('../');
}

/** Why somebody should look at a change before working with it. */
export function marked(path: string, before: TreeNode | null, after: TreeNode | null): string | undefined {
  if (after === null) return undefined;
  const name = posix.basename(path);
  if (MARKED_FILES.has(name) || MARKED_PREFIXES.some((prefix) => path.startsWith(prefix))) return 'it can start programs';
  const runnable = after.type === 'file' && after.executable && !(before?.type === 'file' && before.executable);
  return runnable ? 'it has become executable' : undefined;
}
