import { deepStrictEqual, match, ok } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { step } from './step.ts';

export interface Installation {
  readonly project: string;
  readonly version: string;
  /** Finds the Node to use first. */
  readonly path: string;
  /** A home that nobody has used. */
  readonly home: string;
}

/** Uses the installed package as its users do: its command, its server with the console, its programs and the examples. */
export async function tryInstalled({ project, version, path, home }: Installation): Promise<void> {
  const env = { PATH: path, HOME: home, ABP_HOME: join(home, 'abp'), LANG: 'C.UTF-8' };
  const use = (what: string, ...command: string[]): Promise<string> => step(what, command, { cwd: project, env });
  const node = (await use('node --version', 'node', '--version')).trim();
  console.log(`on Node ${node}`);
  deepStrictEqual((await use('abp --version', 'npx', '--no-install', 'abp', '--version')).trim(), version);
  match(await use('abp doctor', 'npx', '--no-install', 'abp', 'doctor'), /\S/);
  match(await use('own adapter', 'node', 'own-adapter/run.ts'), /\ncompleted: /);
  match(await use('sidecar', 'npx', '--no-install', 'abp', 'sidecars', 'check', '--', 'node', 'sidecars/shout.ts'), /\S/);
  const server = spawn(join(project, 'node_modules/.bin/abp'), ['serve', '--port', '0'], { cwd: project, env, stdio: 'inherit' });
  try {
    const url = await addressOf(server, join(env.ABP_HOME, 'address'));
    await consoleIsServed(url);
    deepStrictEqual(await use('programs', 'node', 'main.ts', url), 'ok\n');
    match(await use('abp receipts list', 'npx', '--no-install', 'abp', 'receipts', 'list'), /sim/);
    match(await use('abp receipts verify', 'npx', '--no-install', 'abp', 'receipts', 'verify', '--all'), /\S/);
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
  }
}

async function addressOf(server: ChildProcess, file: string): Promise<string> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`abp serve ended with ${server.exitCode}`);
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url; // the server's own file
    await sleep(100);
  }
}

/** The page and every script and style that it names. */
async function consoleIsServed(url: string): Promise<void> {
  const page = await fetch(`${url}/`);
  const html = await page.text();
  deepStrictEqual(page.status, 200, html);
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
  ok(files.length > 1, html);
  for (const path of files) deepStrictEqual([path, (await fetch(`${url}${path}`)).status], [path, 200]);
}
