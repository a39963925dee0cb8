import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { COMMANDS } from '../../src/cli/registry.ts';
import { engines } from '../../src/engines/index.ts';
import { Config } from '../../src/gateway/config.ts';
import { assertSafeBind } from '../../src/gateway/door/listener.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { VARIABLES } from '../../src/gateway/variables.ts';
import { needing } from '../support/needs.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'abp-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const text = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8');

const PORT = Config.parse({}).server.port;
const HOME = '/var/lib/abp/home';
/** Seconds that a server lets running calls end, and a few to end itself. */
const GRACE_S = 30;

/** Variables that the server reads: those of the table, and those of vendors. */
const KNOWN = new Set([...VARIABLES.flatMap(({ names }) => names), ...engines.flatMap(({ auth }) => auth?.env ?? [])]);
const commands = new Set(COMMANDS.map(({ name }) => name));
const paths = new Set(routes.map(({ path }) => path));

/** Every word of a text that looks like a variable of ours. */
function variablesIn(file: string): string[] {
  return [...new Set([...text(file).matchAll(/\bABP_[A-Z_]+\b|\b[A-Z]+_API_KEY\b/g)].map(([name]) => name))];
}

/** The configuration of a text, which must be one that a server takes on all addresses. */
function assertServes(toml: string): void {
  const config = Config.parse(parseToml(toml));
  expect(() => assertSafeBind({ ...config, server: { ...config.server, host: '0.0.0.0' } })).not.toThrow();
  expect(config.auth.local).toBe(false);
}

describe('every file of deploy', () => {
  const FILES = readdirSync(join(root, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.slice(join(root, 'deploy').length + 1), entry.name));

  it.each(FILES)('%s names only variables that the server reads, and commands that there are', (file) => {
    expect(variablesIn(file).filter((name) => !KNOWN.has(name))).toEqual([]);
    const called = [...text(file).matchAll(/(?:^|\s)abp (?!abp\b)((?:[a-z]+ )?[a-z]+)(?=[\s)`]|$)/gm)].map(([, words = '']) => words);
    const isCommand = (words: string): boolean => commands.has(words) || commands.has(words.split(' ')[0] ?? '');
    // Behind the name of a namespace, kubectl has commands of its own.
    const isKubectl = (words: string): boolean => /^(?:exec|create|apply)\b/.test(words);
    expect(called.filter((words) => !isCommand(words) && !isKubectl(words))).toEqual([]);
  });
});

describe('the Dockerfile', () => {
  const lines = text('Dockerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const of = (instruction: string): string[] =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
  const lastStage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('has two stages, and the second runs as an ordinary user', () => {
    expect(of('FROM')).toEqual(['node:24-bookworm-slim AS build', 'node:24-bookworm-slim']);
    expect(lastStage.findLast((line) => line.startsWith('USER '))).toBe('USER 1000:1000');
    expect(lastStage.some((line) => /npm (?:ci|install)/.test(line))).toBe(false);
  });

  it('copies files that are there, or that the build makes', () => {
    const copied = of('COPY').flatMap((line) =>
      line
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );
    const made = ['/src/dist', '/src/node_modules', '.'];
    const present = readdirSync(root);
    for (const name of copied.filter((one) => !made.includes(one)))
      expect([...present, 'deploy/abp.toml']).toContain(name.replace('/src/', ''));
    const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
    for (const [, script = ''] of text('Dockerfile').matchAll(/npm run (\w+)/g)) expect(Object.keys(scripts)).toContain(script);
  });

  it('serves on the port that it exposes, keeps its home in a folder of the volume, and asks for its health', () => {
    const env = Object.fromEntries(of('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split('='))));
    expect(env).toMatchObject({ ABP_HOST: '0.0.0.0', ABP_PORT: String(PORT), ABP_HOME: HOME, ABP_CONFIG: '/etc/abp/abp.toml' });
    expect([of('EXPOSE'), of('VOLUME')]).toEqual([[String(PORT)], [posix.dirname(HOME)]]);
    expect([of('ENTRYPOINT'), of('CMD')]).toEqual([['["tini", "--", "abp"]'], ['["serve"]']]);
    const [check = ''] = of('HEALTHCHECK');
    const [, path = ''] = /'(\/\w+)'/.exec(check) ?? [];
    expect([paths.has(path), path]).toEqual([true, '/healthz']);
    // The program of the check is JavaScript that runs.
    const [, program = ''] = /"-e", "(.*)"\]$/.exec(check) ?? [];
    expect(spawnSync(process.execPath, ['-e', program], { env: { ABP_PORT: '1' } }).status).toBe(1);
  });

  it('has a configuration that a server takes', () => {
    assertServes(text('abp.toml'));
  });
});

describe('the compose file', () => {
  const { services, volumes } = parseYaml(text('compose.yaml'));

  it('joins the server and its database', () => {
    const { abp, database } = services;
    const { POSTGRES_USER: user, POSTGRES_DB: name } = database.environment;
    const url = abp.environment.ABP_DATABASE_URL;
    expect(url).toMatch(new RegExp(`^postgres://${user}:\\$\\{POSTGRES_PASSWORD:\\?.*\\}@database:5432/${name}$`));
    expect([Object.keys(abp.depends_on), abp.depends_on.database.condition]).toEqual([['database'], 'service_healthy']);
    expect(database.healthcheck.test.slice(0, 2)).toEqual(['CMD', 'pg_isready']);
  });

  it('publishes the port to this machine alone, keeps volumes that it declares, and lets calls end', () => {
    const { abp, database } = services;
    expect(abp.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
    const mounted: string[] = [...abp.volumes, ...database.volumes];
    expect(mounted).toContain(`home:${posix.dirname(HOME)}`);
    expect(
      mounted
        .map((mount) => mount.split(':')[0])
        .filter((name) => !name?.startsWith('.'))
        .sort(),
    ).toEqual(Object.keys(volumes).sort());
    expect(abp.stop_grace_period).toBe(`${GRACE_S}s`);
    expect([abp.build.context, abp.build.dockerfile]).toEqual(['..', 'deploy/Dockerfile']);
  });
});

describe('the manifests for Kubernetes', () => {
  const documents = parseAllDocuments(text('kubernetes/abp.yaml')).map((document) => document.toJS());
  const find = (kind: string, name = 'abp') => documents.find((one) => one.kind === kind && one.metadata.name === name);
  const set = find('StatefulSet');
  const pod = set.spec.template.spec;
  const [container] = pod.containers;

  it('are whole documents that select the same pods', () => {
    expect(documents.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
      'ConfigMap/abp',
      'Service/abp',
      'Service/abp-nodes',
      'StatefulSet/abp',
      'PodDisruptionBudget/abp',
    ]);
    const labels = set.spec.template.metadata.labels;
    for (const selector of [
      find('Service').spec.selector,
      find('Service', 'abp-nodes').spec.selector,
      set.spec.selector.matchLabels,
      find('PodDisruptionBudget').spec.selector.matchLabels,
    ])
      expect(selector).toEqual(labels);
    expect(set.spec.serviceName).toBe('abp-nodes');
    expect(find('Service', 'abp-nodes').spec.clusterIP).toBe('None');
    expect(find('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(set.spec.replicas);
  });

  it('ask paths that there are, on the port of the server', () => {
    const env = Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value]));
    expect(env).toMatchObject({ ABP_HOST: '0.0.0.0', ABP_PORT: String(PORT), ABP_HOME: HOME, ABP_CONFIG: '/etc/abp/abp.toml' });
    expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }]);
    const asked = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet);
    expect(asked).toEqual([
      { path: '/healthz', port: 'http' },
      { path: '/healthz', port: 'http' },
      { path: '/readyz?of=calls', port: 'http' },
    ]);
    for (const { path } of asked) expect(paths).toContain(path.replace(/\?.*/, ''));
    expect(container.args.map((word: string) => commands.has(word))).toEqual([true]);
  });

  it('keep a home for each node, run as an ordinary user, and let calls end', () => {
    const mounts = Object.fromEntries(
      container.volumeMounts.map(({ name, mountPath }: { name: string; mountPath: string }) => [name, mountPath]),
    );
    expect(mounts).toEqual({ home: posix.dirname(HOME), config: '/etc/abp', tmp: '/tmp' });
    const declared = [...pod.volumes, ...set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: { name: string } }) => metadata)].map(
      ({ name }) => name,
    );
    expect(declared.sort()).toEqual(Object.keys(mounts).sort());
    expect([pod.securityContext.runAsNonRoot, container.securityContext.readOnlyRootFilesystem]).toEqual([true, true]);
    expect(pod.terminationGracePeriodSeconds).toBe(GRACE_S);
    const { in_flight_mb: inFlight } = Config.parse({}).limits;
    // What the docs say that a server takes at most.
    expect(Number.parseInt(container.resources.limits.memory, 10) * 1024).toBeGreaterThanOrEqual(inFlight + 2048);
  });

  it('have a configuration that a server takes', () => {
    assertServes(find('ConfigMap').data['abp.toml']);
  });
});

describe('the unit for systemd', () => {
  const unit = text('systemd/abp.service');
  const values = new Map(
    unit
      .split('\n')
      .filter((line) => /^[A-Z]\w+=/.test(line))
      .map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)] as const),
  );

  it('starts the server as its user, with its home in the folder that systemd makes, and lets calls end', () => {
    expect(values.get('ExecStart')).toBe('/usr/bin/env abp serve');
    expect(values.get('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
    expect(values.get('User')).toBe('abp');
    expect(values.get('Environment')?.split(' ')).toContain(`ABP_HOME=/var/lib/${values.get('StateDirectory')}/home`);
    expect(values.get('TimeoutStopSec')).toBe(String(GRACE_S));
    // The sandbox of coding agents needs them.
    expect(values.has('RestrictNamespaces')).toBe(false);
  });

  const missing = spawnSync('systemd-analyze', ['--version']).status === 0 ? undefined : 'systemd is not installed';
  it.skipIf(missing !== undefined)(needing('is one that systemd takes', missing), () => {
    const file = join(folder, 'abp.service');
    writeFileSync(file, unit);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('abp.service'))).toEqual([]);
  });
});

it('proxies leave the size of bodies to the server: their bounds have other units, and their refusals are none that SDKs read', () => {
  expect(text('nginx/abp.conf')).toMatch(/^ {2}client_max_body_size 0;/m);
  expect(text('caddy/Caddyfile')).not.toMatch(/^\s*(?:request_body|max_size)\b/m);
});

it('every variable that the sources read is in the table, or is handed from one process of ours to another', () => {
  const INTERNAL = /^ABP_(?:RUN_KEY|RUN_ID|GATEWAY_\w+|SIDECAR_CAPABILITIES|HOST_ENGINE|CLAUDE_ADAPTER_MODULE|MCP_\w*)$/;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const read = new Set(
    sources.flatMap((name) =>
      [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/env\.(ABP_[A-Z_]+)/g)].map(([, variable]) => variable ?? ''),
    ),
  );
  expect([...read].filter((name) => !KNOWN.has(name) && !INTERNAL.test(name))).toEqual([]);
});
