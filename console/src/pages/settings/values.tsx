import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { settingsQuery } from '../../api/queries.ts';
import { ErrorBand } from '../../components/bits/bits.tsx';

const SOURCES: Readonly<Record<string, string>> = { default: 'default', file: 'abp.toml', env: 'environment', database: 'database' };

/** The values in effect, each with where it comes from. Those from files are changed there. */
export function Values({ prefixes }: { readonly prefixes: readonly string[] }): JSX.Element {
  const settings = useQuery(settingsQuery);
  const rows = (settings.data?.values ?? []).filter(({ path }) => prefixes.some((start) => path.startsWith(start)));
  return (
    <>
      <ErrorBand error={settings.error} retry={() => void settings.refetch()} />
      {rows.length === 0 ? null : (
        <table aria-label="Values in effect" className="stacks values">
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
                <td className="m md wrap">{typeof value === 'string' ? value : JSON.stringify(value)}</td>
                <td className={source === 'default' ? 'mute' : ''}>
                  {source === 'file' && where !== undefined ? '' : SOURCES[source]} {where === undefined ? '' : <code>{where}</code>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

const RECORDING = [
  'recording.',
  'receipts.',
  'limits.',
  'server.',
  'auth.',
  'database.',
  'sessions.',
  'tools.',
  'policy.',
  'runs.',
  'webhooks.',
];

export function Recording(): JSX.Element {
  return (
    <>
      <p className="note">
        These are changed in <code>abp.toml</code>; <code>abp config check</code> shows the values in effect and finds mistakes.
      </p>
      <Values prefixes={RECORDING} />
    </>
  );
}
