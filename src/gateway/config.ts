import { dirname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { BudgetTerms, hasLimit } from '../calls/budgets/budget.ts';
import { CallLimits } from '../calls/limits/call-limits.ts';
import { parseAt } from '../contract/border.ts';
import { CacheTerms } from '../contract/cache-terms.ts';
import { Capability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import { Recording } from '../contract/receipts/parts.ts';
import { OrderLimits } from '../contract/runs/run-limits.ts';
import { PolicyProfile } from '../contract/work-orders/work-order.ts';
import { builtInEngine, engines } from '../engines/index.ts';
import { homePath as homeFolder } from '../home/home.ts';
import { noteSecretFile } from '../home/secret-files.ts';
import { SEARCH_PROVIDERS } from '../platform/tools/search.ts';
import { BucketConfig } from './bucket-config.ts';
import { MasterKeyConfig, readTree } from './config-file.ts';
import { checkRoutes, deploymentName, EngineConfig, enginesOf } from './engine-config.ts';
import { ConsoleConfig } from './push/push-config.ts';
import { SidecarConfig, wholeSidecars } from './run-plane/sidecar-config.ts';
import { holdsSecret, withSecrets } from './secret-references.ts';
import { OidcConfig } from './sign-in/oidc-config.ts';
import { MetricsConfig, TelemetryConfig, withOtelVariables } from './telemetry/telemetry-config.ts';
import { WebhooksConfig } from './webhooks/webhook-config.ts';

const SecretConfig = z.strictObject({
  key: z.string().min(1).optional().describe('What custom tools send for {{secret.<id>}}. Better in ABP_SECRET_<ID>.'),
  hosts: z
    .array(z.string().min(1))
    .describe('Where it may be sent, as host or host:port; nowhere else. An empty list is for programs of this machine (MCP over stdio).'),
  methods: z
    .array(z.string().regex(/^[A-Z]+$/))
    .optional()
    .describe('Methods of the calls that may carry it; any, unless named.'),
  paths: z.array(z.string().startsWith('/')).optional().describe('Globs of the paths of such calls; any, unless named.'),
  keys: z
    .array(z.string().min(1))
    .optional()
    .describe('Ids of the keys whose turns may use it, local for callers without one; any, unless keys or tags are named.'),
  tags: z.array(z.string().min(1)).optional().describe('Tags of such keys.'),
});

/** An origin as browsers write it; any other text would never match one. */
const WebOrigin = z.string().regex(/^(?:null|[a-z][a-z0-9+.-]*:\/\/[^/\s?#]+)$/, {
  error: 'must be an origin such as https://app.example, without a path or a slash at the end',
});

const PostgresUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://; leave it out to use SQLite' });

export const RouteConfig = z.strictObject({
  match: z.string().min(1).describe('Model name as the caller writes it; * stands for anything.'),
  to: z.string().min(1).describe('engine, engine/model, or either with engine:dialect.'),
  fallback: z.array(z.string()).default([]).describe('Tried in order when the one before failed before its first byte.'),
  attempts: z.int().min(1).max(10).default(1).describe('Tries per engine; 1 means no retry.'),
  emulate: z.array(Capability).default([]).describe('Capabilities that may be approximated.'),
  recording: Recording.optional().describe('full, digest or off for this route; of this and the key’s the lesser counts.'),
  cache: CacheTerms.optional().describe(
    'Gives equal requests the same answer again: { ttl_s, shared } (docs/caching.md). Never, unless it is set.',
  ),
});

/** The rules that the operator holds every caller and every run to. */
const PolicyConfig = PolicyProfile.partial().extend({
  deny_engines: z.array(z.string().min(1)).default([]).describe('Globs of engines that nobody may call, on any way.'),
  deny_models: z.array(z.string().min(1)).default([]).describe('Globs of models that nobody may call, by the name that the engine gets.'),
  sandbox: z.boolean().default(false).describe('Whether every coding agent is confined by the operating system.'),
  limits: OrderLimits.prefault({}).describe('Hard limits of every run of a coding agent; of these and its own the lower count.'),
  enforcement: z
    .enum(['enforced', 'advisory', 'external'])
    .default('enforced')
    .describe(
      'What becomes of a rule that nothing here can hold: the run is refused; it runs and the receipt says so; or something around the backplane, such as a container, holds it.',
    ),
});

/** A pattern that does not compile would let through what it should have caught. */
const pattern = z.string().refine(isPattern, { error: 'is not a regular expression' });

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'g').source !== '';
  } catch {
    return false;
  }
}

/** `abp.toml`. Every table and every value is optional. */
export const Config = z.strictObject({
  server: z
    .strictObject({
      host: z.string().default('127.0.0.1').describe('Address to listen on.'),
      port: z.int().min(0).max(65535).default(8088).describe('Port to listen on; 0 takes a free one.'),
      hosts: z.array(z.string()).default([]).describe('Further names this server is called by.'),
      origins: z.array(WebOrigin).default([]).describe('Web origins whose pages may call it from a browser (docs/browsers.md).'),
      trust_proxy: z.boolean().default(false).describe('A proxy in front ends TLS and checks the Host header.'),
      cert_file: z.string().optional().describe('TLS certificate in PEM, with its chain. A new one is taken while the server runs.'),
      key_file: z.string().optional().describe('TLS key in PEM, without a passphrase.'),
      tls_min_version: z.enum(['1.2', '1.3']).default('1.2').describe('The lowest version of TLS that callers may speak.'),
      drain_wait_s: z
        .number()
        .min(0)
        .max(600)
        .default(0)
        .describe(
          'Seconds after SIGTERM in which calls are still taken while /readyz answers 503, so that a load balancer goes elsewhere first.',
        ),
    })
    .prefault({}),
  auth: z
    .strictObject({
      local: z.boolean().default(true).describe('Whether a caller on this machine needs no key for vendor paths.'),
      remember_s: z
        .number()
        .min(0)
        .max(86_400)
        .default(900)
        .describe('Seconds that a key which the database knew keeps working while the database is away; other keys answer 503 meanwhile.'),
      key_days: z
        .number()
        .positive()
        .max(36_500)
        .optional()
        .describe('Days until a new key stops working where its maker says nothing else; never, unless it is set.'),
    })
    .prefault({}),
  database: z.strictObject({ url: PostgresUrl.optional().describe('PostgreSQL address; without it SQLite in the home.') }).prefault({}),
  recording: z
    .strictObject({
      default: Recording.optional().describe(
        'full, digest or off; without it full on a server that is open to this machine alone, else digest.',
      ),
      keep_days: z.number().positive().default(7).describe('Days that recorded bodies are kept.'),
      max_mb: z
        .number()
        .positive()
        .default(2048)
        .describe('Space that they may take on the disk; the oldest make room, and stay in the bucket of recording.store.'),
      redact: z.array(pattern).default([]).describe('Regular expressions of further secrets.'),
      store: BucketConfig.optional(),
    })
    .prefault({}),
  receipts: z
    .strictObject({
      retention_days: z
        .number()
        .positive()
        .optional()
        .describe('Days until a receipt is archived: a stub stays, its content goes. Never, unless it is set.'),
      deletion_days: z
        .number()
        .positive()
        .optional()
        .describe('Days until it is deleted: the stub also loses the engine and model that lists find it by. Never, unless it is set.'),
      key_secret: z
        .string()
        .min(32)
        .optional()
        .describe('Encrypts the keys of this home that sign receipts; keep it outside of the home, best as { sealed = "…" }.'),
      head_webhook: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe(
          'Gets the signed head of the chain once a minute while it grows, as a POST of JSON. Keep what it gets: it shows when receipts vanish.',
        ),
    })
    .prefault({}),
  limits: z
    .strictObject({
      vendor_body_mb: z.number().positive().default(64).describe('Largest body on a vendor path.'),
      control_body_mb: z.number().positive().default(1).describe('Largest body on a control path.'),
      in_flight_mb: z
        .number()
        .positive()
        .default(512)
        .describe(
          'Bodies of requests and answers held at the same time, decompressed ones included; three quarters at most for one caller.',
        ),
      connections: z
        .int()
        .positive()
        .default(16_384)
        .describe(
          'Connections of callers at the same time, three quarters at most for one caller; where there are more, those that say nothing are closed first.',
        ),
      runs: z
        .int()
        .positive()
        .default(64)
        .describe('Runs of coding agents at the same time, three quarters of them at most for one caller; more answer 503.'),
      ...CallLimits.shape,
      wait_s: z
        .number()
        .positive()
        .max(600)
        .optional()
        .describe('Seconds that a call over a limit waits for room instead of being refused at once; callers take turns (docs/limits.md).'),
      waiting: z.int().positive().max(100_000).default(1000).describe('Calls that may wait at the same time; more are refused at once.'),
      budgets_away: z
        .enum(['refuse', 'allow'])
        .default('refuse')
        .describe(
          'What becomes of calls while PostgreSQL is away and this node has used its part of a budget: refused, or counted by this node alone.',
        ),
      stages_mb: z
        .number()
        .positive()
        .default(32_768)
        .describe(
          'Disk that staged workspaces take together, three quarters at most for one caller. Its own oldest ones that nobody works in make room; a run that still does not fit answers 503, or ends.',
        ),
    })
    .prefault({}),
  cache: z
    .strictObject({
      memory_mb: z.number().min(0).default(64).describe('Memory for answers that are given again; the oldest make room.'),
      disk_mb: z.number().min(0).default(0).describe('Space for them in the home, where they survive a restart; 0 keeps none on the disk.'),
      answer_kb: z.number().positive().default(4096).describe('Longer answers are not kept.'),
    })
    .prefault({}),
  policy: PolicyConfig.prefault({}),
  sessions: z
    .strictObject({
      turns: z
        .int()
        .min(0)
        .max(10_000)
        .default(96)
        .describe(
          'Turns that this process works on at the same time, three quarters of them at most for one caller. 0 leaves them to abp worker, which needs PostgreSQL.',
        ),
    })
    .prefault({}),
  runs: z
    .strictObject({
      roots: z
        .array(z.string().refine(isAbsolute, { error: 'must be an absolute path' }))
        .default([])
        .describe('Folders below which keys of plane run that are no admin keys may run coding agents; none, unless named.'),
      env: z
        .array(z.string().min(1))
        .default([])
        .describe('Variables that such keys may set for an agent, beside those of language and colour.'),
    })
    .prefault({}),
  tools: z
    .strictObject({
      search: z.enum(SEARCH_PROVIDERS).optional().describe('Who answers web searches of agents.'),
      search_url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('Its address; needed for searxng.'),
      search_key: z.string().min(1).optional().describe('Its key. Better in ABP_SEARCH_KEY.'),
      allow_hosts: z.array(z.string()).default([]).describe('Private hosts that tools of agents may reach, as host or host:port.'),
    })
    .prefault({}),
  secrets: z.record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/), SecretConfig).default({}),
  engines: z.record(z.string(), EngineConfig).default({}),
  sidecars: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), SidecarConfig).default({}),
  metrics: MetricsConfig.prefault({}),
  telemetry: TelemetryConfig.prefault({}),
  webhooks: WebhooksConfig.prefault([]),
  console: ConsoleConfig.prefault({}),
  budgets: z
    .array(BudgetTerms.refine(hasLimit, { error: 'needs a limit' }))
    .default([])
    .describe('The most that may be spent on somebody’s behalf in a period (docs/budgets.md); more can be made while the server runs.'),
  routes: z
    .array(RouteConfig)
    .default([])
    .describe('Which models go where; the first that matches counts. Routes that PUT /v1/routes keeps are asked before these.'),
  oidc: OidcConfig.optional(),
  master_key: MasterKeyConfig.prefault({}),
});
export type Config = z.infer<typeof Config>;
type SecretConfig = z.infer<typeof SecretConfig>;

export interface LoadedConfig {
  readonly config: Config;
  /** The file it came from; null when there is none. */
  readonly source: string | null;
  readonly warnings: readonly string[];
}

export interface ConfigOptions {
  readonly path?: string;
  /** Where sealed secrets lie; ABP_HOME, else ~/.abp. */
  readonly homePath?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the file (named, or `ABP_CONFIG`, or `abp.toml` here), then lets the environment override it. */
export function loadConfig({ path, env, homePath }: ConfigOptions): LoadedConfig {
  const { file, tree: written } = readTree({ path, env });
  const tree = written === undefined ? {} : withSecrets(written, { env, homePath: homeFolder(homePath ?? env.ABP_HOME) });
  const config = parseAt(Config, tree, written === undefined ? 'configuration' : file);
  const effective = { ...withEnvironment(config, env), sidecars: wholeSidecars(config.sidecars, dirname(file)) };
  checkEngines(effective, written === undefined ? 'configuration' : file);
  noteFiles(effective, { file, tree: written });
  const empty = Object.entries(effective.secrets)
    .filter(([, { key }]) => key === undefined)
    .map(([name]) => `secrets.${name}: it has no value; set ABP_SECRET_${name.toUpperCase()}`);
  return { config: effective, source: written === undefined ? null : file, warnings: empty };
}

/** No room of an agent shows the key of the certificate, nor a file that holds secrets in plain. */
function noteFiles(config: Config, { file, tree }: { readonly file: string; readonly tree: unknown }): void {
  const { key_file: keyFile } = config.server;
  if (keyFile !== undefined) noteSecretFile(keyFile);
  if (holdsSecret(tree)) noteSecretFile(file);
}

/** Engines that do not exist are errors of the file, also where only a route names them. */
function checkEngines({ engines: table, routes }: Config, file: string): void {
  try {
    checkRoutes(routes, enginesOf(table));
  } catch (error) {
    if (AbpError.is(error)) throw new AbpError(error.code, `${file}: ${error.message}`);
    throw error;
  }
}

function withEnvironment(config: Config, env: ConfigOptions['env']): Config {
  const port = env.ABP_PORT === undefined ? config.server.port : portOf(env.ABP_PORT);
  const url = env.ABP_DATABASE_URL ?? config.database.url;
  return {
    ...config,
    server: { ...config.server, host: env.ABP_HOST ?? config.server.host, port },
    database: url === undefined ? {} : { url },
    telemetry: withOtelVariables(config.telemetry, env),
    ...(config.oidc === undefined ? {} : { oidc: oidcEnvironment(config.oidc, env) }),
    tools: { ...config.tools, ...(env.ABP_SEARCH_KEY ? { search_key: env.ABP_SEARCH_KEY } : {}) },
    secrets: Object.fromEntries(Object.entries(config.secrets).map(([name, secret]) => [name, secretEnvironment(name, secret, env)])),
    engines: Object.fromEntries(
      [...new Set([...engines.map(({ id }) => id), ...Object.keys(config.engines)])].map((id) => [
        id,
        engineEnvironment(id, config.engines[id] ?? {}, env),
      ]),
    ),
  };
}

function oidcEnvironment(oidc: OidcConfig, env: ConfigOptions['env']): OidcConfig {
  return env.ABP_OIDC_CLIENT_SECRET ? { ...oidc, client_secret: env.ABP_OIDC_CLIENT_SECRET } : oidc;
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535)) throw new AbpError('invalid_request', `ABP_PORT is "${text}", not a port number`);
  return port;
}

function secretEnvironment(name: string, secret: SecretConfig, env: ConfigOptions['env']): SecretConfig {
  const key = env[`ABP_SECRET_${name.toUpperCase()}`] || secret.key;
  return { ...secret, ...(key === undefined ? {} : { key }) };
}

function engineEnvironment(id: string, config: EngineConfig, env: ConfigOptions['env']): EngineConfig {
  const name = id.toUpperCase().replaceAll('-', '_');
  const url = env[`ABP_ENGINE_${name}_URL`] ?? config.url;
  const vendor = builtInEngine(id)
    ?.auth?.env.map((variable) => env[variable])
    .find((value) => value !== undefined && value !== '');
  const key = env[`ABP_ENGINE_${name}_KEY`] ?? config.key ?? vendor;
  const deployments = config.deployments?.map((one, at) => {
    const own =
      env[
        `ABP_ENGINE_${name}_${deploymentName(one, at)
          .toUpperCase()
          .replaceAll(/[^A-Z0-9]/g, '_')}_KEY`
      ];
    return own === undefined || own === '' ? one : { ...one, key: own };
  });
  const variable = builtInEngine(id)?.fileVariable;
  const file = variable === undefined ? undefined : env[variable];
  return {
    ...config,
    ...(url === undefined ? {} : { url }),
    ...(key === undefined || key === '' ? {} : { key }),
    ...(deployments === undefined ? {} : { deployments }),
    ...(file === undefined || file === '' ? {} : { file }),
  };
}
