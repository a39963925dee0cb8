import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { isUnderWay, textOfBody } from '../../api/receipts.ts';
import type { FidelityEntry, Receipt, RecordingLine } from '../../api/types.ts';
import { bytes } from '../../base/format.ts';
import { inOrder, shown, valueAt } from '../../base/json-path.ts';
import { parsed } from '../../base/parsed.ts';
import { useUrlChoice } from '../../base/url-state.ts';
import { Segmented } from '../../components/bits/bits.tsx';
import { countFates, FateCounts, FateGlyph, FateStrip } from '../../components/fate/fate.tsx';
import { placesQuery } from './places.ts';
import type { Place } from './places-in.ts';

const SHOWN = ['all', 'changes', 'losses'] as const;
type Shown = (typeof SHOWN)[number];

const PASSES: Readonly<Record<Shown, (entry: FidelityEntry) => boolean>> = {
  all: () => true,
  changes: ({ fate }) => fate !== 'exact',
  losses: ({ fate }) => fate !== 'exact' && fate !== 'renamed',
};

/** Refused fields stand on top: they are why nothing was sent. The others stand as in the request, where it was recorded. */
function sorted(entries: readonly FidelityEntry[], sent: unknown): readonly FidelityEntry[] {
  const ordered = sent === undefined ? entries : inOrder(entries, ({ path }) => path, sent);
  return [...ordered.filter(({ fate }) => fate === 'refused'), ...ordered.filter(({ fate }) => fate !== 'refused')];
}

interface SeamProps {
  readonly receipt: Receipt;
  readonly recording: RecordingLine | undefined;
  /** Opens both raw bodies at a field. */
  readonly onField?: ((path: string) => void) | undefined;
}

/** Each field of the caller's request, its fate in the seam, and where it went. */
export function Seam({ receipt, recording, onField }: SeamProps): JSX.Element {
  const [which, setWhich] = useUrlChoice('fates', SHOWN);
  const entries = receipt.fidelity ?? [];
  const fates = countFates(entries);
  const sent = recording === undefined ? undefined : parsed(textOfBody(recording.request.body));
  const places = useQuery(placesQuery(receipt, recording)).data;
  const kept = recording !== undefined ? '' : isUnderWay(receipt) ? 'not read yet' : 'not recorded';
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
          <b className="md">Engine got{receipt.reason === 'refused' ? ' nothing' : ''}</b>{' '}
          <code className="mute el">{recording?.sent?.path}</code>
          <span className="grow" />{' '}
          <span className="mute">{receipt.upstream_request === null ? '' : bytes(receipt.upstream_request.bytes)}</span>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <section className="seam scroll" aria-label="Fate of fields" tabIndex={0}>
        {sorted(entries, sent)
          .filter(PASSES[which])
          .map((entry) => (
            <SeamRow
              key={`${entry.path}${entry.fate}`}
              {...{ entry, sent, kept, unsent: receipt.reason === 'refused' }}
              place={places?.get(entry.path)}
              onOpen={recording === undefined ? undefined : onField}
            />
          ))}
      </section>
    </div>
  );
}

interface RowProps {
  readonly entry: FidelityEntry;
  readonly sent: unknown;
  readonly place: Place | undefined;
  readonly kept: string;
  /** Nothing went to the engine. */
  readonly unsent: boolean;
  readonly onOpen: ((path: string) => void) | undefined;
}

/** What stands in brackets is no field of the caller: it was put in on the way. */
const ADDED = /^\((.*)\)$/;

function SeamRow({ entry, sent, place, kept, unsent, onOpen }: RowProps): JSX.Element {
  const { path, fate, count } = entry;
  const value = valueAt(sent, path);
  const gone = fate === 'dropped' || fate === 'refused';
  const added = ADDED.exec(path)?.[1];
  const field = (
    <>
      {added === undefined ? <Member path={path} /> : <span className="mute">added on the way: {added}</span>}
      {value === undefined ? <span className="mute">{kept}</span> : <b className="j-s el">{shown(value)}</b>}
      {count === undefined || count === 1 ? null : <span className="why2">×{count}</span>}
    </>
  );
  return (
    <div className="sr-row">
      <div className={`a m g-${fate}${gone ? ' gone' : ''}`} title={path}>
        {onOpen === undefined || added !== undefined ? (
          field
        ) : (
          <button type="button" title={`${path}: show both raw bodies here`} onClick={() => onOpen(path)}>
            {field}
          </button>
        )}
      </div>
      <div className="mid">
        <FateGlyph fate={fate} />
      </div>
      <Target {...{ entry, place, gone, unsent }} />
    </div>
  );
}

/** A path as a member of JSON; a long one is cut at its beginning, where the fields of a request are alike. */
function Member({ path }: { readonly path: string }): JSX.Element {
  return (
    <>
      <span className="j-k">"{path.length > MOST_PATH ? `…${path.slice(-MOST_PATH)}` : path}"</span>
      <span className="j-p">:&nbsp;</span>
    </>
  );
}

const MOST_PATH = 44;

interface TargetProps extends Pick<RowProps, 'entry' | 'place' | 'unsent'> {
  readonly gone: boolean;
}

/** Where a field went. A field that went nowhere has hatching and the reason. */
function Target({ entry: { fate, note }, place, gone, unsent }: TargetProps): JSX.Element {
  if (gone || (fate === 'emulated' && place === undefined)) {
    return (
      <div className="up none" title={note}>
        <span className={`why el f-${fate}`}>
          {fate}
          {note === undefined ? '' : `: ${note}`}
        </span>
      </div>
    );
  }
  return (
    <div className={`up m g-${fate}`} title={note}>
      {place === undefined ? (
        <span className="mute why">
          {unsent ? 'would be ' : ''}
          {note ?? (fate === 'exact' ? 'kept as it is' : 'under another name')}
        </span>
      ) : null}
      {place !== undefined && place.value === undefined ? <span className="mute">in the {place.at}</span> : null}
      {place === undefined || place.value === undefined ? null : (
        <>
          <Member path={place.at} />
          <b className="j-s el">{shown(place.value)}</b>
        </>
      )}
      {place !== undefined && note !== undefined && fate === 'emulated' ? <span className="why2 el">{note}</span> : null}
    </div>
  );
}
