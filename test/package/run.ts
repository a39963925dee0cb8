import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../src/base/subprocess.ts';

/**
 * Packs this package, installs it into a project of its own and compiles there the programs of `project/`, which also run: `npm run
 * test:package`. `npm run types` compiles the same programs against the sources.
 */
const ROOT = join(import.meta.dirname, '../..');
const LONG_MS = 20 * 60_000;
const SETTINGS = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    // The declarations of the package are looked at as well.
    skipLibCheck: false,
    types: ['node'],
    noEmit: true,
  },
  include: ['*.ts'],
};

async function step(what: string, command: string, args: readonly string[], cwd: string): Promise<string> {
  const began = performance.now();
  const { code, stdout, stderr } = await runCommand(command, args, { cwd, env: process.env, timeoutMs: LONG_MS });
  if (code !== 0) throw new Error(`${what}: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
  console.log(`${what.padEnd(24)} ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return stdout;
}

const folder = mkdtempSync(join(tmpdir(), 'abp-package-'));
try {
  await step('pack', 'npm', ['pack', '--pack-destination', folder, '--loglevel', 'error'], ROOT);
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { name: string; version: string };
  const project = join(folder, 'project');
  cpSync(join(import.meta.dirname, 'project'), project, { recursive: true });
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'a-users-project', private: true, type: 'module' }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(SETTINGS));
  const tarball = join(folder, `${name}-${version}.tgz`);
  await step('install', 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit', 'dev', tarball], project);
  mkdirSync(join(project, 'node_modules', '@types'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  await step('compile', process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], project);
  const said = await step('run', process.execPath, ['main.ts'], project);
  if (said.trim() !== 'ok') throw new Error(`the program said ${said}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
