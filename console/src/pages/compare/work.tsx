import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { reportQuery } from '../../api/receipts.ts';
import type { Report } from '../../api/types.ts';
import { Diff } from '../../components/diff/diff.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { aligned, type Pair } from './data.ts';

type Call = Report['tool_calls'][number];
type File = Report['files'][number];

/** The object of a tool: a command, a file, or the arguments as they are. */
function targetOf({ arguments: text }: Call): string {
  if (text === null) return '';
  try {
    const input: unknown = JSON.parse(text);
    for (const name of ['command', 'file_path', 'path']) {
      const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
      if (typeof value === 'string') return value;
    }
  } catch {
    // Arguments are cut after 2,000 characters; what is left is shown as it is.
  }
  return text;
}

/** Two runs of coding agents: the files they changed, and their steps beside each other by tool and target. */
export function Work({ pair }: { readonly pair: Pair }): JSX.Element {
  const [left, right] = [useQuery(reportQuery(pair[0].run_id)).data, useQuery(reportQuery(pair[1].run_id)).data];
  const steps = useQuery({
    queryKey: ['aligned', pair[0].run_id, pair[1].run_id],
    queryFn: () => aligned(left?.tool_calls ?? [], right?.tool_calls ?? [], (call) => `${call.name} ${targetOf(call)}`),
    enabled: left !== undefined && right !== undefined,
  });
  const paths = [...new Set([...(left?.files ?? []), ...(right?.files ?? [])].map(({ path }) => path))].sort();
  const file = (report: Report | undefined, path: string): File | null => report?.files.find((one) => one.path === path) ?? null;
  return (
    <div className="facts">
      <table aria-label="Files changed">
        <tbody>
          {paths.map((path) => {
            const [a, b] = [file(left, path), file(right, path)];
            return (
              <tr key={path} className={JSON.stringify(a) === JSON.stringify(b) ? '' : 'ch'}>
                <th scope="row" className="k el" title={path}>
                  {path.split('/').at(-1)}
                </th>
                <td className="m">{fileWords(a)}</td>
                <td className="m">{fileWords(b)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Diffs paths={paths} file={(side, path) => file(side === 'left' ? left : right, path)} />
      <table aria-label="Steps">
        <tbody>
          {(steps.data ?? []).map(([a, b], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
            <tr key={index} className={a === null || b === null ? 'ch' : ''}>
              <th scope="row" className="k">
                step {index + 1}
              </th>
              <td className="m">{a === null ? '' : <Step call={a} />}</td>
              <td className="m">{b === null ? '' : <Step call={b} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The final diffs of each file that one of both changed, beside each other. */
function Diffs({
  paths,
  file,
}: {
  readonly paths: readonly string[];
  file(side: 'left' | 'right', path: string): File | null;
}): JSX.Element {
  return (
    <div className="files">
      {paths.map((path) => {
        const both = [file('left', path)?.diff ?? null, file('right', path)?.diff ?? null];
        if (both.every((diff) => diff === null)) return null;
        return (
          <details key={path} open={both[0] !== both[1]}>
            <summary>
              <code>{path}</code> <span className="mute s">{both[0] === both[1] ? 'the same lines' : 'final diffs'}</span>
            </summary>
            <div className="two">
              {both.map((diff, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                <div key={index}>{diff === null ? <p className="note">not changed, or no diff is kept</p> : <Diff text={diff} />}</div>
              ))}
            </div>
          </details>
        );
      })}
    </div>
  );
}

function fileWords(file: File | null): string {
  if (file === null) return 'not changed';
  const lines = file.lines_added === null ? '' : ` +${file.lines_added} −${file.lines_removed ?? 0}`;
  return `${file.change}${lines}`;
}

function Step({ call }: { readonly call: Call }): JSX.Element {
  return (
    <>
      <Icon name={call.name === 'Bash' ? 'term' : 'file'} /> <b className="md">{call.name}</b> {targetOf(call)}
    </>
  );
}
