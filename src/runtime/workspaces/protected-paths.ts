import { posix } from 'node:path';
import type { TreeNode } from './tree.ts';

/** Folders whose files other programs run, or take settings from, without a further decision. At any depth. */
const HELD_FOLDERS = new Set([
  '.git',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.claude',
  '.codex',
  '.gemini',
  '.opencode',
  '.pi',
  '.cursor',
  '.abp',
]);
const HELD_FILES = new Set([
  '.gitmodules',
  'opencode.json',
  'opencode.jsonc',
  '.mcp.json',
  '.envrc',
  '.gitconfig',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.ripgreprc',
]);
const HELD_PREFIXES = ['.github/hooks/'];

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
  const parts = path.split('/').map((part) => part.toLowerCase());
  const folder = parts.find((part) => HELD_FOLDERS.has(part));
  if (folder !== undefined) return `what is in ${folder} is run without asking`;
  const name = parts.at(-1) ?? '';
  if (HELD_FILES.has(name)) return `${name} is read and run without asking`;
  if (HELD_PREFIXES.some((prefix) => path.startsWith(prefix))) return 'it is run without asking';
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
