import type { Role } from '../../calls/scopes.ts';
import type { Plane } from '../../contract/receipts/parts.ts';

/**
 * Everybody who can be given a permission: the roles, and callers without one. A key without a role has what `key` has and what each of
 * its planes adds; `local` is a caller of this machine without a key; `paired` is a browser that was let in to read and answer.
 */
export const HOLDERS = [
  'admin',
  'operator',
  'auditor',
  'member',
  'agent-runner',
  'suspended',
  'key',
  'plane gateway',
  'plane agent',
  'plane run',
  'paired',
  'local',
] as const satisfies readonly (Role | `plane ${Plane}` | 'key' | 'paired' | 'local')[];
export type Holder = (typeof HOLDERS)[number];

/** One row: a permission, who has it, and the routes that ask for it. `admin` has them all and is not named. */
interface PermissionRow {
  readonly means: string;
  readonly for: readonly Exclude<Holder, 'admin'>[];
  /** The plane that a key without a role lacks when it lacks this; where there is none, it lacks admin. */
  readonly plane?: Plane;
  readonly routes: readonly string[];
}

/** People who use engines and agents themselves. */
const USERS = ['member', 'agent-runner'] as const;
/** Keys that were made without a role, and callers of this machine. */
const UNRANKED = ['key', 'paired', 'local'] as const;

/** Who may do what, on every path of the server. Whose runs and bodies somebody sees is in `SEES`. */
export const PERMISSIONS = {
  public: {
    means: 'Health, documentation, the pages of the console, and signing in: also for callers whom the server does not know.',
    for: HOLDERS.filter((holder) => holder !== 'admin'),
    routes: [
      'GET /healthz',
      'GET /readyz',
      'GET /openapi.json',
      'GET /docs/errors/{code}',
      'POST /v1/console/session',
      'GET /v1/console/session',
      'DELETE /v1/console/session',
      'GET /v1/sign-ins/start',
      'GET /v1/sign-ins/callback',
      'POST /v1/sign-ins/device',
      'POST /v1/sign-ins/device/token',
      'GET /',
      'GET /runs',
      'GET /runs/{run_id}',
      'GET /runs/{a}/vs/{b}',
      'GET /playground',
      'GET /matrix',
      'GET /agents',
      'GET /agents/{id}',
      'GET /agents/{id}/sessions/{session}',
      'GET /coding',
      'GET /inbox',
      'GET /usage',
      'GET /settings',
      'GET /settings/{section}',
      'GET /manifest.webmanifest',
      'GET /icon.svg',
      'GET /inbox-worker.js',
      'GET /assets/{file}',
    ],
  },
  look: {
    means: 'Engines, models and coding agents, negotiation, and what would become of a request.',
    for: ['operator', 'auditor', ...USERS, ...UNRANKED],
    routes: [
      'POST /v1/negotiate',
      'POST /v1/explain',
      'GET /v1/backends',
      'GET /v1/backends/{id}',
      'GET /v1/matrix',
      'GET /v1/matrix/fields',
      'GET /v1/matrix/models',
      'GET /v1/engines',
      'GET /v1/models',
      'GET /v1/models/{id}',
      'GET /v1beta/models',
      'GET /v1beta/models/{id}',
      'GET /kimi/v1/models',
      'GET /kimi/v1/models/{id}',
      'GET /copilot/models',
      'GET /copilot/models/{id}',
      'GET /v1/adapters',
      'GET /v1/adapters/{id}',
      'GET /v1/adapters/{id}/detect',
      'GET /v1/adapters/{id}/auth',
      'GET /v1/adapters/{id}/models',
      'POST /v1/adapters/{id}/models/validate',
      'POST /v1/adapters/{id}/models/cost',
      'POST /v1/tickets',
      'GET /v1/sign-ins/current',
    ],
  },
  receipts: {
    means: 'Receipts, their seals, runs as lines, and usage. Nothing of what was said.',
    for: ['operator', 'auditor', ...USERS, ...UNRANKED],
    routes: [
      'GET /v1/receipts',
      'GET /v1/receipts/{run_id}',
      'GET /v1/receipts/{run_id}/fidelity',
      'GET /v1/receipts/{run_id}/verify',
      'GET /v1/receipts/{run_id}/late-end',
      'GET /v1/receipts/{run_id}/proof',
      'GET /v1/receipts/diff',
      'GET /v1/receipts/keys',
      'GET /v1/receipts/head',
      'GET /v1/receipts/stream',
      'GET /v1/runs',
      'GET /v1/runs/stream',
      'GET /v1/usage',
      'GET /v1/usage/forecast',
    ],
  },
  bodies: {
    means: 'What was said: recorded bodies, reports with prompts and arguments of tools, and questions of agents.',
    for: [...USERS, ...UNRANKED],
    routes: [
      'GET /v1/receipts/{run_id}/request',
      'GET /v1/receipts/{run_id}/response',
      'GET /v1/receipts/{run_id}/report',
      'GET /v1/recordings',
      'GET /v1/recordings/{run_id}',
      'GET /v1/interactions',
      'GET /v1/interactions/stream',
      'GET /v1/console/push',
      'PUT /v1/console/push',
      'DELETE /v1/console/push',
    ],
  },
  'bodies.erase': {
    means: 'Erase recorded bodies.',
    for: [...USERS, 'key', 'local'],
    routes: ['DELETE /v1/receipts/{run_id}/bodies', 'DELETE /v1/recordings'],
  },
  'engines.call': {
    means: 'Call engines: vendor paths, raw paths and WebSockets, as far as the scopes of the key go.',
    for: [...USERS, 'plane gateway', 'local'],
    plane: 'gateway',
    routes: ['POST /v1/receipts/{run_id}/replay'],
  },
  'runs.watch': {
    means: 'A run of a coding agent with its options, its events and its words.',
    for: [...USERS, 'plane run', 'paired'],
    plane: 'run',
    routes: ['GET /v1/runs/{run_id}', 'GET /v1/runs/{run_id}/events'],
  },
  'runs.answer': {
    means: 'Answer what a coding agent asks.',
    for: [...USERS, 'plane run', 'paired'],
    plane: 'run',
    routes: ['POST /v1/runs/{run_id}/interactions/{interaction_id}'],
  },
  runs: {
    means: 'Start coding agents and work orders, and steer them.',
    for: ['agent-runner', 'plane run'],
    plane: 'run',
    routes: [
      'POST /v1/work-orders',
      'POST /v1/runs/check',
      'POST /v1/runs',
      'POST /v1/runs/{run_id}/cancel',
      'POST /v1/runs/{run_id}/pause',
      'POST /v1/runs/{run_id}/resume',
      'POST /v1/runs/{run_id}/interrupt',
      'POST /v1/runs/{run_id}/continue',
      'POST /v1/runs/{run_id}/input',
    ],
  },
  agents: {
    means: 'Agents and sessions of one’s own key.',
    for: [...USERS, 'plane agent', 'local'],
    plane: 'agent',
    routes: [
      'POST /v1/agents',
      'GET /v1/agents',
      'POST /v1/agents/import',
      'POST /v1/agents/preview',
      'GET /v1/agents/{agent_id}',
      'PATCH /v1/agents/{agent_id}',
      'DELETE /v1/agents/{agent_id}',
      'GET /v1/agents/{agent_id}/capabilities',
      'PUT /v1/agents/{agent_id}/capabilities',
      'GET /v1/agents/{agent_id}/preview',
      'GET /v1/agents/{agent_id}/export',
      'GET /v1/capabilities',
      'POST /v1/capabilities',
      'GET /v1/capabilities/{capability_id}',
      'PUT /v1/capabilities/{capability_id}',
      'DELETE /v1/capabilities/{capability_id}',
      'POST /v1/sessions',
      'GET /v1/sessions',
      'GET /v1/sessions/{id}',
      'PATCH /v1/sessions/{id}',
      'DELETE /v1/sessions/{id}',
      'POST /v1/sessions/{id}/messages',
      'GET /v1/sessions/{id}/messages',
      'GET /v1/sessions/{id}/events',
      'POST /v1/sessions/{id}/cancel',
      'POST /v1/sessions/{id}/fork',
    ],
  },
  'agents.answer': {
    means: 'See and answer what an agent asks.',
    for: [...USERS, 'plane agent', 'paired', 'local'],
    plane: 'agent',
    routes: ['GET /v1/sessions/{id}/approvals', 'POST /v1/sessions/{id}/approvals/{approval_id}'],
  },
  'sign-ins': {
    means: 'Where one is signed in, and ending that; for an admin everybody’s sign-ins.',
    for: ['operator', 'auditor', ...USERS, 'key'],
    routes: ['GET /v1/sign-ins', 'DELETE /v1/sign-ins/{id}'],
  },
  chain: {
    means: 'Export and verify the chain of all receipts.',
    for: ['auditor'],
    routes: ['GET /v1/receipts/export', 'GET /v1/receipts/verify'],
  },
  audit: {
    means: 'Who changed what, and who read what.',
    for: ['auditor'],
    routes: ['GET /v1/audit'],
  },
  metrics: {
    means: 'Numbers about the whole server.',
    for: ['operator', 'auditor', 'paired', 'local'],
    routes: ['GET /metrics'],
  },
  settings: {
    means: 'The configuration in effect, without its secrets, and the table of routes.',
    for: ['operator', 'auditor'],
    routes: ['GET /v1/settings', 'GET /v1/routes', 'GET /v1/config/diff'],
  },
  engines: {
    means: 'Change engines, routes and lists of models.',
    for: ['operator'],
    routes: ['PUT /v1/routes', 'POST /v1/config/reload', 'POST /v1/adapters/{id}/models/refresh'],
  },
  keys: {
    means: 'Keys: make, change, rotate and revoke them.',
    for: [],
    routes: ['POST /v1/keys', 'GET /v1/keys', 'PATCH /v1/keys/{id}', 'DELETE /v1/keys/{id}', 'POST /v1/keys/{id}/rotate'],
  },
  people: {
    means: 'Users, teams and budgets.',
    for: [],
    routes: [
      'POST /v1/users',
      'GET /v1/users',
      'GET /v1/users/{id}',
      'PATCH /v1/users/{id}',
      'DELETE /v1/users/{id}',
      'POST /v1/teams',
      'GET /v1/teams',
      'GET /v1/teams/{id}',
      'PATCH /v1/teams/{id}',
      'DELETE /v1/teams/{id}',
      'POST /v1/budgets',
      'GET /v1/budgets',
      'GET /v1/budgets/{id}',
      'PATCH /v1/budgets/{id}',
      'DELETE /v1/budgets/{id}',
    ],
  },
  browsers: {
    means: 'Browsers that are signed in with the rights of the home.',
    for: [],
    routes: ['POST /v1/console/pairings', 'GET /v1/console/browsers', 'DELETE /v1/console/browsers/{id}'],
  },
  'receipts.remove': {
    means: 'Remove the content of receipts, and change the key that they are signed with.',
    for: [],
    routes: ['POST /v1/receipts/remove', 'POST /v1/receipts/keys/rotate'],
  },
  programs: {
    means: 'Programs, files and folders of the server’s own user: install coding agents, tools that start programs, runs anywhere.',
    for: [],
    routes: [
      'POST /v1/adapters/{id}/install',
      'PUT /v1/attached-processes/{process_id}',
      'DELETE /v1/attached-processes/{process_id}',
      'GET /v1/attached-runs/offer',
      'PUT /v1/attached-runs/{run_id}',
      'POST /v1/attached-runs/{run_id}/claim',
      'POST /v1/attached-runs/{run_id}/admission',
      'POST /v1/attached-runs/{run_id}/key',
      'DELETE /v1/attached-runs/{run_id}/key',
      'GET /v1/attached-runs/{run_id}/cancelled',
      'GET /v1/attached-runs/{run_id}/engine',
      'GET /v1/attached-runs/{run_id}/spend',
      'GET /v1/attached-runs/{run_id}/fates',
      'POST /v1/attached-runs/{run_id}/close',
    ],
  },
} as const satisfies Readonly<Record<string, PermissionRow>>;
export type Permission = keyof typeof PERMISSIONS;

/**
 * Whose runs somebody sees. `own`: those of the key itself and of the user whose key it is, and those of a team that shows its members
 * each other's runs (`shows_runs`). `unkeyed`: those that were made without a key.
 */
export const SEES = {
  admin: 'all',
  operator: 'all',
  auditor: 'all',
  member: 'own',
  'agent-runner': 'own',
  suspended: 'own',
  key: 'own',
  paired: 'all',
  local: 'unkeyed',
} as const satisfies Readonly<Record<Role | 'key' | 'paired' | 'local', 'all' | 'own' | 'unkeyed'>>;

export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as Permission[]; // the keys of a constant object are its type's keys

export function rowOf(permission: Permission): PermissionRow {
  return PERMISSIONS[permission];
}

/** Whether somebody has a permission by this table. */
export function hasPermission(holder: Holder, permission: Permission): boolean {
  return holder === 'admin' || rowOf(permission).for.includes(holder);
}

/** The permissions of each holder. */
export const RIGHTS = Object.fromEntries(
  HOLDERS.map((holder) => [holder, new Set(PERMISSION_NAMES.filter((permission) => hasPermission(holder, permission)))]),
) as unknown as Readonly<Record<Holder, ReadonlySet<Permission>>>; // one entry per holder

const BY_ROUTE: ReadonlyMap<string, Permission> = new Map(
  PERMISSION_NAMES.flatMap((permission) => rowOf(permission).routes.map((route) => [route, permission] as const)),
);

/** The permission that a route asks for. A route without a row in the table keeps the server from starting. */
export function permissionOf({ method, path }: { readonly method: string; readonly path: string }): Permission {
  const permission = BY_ROUTE.get(`${method} ${path}`);
  if (permission === undefined) throw new Error(`the route ${method} ${path} has no row in src/gateway/auth/permissions.ts`);
  return permission;
}
