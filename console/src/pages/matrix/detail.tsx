import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { enginesQuery, fieldsQuery } from '../../api/queries.ts';
import type { Fields, Matrix } from '../../api/types.ts';
import type { FateName } from '../../base/fates.ts';
import { count } from '../../base/format.ts';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Cell, LEVEL_WORDS } from './cell.tsx';
import { type Unmet, weekQuery } from './data.ts';
import { dialectsOf, type Kind, type Row, reasonOf, wordOf } from './grid.ts';

const MEANING: Readonly<Record<string, string>> = {
  native: 'The backend does this itself.',
  emulated: 'It is approximated by translation, and every use is labelled.',
  restricted: 'It is there with a restriction.',
  unsupported: 'Refused with E001, unless the caller opts into an emulation that exists.',
  passthrough: 'No request rewriting: bytes in are bytes out.',
  mapped: 'Opinionated mapping with early errors: every field has a fate.',
};

const SOURCES: Readonly<Record<string, string>> = {
  manifest: 'manifest',
  hello: 'what it said when it was greeted',
  profile: 'profile of its adapter',
};

interface DetailProps {
  readonly matrix: Matrix | undefined;
  readonly kind: Kind;
  readonly row: Row;
  readonly column: string;
  readonly unmet: Unmet | undefined;
  readonly pinned: boolean;
}

/** The selected cell: level, reason, source, what becomes of its fields, what each dialect calls it, runs that used it. */
export function Detail({ matrix, kind, row, column, unmet, pinned }: DetailProps): JSX.Element {
  const fields = useQuery(fieldsQuery);
  const level = row.cells.get(column);
  const isDialect = level === 'passthrough' || level === 'mapped';
  const stated = matrix?.capabilities.find(({ backend, capability }) => backend === row.id && capability === column);
  const own = (fields.data?.fields ?? []).filter(({ capability }) => capability === column);
  const reason = reasonOf(matrix, row.id, column);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <aside className="det scroll" aria-label="The selected cell" tabIndex={0}>
      <div className="mute s">
        {row.name}, {wordOf(column)} {pinned ? <span className="tag">pinned</span> : null}
      </div>
      <div className="lv">
        <Cell level={level} /> {LEVEL_WORDS[level ?? ''] ?? 'not stated'}
      </div>
      <p className="note">{MEANING[level ?? ''] ?? 'Nobody has said; it counts as unsupported.'}</p>
      {reason === undefined ? null : <p className="note md">{reason}</p>}
      {level === 'unsupported' ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
        <pre className="code" tabIndex={0}>
          X-ABP-Emulate: {column}
        </pre>
      ) : null}
      {unmet === undefined || unmet.length === 0 ? null : <Missing unmet={unmet} />}
      <dl className="kv">
        {stated === undefined ? null : (
          <>
            <dt>source</dt>
            <dd>
              {SOURCES[stated.source] ?? stated.source} of {row.name}
            </dd>
          </>
        )}
        {kind === 'engine' ? <Used engine={row.name} /> : null}
      </dl>
      {own.length === 0 || kind !== 'engine' ? null : <Becomes fields={own} level={level} engine={row.name} />}
      {own.length === 0 ? null : <Names fields={own} dialects={dialectsOf(matrix)} />}
      {isDialect ? null : <Others matrix={matrix} column={column} />}
      <span className="grow" />
      {kind === 'engine' ? (
        <div className="row">
          <Link className="btn" to="/playground" search={{ to: row.name, ...(isDialect ? { from: column } : {}) }}>
            <Icon name="play" /> Try in Playground <kbd>P</kbd>
          </Link>
          <Link className="btn" to="/runs" search={{ engine: row.name, ...(level === 'mapped' ? { dialect: column } : {}) }}>
            Runs of {row.name}
          </Link>
        </div>
      ) : null}
    </aside>
  );
}

function Missing({ unmet }: { readonly unmet: Unmet }): JSX.Element {
  return (
    <div>
      <h2>What it lacks of what you ask</h2>
      {unmet.map(({ capability, min_support: wanted, level }) => (
        <p key={capability} className="bad s">
          <code>{capability}</code> should be {wanted}, is{' '}
          {typeof level === 'string' ? level : level === null ? 'not stated' : 'restricted'}
        </p>
      ))}
    </div>
  );
}

function Used({ engine }: { readonly engine: string }): JSX.Element {
  const week = useQuery(weekQuery);
  const group = week.data?.groups.find(({ key }) => key.engine === engine);
  const many = group?.runs?.reduce((sum, one) => sum + one, 0) ?? 0;
  return (
    <>
      <dt>used</dt>
      <dd>{week.data === undefined ? '' : many === 0 ? 'no calls to it this week' : `${count(many)} calls to it this week`}</dd>
    </>
  );
}

type Field = Fields['fields'][number];

/** The rule of the mapping: what the engine has a name for goes there; of the rest, meaning is refused and hints are dropped. */
function fateOf({ weight, names }: Field, level: string | undefined, dialects: readonly string[]): FateName {
  if (level === 'emulated') return 'emulated';
  const named = dialects.some((dialect) => names[dialect] !== undefined);
  const can = level === 'native' || level === 'restricted' || weight !== 'meaning';
  if (named && can) return 'renamed';
  return weight === 'meaning' ? 'refused' : 'dropped';
}

interface BecomesProps {
  readonly fields: readonly Field[];
  readonly level: string | undefined;
  readonly engine: string;
}

function Becomes({ fields, level, engine }: BecomesProps): JSX.Element {
  const engines = useQuery(enginesQuery);
  const dialects = engines.data?.items.find(({ id }) => id === engine)?.dialects ?? [];
  return (
    <div className="part">
      <h2>What becomes of it where it is mapped</h2>
      <div className="map">
        {fields.map((field) => (
          <div key={field.id} className="contents">
            <FateGlyph fate={fateOf(field, level, dialects)} word />
            <span title={`its loss weighs: ${field.weight}`}>{field.title}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function Names({ fields, dialects }: { readonly fields: readonly Field[]; readonly dialects: readonly string[] }): JSX.Element {
  return (
    <div className="part">
      <h2>Each dialect calls it</h2>
      <dl className="kv">
        {dialects.map((dialect) => {
          const all = [...new Set(fields.flatMap(({ names: known }) => known[dialect] ?? []))];
          // A member of a field that is named here goes without saying.
          const names = all.filter((name) => !all.some((other) => name.startsWith(`${other}.`)));
          return (
            <div key={dialect} className="contents">
              <dt>{dialect}</dt>
              <dd title={all.join(', ')}>
                {names.length === 0 ? <span className="mute">has no name for it</span> : <code>{names.join(', ')}</code>}
              </dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}

function Others({ matrix, column }: { readonly matrix: Matrix | undefined; readonly column: string }): JSX.Element {
  const native = (matrix?.capabilities ?? []).filter(({ capability, level }) => capability === column && level === 'native');
  const named = (isEngine: boolean): string =>
    native
      .filter(({ backend }) => backend.startsWith('engine:') === isEngine)
      .map(({ backend }) => backend.replace(/^\w+:/, ''))
      .join(', ');
  return (
    <div className="part">
      <h2>Who has it natively</h2>
      <dl className="kv">
        <dt>engines</dt>
        <dd>{named(true) || 'none'}</dd>
        <dt>others</dt>
        <dd>{named(false) || 'none'}</dd>
      </dl>
    </div>
  );
}
