import type { JSX } from 'react';
import { Icon } from '../../components/icon/icon.tsx';

export const LEVEL_WORDS: Readonly<Record<string, string>> = {
  native: 'native',
  emulated: 'emulated',
  restricted: 'restricted',
  unsupported: 'unsupported by itself',
  passthrough: 'passthrough',
  mapped: 'mapped',
};

/** The sign of a level: full, half, ringed, cross, dot; three lines and two arrows for modes. */
export function Cell({ level }: { readonly level: string | undefined }): JSX.Element {
  if (level === 'passthrough') return <Mode icon="pass" tone="ps" />;
  if (level === 'mapped') return <Mode icon="map" tone="mp" />;
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" className={`lev ${level ?? 'none'}`}>
      {level === 'native' ? <circle cx="7" cy="7" r="4.6" className="full" /> : null}
      {level === 'emulated' ? (
        <>
          <circle cx="7" cy="7" r="4.2" className="ring" />
          <path d="M7 2.8a4.2 4.2 0 0 1 0 8.4z" className="half" />
        </>
      ) : null}
      {level === 'restricted' ? (
        <>
          <circle cx="7" cy="7" r="4.4" className="ring" />
          <circle cx="7" cy="7" r="1.6" className="core" />
        </>
      ) : null}
      {level === 'unsupported' ? <path d="M4.5 4.5l5 5M9.5 4.5l-5 5" className="cross" /> : null}
      {level === undefined ? <circle cx="7" cy="7" r="1" className="core" /> : null}
    </svg>
  );
}

function Mode({ icon, tone }: { readonly icon: string; readonly tone: string }): JSX.Element {
  return (
    <span className={tone}>
      <Icon name={icon} />
    </span>
  );
}

export function Legend(): JSX.Element {
  return (
    <div className="lgd s">
      {['passthrough', 'mapped', 'native', 'emulated', 'restricted', 'unsupported'].map((level) => (
        <span key={level} className="row">
          <Cell level={level} /> {level}
        </span>
      ))}
      <span className="row">
        <Cell level={undefined} /> not stated
      </span>
    </div>
  );
}
