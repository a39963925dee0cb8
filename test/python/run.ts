import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseJsonObject } from '../../src/base/json.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { startGateway } from '../support/gateway.ts';
import { CASES, CLIENTS, ENGINES, type Figures, type PythonClient, type TriedClient, type Verdict } from './catalogue.ts';

/**
 * `npm run test:python [-- --only <words…>]`: Python client libraries from PyPI through the gateway, on the sim in the dialect of every
 * vendor. The libraries lie in a cache outside of the project; words choose clients by their name. What is tried is kept in
 * `figures.json`, client by client, and `npm run generate` makes `docs/python-clients.md` of it. A machine without Python tries nothing
 * and says so.
 */
const INSTALL_MS = 10 * 60_000;
const PLAY_MS = 5 * 60_000;
const cache = process.env.ABP_PYTHON_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'abp-python');
const words = process.argv.slice(2).filter((word) => word !== '--only');
const FIGURES = join(import.meta.dirname, 'figures.json');

async function command(program: string, args: readonly string[], timeoutMs: number, env: NodeJS.ProcessEnv = process.env) {
  return await runCommand(program, args, { timeoutMs, env });
}

/** The Python of a library's own environment, with the library in it. */
async function python({ folder, packages }: PythonClient): Promise<string> {
  const place = join(cache, folder);
  const program = join(place, 'bin', 'python');
  const mark = join(place, 'installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === packages.join('\n')) return program;
  mkdirSync(cache, { recursive: true });
  await command('python3', ['-m', 'venv', place], INSTALL_MS);
  const { code, stderr } = await command(join(place, 'bin', 'pip'), ['install', '--quiet', ...packages], INSTALL_MS);
  if (code !== 0) throw new Error(`pip cannot install ${packages.join(', ')}: ${stderr.slice(-300)}`);
  writeFileSync(mark, packages.join('\n'));
  return program;
}

/** The Python of a library, or why it is not there. */
async function installed(client: PythonClient): Promise<string | Error> {
  return await python(client).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
}

/** Plays with every second engine, one after the other. */
async function everyOther(player: number, play: (engine: string) => Promise<Verdict[]>): Promise<(readonly [string, Verdict[]])[]> {
  const played: (readonly [string, Verdict[]])[] = [];
  for (const engine of ENGINES.filter((_, at) => at % 2 === player)) played.push([engine, await play(engine)]);
  return played;
}

async function tried(client: PythonClient, program: string | Error, engine: string, url: string): Promise<Verdict[]> {
  const none = (note: string): Verdict[] =>
    CASES.map(([id]) => ({ client: client.name, version: '-', engine, case: id, mark: 'no', note }));
  if (program instanceof Error) return none(program.message);
  try {
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

/** Puts the verdicts of a client in the place of those that were kept, in the order of the catalogue. */
function keep(client: PythonClient, verdicts: readonly Verdict[]): void {
  const kept = existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures) : { clients: [] }; // written here
  const tried: TriedClient = {
    client: client.name,
    version: verdicts.find(({ version }) => version !== '-')?.version ?? '-',
    date: new Date().toISOString().slice(0, 10),
    verdicts: verdicts.map(({ engine, case: id, mark, note }) => ({ engine, case: id, mark, ...(mark === 'no' ? { note } : {}) })),
  };
  const all = new Map([...kept.clients, tried].map((one) => [one.client, one]));
  const clients = CLIENTS.flatMap(({ name }) => all.get(name) ?? []);
  writeFileSync(FIGURES, `${JSON.stringify({ clients }, null, 2)}\n`);
}

const there = await command('python3', ['--version'], 60_000).catch(() => undefined);
if (there?.code !== 0) {
  console.log(`skipped: ${CLIENTS.length * ENGINES.length * CASES.length} cases need python3, which is not here`);
} else {
  const chosen = CLIENTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const gateway = await startGateway();
  const all: Verdict[] = [];
  try {
    for (const client of chosen) {
      const verdicts: Verdict[] = [];
      const program = await installed(client);
      // Two at a time: a client spends most of its time on loading its library, for which one processor is enough.
      const players = [0, 1].map((player) => everyOther(player, (engine) => tried(client, program, engine, gateway.url)));
      const played = new Map((await Promise.all(players)).flat());
      for (const engine of ENGINES) {
        const found = played.get(engine) ?? [];
        verdicts.push(...found);
        console.log(`${client.name.padEnd(26)} ${engine.padEnd(22)} ${found.map(({ mark }) => MARKS[mark] ?? mark).join(' ')}`);
        for (const { case: id, mark, note } of found) if (mark === 'no') console.log(`${' '.repeat(50)}${id}: ${note}`);
      }
      keep(client, verdicts);
      all.push(...verdicts);
    }
  } finally {
    await gateway.close();
  }
  const count = (wanted: string): number => all.filter(({ mark }) => mark === wanted).length;
  console.log(`${count('ok')} right, ${count('no')} wrong, ${count('none')} that the library does not have`);
  console.log('kept in test/python/figures.json; npm run generate puts them into docs/python-clients.md');
  process.exitCode = count('no') === 0 ? 0 : 1;
}
