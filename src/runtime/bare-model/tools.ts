import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isTimeout, withinDeadline } from '../../base/deadline.ts';
import { pathGlob } from '../../base/glob.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { TextTail } from '../../base/line-splitter.ts';

/** Where tools work, and what ends them. */
interface Workplace {
  readonly root: string;
  readonly signal: AbortSignal;
}

/** The result of a tool. `changed` names a file that it wrote; `command` a command that it ran. */
export interface ToolOutcome {
  readonly output: string;
  readonly isError?: boolean;
  readonly changed?: { readonly path: string; readonly summary: string };
  readonly ran?: { readonly command: string; readonly exitCode: number | null };
}

/** A tool that a bare model is given. */
export interface BareTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  run(input: JsonObject, at: Workplace): Promise<ToolOutcome> | ToolOutcome;
}

const MOST_OUTPUT = 64 * 1024;
const MOST_FOUND = 1000;
const MOST_FILE_BYTES = 10 * 1024 * 1024;
const COMMAND_MS = 120_000;
/** Folders that searches leave out. */
const SKIPPED = new Set(['.git', 'node_modules', '.venv']);

const text = (description: string): JsonObject => ({ type: 'string', description });

function tool(spec: Omit<BareTool, 'schema'> & { readonly properties: JsonObject; readonly required: readonly string[] }): BareTool {
  const { properties, required, ...rest } = spec;
  return { ...rest, schema: { type: 'object', properties, required: [...required] } };
}

const path = text('The file, relative to the workspace or absolute inside it.');

export const BARE_TOOLS: readonly BareTool[] = [
  tool({
    name: 'Read',
    description: 'Reads a file of the workspace.',
    properties: { file_path: path },
    required: ['file_path'],
    run: ({ file_path }, { root }) => ({ output: clipped(readText(inside(root, file_path))) }),
  }),
  tool({
    name: 'Write',
    description: 'Writes a file of the workspace, whole; folders on the way are made.',
    properties: { file_path: path, content: text('Its new content.') },
    required: ['file_path', 'content'],
    run: ({ file_path, content }, { root }) => {
      const file = inside(root, file_path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, textOf(content, 'content'));
      const shown = relative(root, file);
      return { output: `Wrote ${shown}.`, changed: { path: shown, summary: 'written' } };
    },
  }),
  tool({
    name: 'Edit',
    description: 'Replaces a text in a file of the workspace. The text must stand there once, unless replace_all is true.',
    properties: {
      file_path: path,
      old_string: text('The text to replace.'),
      new_string: text('What replaces it.'),
      replace_all: { type: 'boolean' },
    },
    required: ['file_path', 'old_string', 'new_string'],
    run: (input, { root }) => edit(input, root),
  }),
  tool({
    name: 'Bash',
    description: 'Runs a command with sh in the workspace and returns what it printed.',
    properties: { command: text('The command.'), timeout_ms: { type: 'integer', description: 'After this long it is ended.' } },
    required: ['command'],
    run: bash,
  }),
  tool({
    name: 'Glob',
    description: 'Lists files of the workspace by a pattern such as src/**/*.ts.',
    properties: { pattern: text('The pattern.') },
    required: ['pattern'],
    run: ({ pattern }, { root }) => {
      const matches = pathGlob(textOf(pattern, 'pattern'));
      const found = filesOf(root).filter(matches).slice(0, MOST_FOUND);
      return { output: found.length === 0 ? 'No files.' : found.join('\n') };
    },
  }),
  tool({
    name: 'Grep',
    description: 'Finds lines of files of the workspace by a regular expression.',
    properties: { pattern: text('The expression.'), glob: text('Only files of this pattern.') },
    required: ['pattern'],
    run: (input, { root }) => grep(input, root),
  }),
];

function textOf(value: Json | undefined, name: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`${name} must be a text`);
}

/** The whole name of a file in the workspace; links that lead out of it are not followed. */
function inside(root: string, named: Json | undefined): string {
  const wanted = textOf(named, 'file_path');
  const top = realpathSync(root);
  const file = isAbsolute(wanted) ? wanted : resolve(top, wanted);
  const real = realAs(file);
  if (real !== top && !real.startsWith(`${top}${sep}`)) throw new Error(`${wanted} is outside of the workspace`);
  return real;
}

/** The real name of a file that may not exist yet. A link to nothing has none: who writes to it makes a file where it leads. */
function realAs(file: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return realpathSync(file);
  const folder = dirname(file);
  return folder === file ? file : join(realAs(folder), basename(file));
}

function readText(file: string): string {
  if (statSync(file).size > MOST_FILE_BYTES) throw new Error('the file is larger than 10 MB');
  return readFileSync(file, 'utf8');
}

function edit({ file_path, old_string, new_string, replace_all }: JsonObject, root: string): ToolOutcome {
  const file = inside(root, file_path);
  const [from, to] = [textOf(old_string, 'old_string'), textOf(new_string, 'new_string')];
  const before = readText(file);
  const times = from === '' ? 0 : before.split(from).length - 1;
  if (times === 0) throw new Error('old_string does not stand in the file');
  if (times > 1 && replace_all !== true) throw new Error(`old_string stands in the file ${times} times`);
  writeFileSync(
    file,
    before.replaceAll(from, () => to),
  );
  const shown = relative(root, file);
  return { output: `Edited ${shown}.`, changed: { path: shown, summary: `replaced ${times} times` } };
}

async function bash({ command, timeout_ms }: JsonObject, { root, signal }: Workplace): Promise<ToolOutcome> {
  const words = textOf(command, 'command');
  const ms = typeof timeout_ms === 'number' && timeout_ms > 0 ? Math.min(timeout_ms, 600_000) : COMMAND_MS;
  return await new Promise((done, failed) => {
    // In the group of this process, so that the end of the run ends it as well.
    const child = spawn('/bin/sh', ['-c', words], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: ms,
      killSignal: 'SIGKILL',
      signal,
    });
    const said = new TextTail(MOST_OUTPUT);
    for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (piece: string) => said.add(piece));
    child.once('error', failed);
    child.once('close', (code) => {
      const end = code === 0 ? '' : `\n(exit code ${code ?? 'none: it was ended'})`;
      done({ output: `${said.text}${end}`, isError: code !== 0, ran: { command: words, exitCode: code } });
    });
  });
}

/** A pattern of a model may backtrack for ever. */
const SEARCH_MS = 10_000;

function grep(input: JsonObject, root: string): ToolOutcome {
  try {
    return withinDeadline(SEARCH_MS, () => searched(input, root));
  } catch (error) {
    throw isTimeout(error) ? new Error(`The search took longer than ${SEARCH_MS / 1000} seconds; narrow it.`) : error;
  }
}

function searched({ pattern, glob }: JsonObject, root: string): ToolOutcome {
  const wanted = new RegExp(textOf(pattern, 'pattern'));
  const among = typeof glob === 'string' ? pathGlob(glob) : () => true;
  const found: string[] = [];
  for (const file of filesOf(root).filter(among)) {
    if (statSync(join(root, file)).size > MOST_FILE_BYTES) continue;
    for (const [at, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
      if (wanted.test(line)) found.push(`${file}:${at + 1}:${line.slice(0, 500)}`);
      if (found.length >= MOST_FOUND) return { output: clipped(found.join('\n')) };
    }
  }
  return { output: found.length === 0 ? 'No lines.' : clipped(found.join('\n')) };
}

/** Files of the workspace by their names in it. */
function filesOf(root: string): string[] {
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(name);
      return entry.isFile() ? [name] : [];
    });
  return walk('');
}

function clipped(said: string): string {
  return said.length <= MOST_OUTPUT ? said : `${said.slice(0, MOST_OUTPUT)}\n(cut after ${MOST_OUTPUT} characters)`;
}
