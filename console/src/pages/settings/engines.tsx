import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import type { z } from 'zod';
import type { RouteTable, SettingsView } from '../../../../src/gateway/api/settings.ts';
import { get } from '../../api/client.ts';
import { enginesQuery } from '../../api/queries.ts';
import { time } from '../../base/format.ts';
import { Empty, ErrorBand } from '../../components/bits/bits.tsx';

type Settings = z.infer<typeof SettingsView>;
type Table = z.infer<typeof RouteTable>;

const settingsQuery = { queryKey: ['settings'], queryFn: () => get<Settings>('/v1/settings'), staleTime: 60_000, retry: false };

const WHOSE: Readonly<Record<string, string>> = { key: 'a key of this server', caller: 'the caller’s own', none: 'none needed' };

export function EngineSettings({ may }: { readonly may: boolean }): JSX.Element {
  const engines = useQuery(enginesQuery);
  return (
    <>
      <p className="note">
        A key comes from the environment or from <code>abp.toml</code> and is read at the start; set the variable and start again.
      </p>
      <ErrorBand error={engines.error} />
      <table>
        <thead>
          <tr>
            <th>Engine</th>
            <th>Credential</th>
            <th>Variable</th>
            <th>Speaks</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {(engines.data?.items ?? []).map((engine) => (
            <tr key={engine.id}>
              <td className="md">{engine.name}</td>
              <td>{WHOSE[engine.auth]}</td>
              <td className="m mute">{engine.key_variable ?? '–'}</td>
              <td className="m">{engine.dialects.join(', ')}</td>
              <td className={engine.health?.state === 'open' ? 'bad' : 'mute'}>{stateOf(engine)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {may ? <Values prefix="engines." /> : null}
    </>
  );
}

function stateOf({
  health,
}: {
  readonly health: { readonly state: string; readonly last_success_at: string | null; readonly last_failure: string | null } | null;
}): string {
  if (health === null) return 'inside this process';
  if (health.state === 'open') return `left alone: ${health.last_failure ?? ''}`;
  return health.last_success_at === null ? 'not called yet' : `answered ${time(health.last_success_at)}`;
}

const SOURCES: Readonly<Record<string, string>> = { default: 'default', file: 'abp.toml', env: 'environment', database: 'database' };

/** The values in effect, each with where it comes from. Those from files are changed there. */
function Values({ prefix }: { readonly prefix: string }): JSX.Element {
  const settings = useQuery(settingsQuery);
  const rows = (settings.data?.values ?? []).filter(({ path }) => prefix.split('|').some((start) => path.startsWith(start)));
  return (
    <>
      <ErrorBand error={settings.error} />
      {rows.length === 0 ? null : (
        <table>
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>Comes from</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ path, value, source, where }) => (
              <tr key={path}>
                <td className="m">{path}</td>
                <td className="m md">{typeof value === 'string' ? value : JSON.stringify(value)}</td>
                <td className={source === 'default' ? 'mute' : ''}>
                  {SOURCES[source]} {where === undefined ? '' : <code>{where}</code>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

export function Recording(): JSX.Element {
  return (
    <>
      <p className="note">Change these in abp.toml; `abp config check` shows the values in effect and finds mistakes.</p>
      <Values prefix="recording.|receipts.|limits.|server.|auth.|database.|sessions.|tools." />
    </>
  );
}

export function Routes(): JSX.Element {
  const routes = useQuery({ queryKey: ['routes'], queryFn: () => get<Table>('/v1/routes'), retry: false });
  if (routes.data?.items.length === 0) {
    return (
      <Empty title="No routes">
        <p className="note">
          Every model goes to the engine in the path, in X-ABP-Engine, in its prefix, or to the dialect’s own. A route in abp.toml sends a
          model elsewhere:
        </p>
        <pre className="code">{'[[routes]]\nmatch = "claude-*"\nto = "gemini/gemini-2.5-pro"\nfallback = ["sim"]'}</pre>
      </Empty>
    );
  }
  return (
    <>
      <ErrorBand error={routes.error} />
      <table>
        <thead>
          <tr>
            <th>Model</th>
            <th>Goes to</th>
            <th>Else to</th>
            <th>Tries</th>
            <th>Emulates</th>
            <th>Comes from</th>
          </tr>
        </thead>
        <tbody>
          {(routes.data?.items ?? []).map((route) => (
            <tr key={`${route.match}${route.to}`}>
              <td className="m">{route.match}</td>
              <td className="m md">{route.to}</td>
              <td className="m">{route.fallback.join(', ')}</td>
              <td>{route.attempts}</td>
              <td>{route.emulate.join(', ')}</td>
              <td className="mute">{SOURCES[route.source]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
