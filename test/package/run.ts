import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { tryInstalled } from './installed.ts';
import { step } from './step.ts';

/**
 * Packs this package, installs it into a project of its own, compiles there the programs of `project/` and the examples, runs them and
 * uses `abp` as somebody who has installed it does, on every Node that the package says it runs on: `npm run test:package`.
 * `npm run types` compiles the same programs against the sources.
 */
const ROOT = join(import.meta.dirname, '../..');
/** Beside the Node that runs this one: the oldest line that `engines` allows. */
const OLDEST_NODE = 'node@22';
/** What the programs need beside the package itself; linked, since they are here already. */
const LINKED = ['@types/node', '@anthropic-ai/sdk'];
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
  include: ['**/*.ts'],
};

/** An example as it stands in a project of its own: it imports the package by its name. */
function asUsersWrite(text: string): string {
  return text
    .replaceAll("'../../src/node/client.ts'", "'agent-backplane'")
    .replaceAll("'../../src/sidecar/sidecar.ts'", "'agent-backplane/sidecar'");
}

function projectIn(folder: string): string {
  const project = join(folder, 'project');
  cpSync(join(import.meta.dirname, 'project'), project, { recursive: true });
  for (const path of ['own-adapter/adapter.ts', 'own-adapter/run.ts', 'own-adapter/greeter.js', 'sidecars/shout.ts']) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), asUsersWrite(readFileSync(join(ROOT, 'examples', path), 'utf8')));
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'a-users-project', private: true, type: 'module' }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(SETTINGS));
  return project;
}

function linkInto(project: string): void {
  for (const name of LINKED) {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
}

const folder = mkdtempSync(join(tmpdir(), 'abp-package-'));
try {
  await step('pack', ['npm', 'pack', '--pack-destination', folder, '--loglevel', 'error'], { cwd: ROOT });
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { name: string; version: string };
  const project = projectIn(folder);
  const tarball = join(folder, `${name}-${version}.tgz`);
  await step('install', ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--omit', 'dev', tarball], { cwd: project });
  linkInto(project);
  await step('compile', [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: project });
  const old = join(folder, 'oldest-node');
  await step(
    'install oldest Node',
    ['npm', 'install', '--prefix', old, '--no-audit', '--no-fund', '--prefer-offline', '--foreground-scripts', OLDEST_NODE],
    {
      cwd: folder,
    },
  );
  for (const bin of [dirname(process.execPath), join(old, 'node_modules/node/bin')]) {
    const path = [bin, process.env.PATH ?? ''].join(delimiter);
    await tryInstalled({ project, version, path, home: mkdtempSync(join(folder, 'home-')) });
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
