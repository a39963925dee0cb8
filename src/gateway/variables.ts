/** A variable that the server or a client reads. */
export interface Variable {
  /** `<ID>` stands for the name of an engine or a secret in capitals. */
  readonly names: readonly string[];
  readonly sets: string;
}

/** Every variable of the environment that is meant for people, in the order in which the docs show them. */
export const VARIABLES: readonly Variable[] = [
  { names: ['ABP_HOST', 'ABP_PORT'], sets: '`server.host`, `server.port`' },
  { names: ['ABP_DATABASE_URL'], sets: '`database.url`' },
  {
    names: ['ABP_ENGINE_<ID>_URL', 'ABP_ENGINE_<ID>_KEY'],
    sets: '`engines.<id>.url`, `engines.<id>.key` (the vendor’s usual variable works too, e.g. `ANTHROPIC_API_KEY`)',
  },
  {
    names: ['ABP_ENGINE_<ID>_<NAME>_KEY'],
    sets: '`key` of the [deployment](balancing.md) of that name, in capitals with `_` for other characters',
  },
  { names: ['ABP_SEARCH_KEY', 'ABP_SECRET_<ID>'], sets: '`tools.search_key`, `secrets.<id>.key`' },
  { names: ['ABP_REPLAY_FILE'], sets: '`engines.replay.file`' },
  { names: ['ABP_HOME', 'ABP_CONFIG'], sets: 'where state is kept; the configuration file' },
  {
    names: ['ABP_KEY_SECRET'],
    sets: 'the secret that rows of keys are authenticated with; the same for all homes that share a database, at least 32 characters',
  },
  {
    names: ['ABP_MASTER_KEY'],
    sets: 'the master key of [sealed secrets](secrets.md); `[master_key]` names a file or a program instead',
  },
  { names: ['ABP_OIDC_CLIENT_SECRET'], sets: '`oidc.client_secret`' },
  { names: ['ABP_LOG'], sets: 'the log level: error, warn, info, debug' },
  {
    names: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    sets: '`telemetry.otlp_endpoint`; more of OpenTelemetry’s variables are in [Watching a server](observability.md)',
  },
  { names: ['ABP_DEBUG'], sets: 'set to 1: errors of commands say where they happened' },
  { names: ['ABP_URL', 'ABP_KEY'], sets: 'of clients: the server that `AbpClient` calls; the key of `abp run --remote`' },
];
