import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseJsonObject } from '../../src/base/json.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { startGateway } from '../support/gateway.ts';
import { CASES, CLIENTS, ENGINES, type PythonClient } from './catalogue.ts';

/**
 * `npm run test:python [words…]`: Python client libraries from PyPI through the gateway, on the sim in the dialect of every vendor.
 * The libraries lie in a cache outside of the project; words choose clients by their name. Everything tried is written to
 * `docs/python-clients.md`; a machine without Python tries nothing and says so.
 */
const INSTALL_MS = 10 * 60_000;
const PLAY_MS = 5 * 60_000;
const root = join(import.meta.dirname, '../..');
const cache = process.env.ABP_PYTHON_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'abp-python');
const words = process.argv.slice(2);

interface Verdict {
  readonly client: string;
  readonly version: string;
  readonly engine: string;
  readonly case: string;
  readonly mark: string;
  readonly note: string;
}

async function command(program: string, args: readonly string[], timeoutMs: number, env: NodeJS.ProcessEnv = process.env) {
  return await runCommand(program, args, { timeoutMs, env });
}

/** The Python of a library's own environment, with the library in it. */
async function python({ folder, packages }: PythonClient): Promise<string> {
  const place = join(cache, folder);
  const program = join(place, 'bin', 'python');
  if (existsSync(join(place, 'installed'))) return program;
  mkdirSync(cache, { recursive: true });
  await command('python3', ['-m', 'venv', place], INSTALL_MS);
  const { code, stderr } = await command(join(place, 'bin', 'pip'), ['install', '--quiet', ...packages], INSTALL_MS);
  if (code !== 0) throw new Error(`pip cannot install ${packages.join(', ')}: ${stderr.slice(-300)}`);
  writeFileSync(join(place, 'installed'), packages.join('\n'));
  return program;
}

async function tried(client: PythonClient, engine: string, url: string): Promise<Verdict[]> {
  const none = (note: string): Verdict[] =>
    CASES.map(([id]) => ({ client: client.name, version: '-', engine, case: id, mark: 'no', note }));
  try {
    const program = await python(client);
    const env = { ...process.env, ABP_URL: url, ABP_ENGINE: engine, ABP_KIND: client.kind ?? '', PYTHONUNBUFFERED: '1' };
    const { stdout, stderr } = await command(program, [join(import.meta.dirname, 'clients', client.script)], PLAY_MS, env);
    const said = stdout
      .split('\n')
      .map((line) => parseJsonObject(line))
      .filter((line) => line !== undefined);
    if (said.length === 0) return none(stderr.trim().split('\n').at(-1) ?? 'it said nothing');
    return CASES.map(([id]) => {
      const one = said.find((line) => line.case === id);
      return {
        ...{ client: client.name, engine, case: id, version: String(one?.version ?? '-') },
        ...{ mark: String(one?.mark ?? 'no'), note: String(one?.note ?? (one === undefined ? 'it ended before' : '')) },
      };
    });
  } catch (error) {
    return none(error instanceof Error ? error.message : String(error));
  }
}

const MARKS: Readonly<Record<string, string>> = { ok: '✓', no: '✗', none: '–' };

function pageOf(verdicts: readonly Verdict[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const clients = [...new Set(verdicts.map(({ client }) => client))];
  const tried = verdicts.filter(({ mark }) => mark !== 'none');
  const wrong = tried.filter(({ mark }) => mark === 'no');
  const lines = clients.flatMap((client) =>
    CASES.map(([id, title]) => {
      const own = verdicts.filter((one) => one.client === client && one.case === id);
      return row([
        `${client} ${own[0]?.version ?? ''}`,
        title,
        ...ENGINES.map((engine) => MARKS[own.find((one) => one.engine === engine)?.mark ?? ''] ?? ''),
      ]);
    }),
  );
  return `${[
    '# Python clients that were tried',
    `Written by \`npm run test:python\` on ${new Date().toISOString().slice(0, 10)}: libraries from PyPI against the gateway, with the engine \`sim\` speaking the dialect of each vendor. ${tried.length} tried, ${tried.length - wrong.length} right, ${wrong.length} wrong. A dash means that the library has no such thing.`,
    [row(['client', 'case', ...ENGINES.map((engine) => `\`${engine}\``)]), row(['---', '---', ...ENGINES.map(() => ':-:')]), ...lines].join(
      '\n',
    ),
    ...(wrong.length === 0
      ? []
      : [
          '## What went wrong',
          wrong.map((one) => `- ${one.client}, ${one.case}, \`${one.engine}\`: ${one.note.replaceAll('\n', ' ')}`).join('\n'),
        ]),
  ].join('\n\n')}\n`;
}

const there = await command('python3', ['--version'], 60_000).catch(() => undefined);
if (there?.code !== 0) {
  console.log(`skipped: ${CLIENTS.length * ENGINES.length * CASES.length} cases need python3, which is not here`);
} else {
  const chosen = CLIENTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const gateway = await startGateway();
  const verdicts: Verdict[] = [];
  try {
    for (const client of chosen)
      for (const engine of ENGINES) {
        const found = await tried(client, engine, gateway.url);
        verdicts.push(...found);
        console.log(`${client.name.padEnd(26)} ${engine.padEnd(22)} ${found.map(({ mark }) => MARKS[mark] ?? mark).join(' ')}`);
        for (const { case: id, mark, note } of found) if (mark === 'no') console.log(`${' '.repeat(50)}${id}: ${note}`);
      }
  } finally {
    await gateway.close();
  }
  if (words.length === 0) writeFileSync(join(root, 'docs/python-clients.md'), pageOf(verdicts));
  process.exitCode = verdicts.some(({ mark }) => mark === 'no') ? 1 : 0;
}
