import type { JSX } from 'react';
import type { Limits } from './data.ts';

/** Limits as they are typed; an empty field limits nothing. */
export interface LimitTexts {
  readonly requests: string;
  readonly tokens: string;
  readonly concurrency: string;
}

export const NO_LIMITS: LimitTexts = { requests: '', tokens: '', concurrency: '' };

export function limitTexts({ requests_per_minute: requests, tokens_per_minute: tokens, concurrency }: Limits): LimitTexts {
  return { requests: String(requests ?? ''), tokens: String(tokens ?? ''), concurrency: String(concurrency ?? '') };
}

export function limitsOf({ requests, tokens, concurrency }: LimitTexts): Limits {
  return {
    ...(requests === '' ? {} : { requests_per_minute: Number(requests) }),
    ...(tokens === '' ? {} : { tokens_per_minute: Number(tokens) }),
    ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
  };
}

const FIELDS = [
  ['requests', 'calls a minute'],
  ['tokens', 'tokens a minute'],
  ['concurrency', 'calls at a time'],
] as const;

/** Three numbers that hold a caller; each may stay empty. */
export function LimitFields({ value, change }: { readonly value: LimitTexts; change(value: LimitTexts): void }): JSX.Element {
  return (
    <>
      {FIELDS.map(([name, words]) => (
        <label key={name} className="field">
          {words}
          <input
            className="m"
            inputMode="numeric"
            placeholder="no limit"
            value={value[name]}
            onChange={(event) => change({ ...value, [name]: event.target.value.replaceAll(/\D/g, '') })}
          />
        </label>
      ))}
    </>
  );
}
