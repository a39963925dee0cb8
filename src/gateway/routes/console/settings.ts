import { existsSync } from 'node:fs';
import { isJsonObject, type Json, parseJson } from '../../../base/json.ts';
import { maskSecrets } from '../../../base/redact.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RouteRow } from '../../../mapping/route.ts';
import { RouteChange, RouteTable, type RouteView, SettingsView } from '../../api/settings.ts';
import type { Principal } from '../../auth/principal.ts';
import { Config } from '../../config.ts';
import { ConfigPlaces } from '../../config-lines.ts';
import type { Gateway } from '../../gateway.ts';
import type { LiveRoutes } from '../../live-routes.ts';
import { recordingWish } from '../../recording.ts';
import { defineRoute } from '../../route.ts';

/** Values that are secrets, or may hold one; only that they are set is told. */
const SECRET_PATHS =
  /(^|\.)(key|search_key|client_secret|key_secret)$|^(database\.url|webhooks|receipts\.head_webhook)$|^engines\.[^.]+\.headers\./;

const VARIABLES: Readonly<Record<string, string>> = {
  'server.host': 'ABP_HOST',
  'server.port': 'ABP_PORT',
  'database.url': 'ABP_DATABASE_URL',
  'tools.search_key': 'ABP_SEARCH_KEY',
  'oidc.client_secret': 'ABP_OIDC_CLIENT_SECRET',
};

/** The variable that a value may come from. */
function variableOf(path: string): string | undefined {
  const engine = /^engines\.([\w-]+)\.(url|key)$/.exec(path);
  if (engine === null) return VARIABLES[path];
  return `ABP_ENGINE_${(engine[1] ?? '').toUpperCase().replaceAll('-', '_')}_${(engine[2] ?? '').toUpperCase()}`;
}

/** Every leaf under its path; lists are values. */
function* leaves(value: Json, path = ''): Generator<readonly [string, Json]> {
  if (!isJsonObject(value)) {
    yield [path, value];
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) yield* leaves(member, path === '' ? name : `${path}.${name}`);
  }
}

function settingsOf({ config, reloader: { source: file } }: Gateway, principal: Principal): SettingsView {
  const places = file === null || !existsSync(file) ? undefined : new ConfigPlaces(file);
  const asJson = (value: object): Json => {
    const parsed = parseJson(JSON.stringify(value));
    return parsed.ok ? parsed.value : null;
  };
  const defaults = new Map([...leaves(asJson(Config.parse({})))].map(([path, value]) => [path, JSON.stringify(value)]));
  const values = [...leaves(asJson(config))]
    .filter(([path]) => !path.startsWith('routes'))
    .map(([path, value]) => {
      const variable = variableOf(path);
      const fromEnvironment = variable !== undefined && process.env[variable] !== undefined;
      const isDefault = defaults.get(path) === JSON.stringify(value);
      const source = fromEnvironment ? 'env' : isDefault ? 'default' : 'file';
      const shown = SECRET_PATHS.test(path) ? 'set' : maskSecrets(value);
      const where = fromEnvironment ? variable : source === 'file' ? places?.of(path) : undefined;
      return { path, value: shown, source, ...(where === undefined ? {} : { where }) } as const;
    });
  if (config.recording.default !== undefined) return { values };
  // Nobody has set how much is kept; what holds follows from who may call.
  return { values: [...values, { path: 'recording.default', value: recordingWish(config, principal).otherwise, source: 'default' }] };
}

function routeTable({ kept, configured }: LiveRoutes): { items: RouteView[]; total: number } {
  const view = (source: RouteView['source']) => (row: RouteRow) => ({
    ...row,
    fallback: [...row.fallback],
    emulate: [...row.emulate],
    recording: row.recording ?? null,
    cache: row.cache ?? null,
    source,
  });
  const items = [...kept.map(view('database')), ...configured.map(view('file'))];
  return { items, total: items.length };
}

/** The rows to keep. A row of the configuration that is not as it stands there would be changed in vain, so it is refused. */
function rowsToKeep(table: LiveRoutes, { items }: RouteChange): RouteRow[] {
  const configured = new Set(routeTable(table).items.flatMap((row) => (row.source === 'file' ? [JSON.stringify(row)] : [])));
  return items.flatMap(({ match, to, fallback, attempts, emulate, recording, cache, source }, at) => {
    const row = { match, to, fallback, attempts, emulate, recording: recording ?? null, cache: cache ?? null, source };
    if (source === 'database')
      return [{ match, to, fallback, attempts, emulate, recording: recording ?? undefined, cache: cache ?? undefined }];
    if (configured.has(JSON.stringify(row))) return [];
    throw new AbpError('unprocessable', `items[${at}]: this route comes from the configuration file and is changed there.`, { match });
  });
}

export const settingRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/settings',
    summary: 'The values in effect and where each comes from. Secrets are told as set.',
    response: SettingsView,
    handle: ({ gateway, principal }) => settingsOf(gateway, principal),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/routes',
    summary: 'Which models go where; the first that matches counts.',
    response: RouteTable,
    handle: ({ gateway }) => routeTable(gateway.routes),
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/routes',
    summary:
      'Replaces the routes that are kept in the database, all or none. They hold from the next call on, before those of the configuration.',
    audit: { action: 'routes.change', body: true },
    body: RouteChange,
    response: RouteTable,
    handle: async ({ gateway, body }) => {
      await gateway.routes.keep(rowsToKeep(gateway.routes, body));
      return routeTable(gateway.routes);
    },
  }),
];
