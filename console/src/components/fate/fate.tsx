import type { JSX } from 'react';
import type { RunRow } from '../../api/types.ts';
import { FATES, type FateName } from '../../base/fates.ts';
import { Icon } from '../icon/icon.tsx';

/** The sign of a fate, with its word for people who cannot see it. */
export function FateGlyph({ fate, word = false }: { readonly fate: FateName; readonly word?: boolean }): JSX.Element {
  return (
    <span className={`fate f-${fate}`} title={fate}>
      <Icon name={fate} />
      {word ? fate : <span className="sr">{fate}</span>}
    </span>
  );
}

/** The shares of the fates as a strip: coloured, textured and in one order. */
export function FateStrip({ fates }: { readonly fates: RunRow['fates'] }): JSX.Element | null {
  const total = fates.reduce((sum, many) => sum + many, 0);
  if (total === 0) return null;
  const words = FATES.map((fate, index) => [fate, fates[index] ?? 0] as const).filter(([, many]) => many > 0);
  return (
    <span className="strip" role="img" aria-label={words.map(([fate, many]) => `${many} ${fate}`).join(', ')}>
      {words.map(([fate, many]) => (
        <i key={fate} className={`b-${fate}`} style={{ flexGrow: many }} />
      ))}
    </span>
  );
}

/** Counts with their signs; by default only those that are news. */
export function FateCounts({ fates, all = false }: { readonly fates: RunRow['fates']; readonly all?: boolean }): JSX.Element {
  return (
    <>
      {FATES.map((fate, index) => ({ fate, many: fates[index] ?? 0, index }))
        .filter(({ many, index }) => (all || index >= 2) && many > 0)
        .map(({ fate, many }) => (
          <span key={fate} className={`fc f-${fate}`} title={`${many} ${fate}`}>
            <Icon name={fate} size={12} label={fate} /> {many}
          </span>
        ))}
    </>
  );
}

/** The fates of a fidelity record. */
export function countFates(entries: readonly { readonly fate: FateName; readonly count?: number | undefined }[]): RunRow['fates'] {
  const fates: RunRow['fates'] = [0, 0, 0, 0, 0];
  for (const { fate, count = 1 } of entries) fates[FATES.indexOf(fate)] = (fates[FATES.indexOf(fate)] ?? 0) + count;
  return fates;
}
