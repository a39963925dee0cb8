/** Variables of ours that a child needs to work at all. Everything else, credentials above all, stays here. */
const ALLOWED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'COLORTERM',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'SYSTEMROOT',
  'SystemRoot',
  'COMSPEC',
  'PATHEXT',
  'APPDATA',
  'LOCALAPPDATA',
  'USERPROFILE',
  'PROGRAMFILES',
  'PROGRAMDATA',
]);

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Names every process of a run, also those that leave its group. */
export const RUN_MARK = 'ABP_RUN_ID';

type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentSources {
  readonly base: Environment;
  /** Names of further variables to keep: those that hold the agent's own credential, when it runs on it. */
  readonly keep: readonly string[];
  /** The adapter's variables, and over them the caller's. */
  readonly adapter: Readonly<Record<string, string>>;
  readonly caller: Readonly<Record<string, string>>;
  readonly runId: string;
  /** The span of the run, for agents that go on with a trace; absent where nobody collects traces. */
  readonly traceparent?: string | undefined;
}

/** The environment of an agent. Calls to this machine never go through a proxy: the gateway is here. */
export function childEnvironment({ base, keep, adapter, caller, runId, traceparent }: EnvironmentSources): Record<string, string> {
  const kept = allowedEnvironment(base, keep);
  const noProxy = withLoopback(base.NO_PROXY ?? base.no_proxy ?? '');
  const traced = traceparent === undefined ? {} : { TRACEPARENT: traceparent };
  return { ...kept, NO_PROXY: noProxy, no_proxy: noProxy, ...traced, ...adapter, ...caller, [RUN_MARK]: runId };
}

/** The part of an environment that may be handed on. */
export function allowedEnvironment(base: Environment, keep: readonly string[] = []): Record<string, string> {
  const kept = new Set(keep);
  return Object.fromEntries(
    Object.entries(base).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (ALLOWED.has(entry[0]) || entry[0].startsWith('LC_') || kept.has(entry[0])),
    ),
  );
}

function withLoopback(noProxy: string): string {
  const names = noProxy
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return [...new Set([...names, ...LOOPBACK])].join(',');
}
