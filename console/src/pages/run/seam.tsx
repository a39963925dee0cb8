import { type JSX, useState } from 'react';
import { textOfBody } from '../../api/receipts.ts';
import type { FidelityEntry, Receipt, RecordingLine } from '../../api/types.ts';
import { bytes } from '../../base/format.ts';
import { shown, valueAt } from '../../base/json-path.ts';
import { Segmented } from '../../components/bits/bits.tsx';
import { countFates, FateCounts, FateGlyph, FateStrip } from '../../components/fate/fate.tsx';

type Shown = 'all' | 'changes' | 'losses';

const PASSES: Readonly<Record<Shown, (entry: FidelityEntry) => boolean>> = {
  all: () => true,
  changes: ({ fate }) => fate !== 'exact',
  losses: ({ fate }) => fate !== 'exact' && fate !== 'renamed',
};

function bodyOf(request: RecordingLine['request'] | null | undefined): unknown {
  if (request === null || request === undefined) return undefined;
  try {
    return JSON.parse(textOfBody(request.body));
  } catch {
    return undefined;
  }
}

/** Refused fields stand on top: they are why nothing was sent. */
function sorted(entries: readonly FidelityEntry[]): readonly FidelityEntry[] {
  return [...entries.filter(({ fate }) => fate === 'refused'), ...entries.filter(({ fate }) => fate !== 'refused')];
}

/** Each field of the caller's request, its fate in the seam, and where it went. */
export function Seam({ receipt, recording }: { readonly receipt: Receipt; readonly recording: RecordingLine | undefined }): JSX.Element {
  const [which, setWhich] = useState<Shown>('all');
  const entries = receipt.fidelity ?? [];
  const fates = countFates(entries);
  const sent = bodyOf(recording?.request);
  const got = bodyOf(recording?.sent);
  const kept = recording === undefined ? 'not recorded' : '';
  return (
    <div className="seam-wrap">
      <div className="row fsum">
        <FateStrip fates={fates} />
        <FateCounts fates={fates} all />
        <Segmented<Shown>
          label="Which fields"
          value={which}
          onChange={setWhich}
          options={[
            ['all', `All ${fates.reduce((a, b) => a + b, 0)}`],
            ['changes', 'Changes'],
            ['losses', 'Losses'],
          ]}
        />
      </div>
      <div className="sh">
        <div>
          <b className="md">Caller sent</b> <code className="mute el">{recording?.request.path}</code>
          <span className="grow" /> <span className="mute">{receipt.request === null ? '' : bytes(receipt.request.bytes)}</span>
        </div>
        <div />
        <div>
          <b className="md">Engine got</b> <code className="mute el">{recording?.sent?.path}</code>
          <span className="grow" />{' '}
          <span className="mute">{receipt.upstream_request === null ? '' : bytes(receipt.upstream_request.bytes)}</span>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <section className="seam scroll" aria-label="Fate of fields" tabIndex={0}>
        {sorted(entries)
          .filter(PASSES[which])
          .map((entry) => (
            <SeamRow key={`${entry.path}${entry.fate}`} entry={entry} sent={sent} got={got} kept={kept} />
          ))}
      </section>
    </div>
  );
}

interface RowProps {
  readonly entry: FidelityEntry & { readonly to?: readonly string[] | string | undefined };
  readonly sent: unknown;
  readonly got: unknown;
  readonly kept: string;
}

function SeamRow({ entry, sent, got, kept }: RowProps): JSX.Element {
  const { path, fate, note, count } = entry;
  const value = valueAt(sent, path);
  const gone = fate === 'dropped' || fate === 'refused';
  return (
    <div className="sr-row">
      <div className={`a m g-${fate}${gone ? ' gone' : ''}`} title={path}>
        <span className="j-k">{path}</span>
        <span className="j-p">: </span>
        {value === undefined ? <span className="mute">{kept}</span> : <b className="j-s el">{shown(value)}</b>}
        {count === undefined || count === 1 ? null : <span className="why2">×{count}</span>}
      </div>
      <div className="mid">
        <FateGlyph fate={fate} />
      </div>
      <Target entry={entry} got={got} gone={gone} note={note} />
    </div>
  );
}

function Target({
  entry,
  got,
  gone,
  note,
}: {
  readonly entry: RowProps['entry'];
  readonly got: unknown;
  readonly gone: boolean;
  readonly note: string | undefined;
}): JSX.Element {
  const { fate, to, path } = entry;
  const [first] = to === undefined ? [] : [to].flat();
  if (gone || (fate === 'emulated' && first === undefined)) {
    return (
      <div className="up none">
        <span className={`why f-${fate}`}>
          {fate}
          {note === undefined ? '' : `: ${note}`}
        </span>
      </div>
    );
  }
  const pointer = first?.replaceAll('/', '.').replace(/^\./, '') ?? (fate === 'exact' ? path : undefined);
  const value = pointer === undefined ? undefined : valueAt(got, pointer.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]'));
  return (
    <div className={`up m g-${fate}`} title={note}>
      {pointer === undefined ? (
        <span className="mute why">{note ?? 'has another name there'}</span>
      ) : (
        <span className="j-k">{pointer}</span>
      )}
      {value === undefined ? null : (
        <>
          <span className="j-p">: </span>
          <b className="j-s el">{shown(value)}</b>
        </>
      )}
      {pointer !== undefined && note !== undefined ? <span className="why2">{note}</span> : null}
    </div>
  );
}
