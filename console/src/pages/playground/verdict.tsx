import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { fieldsQuery } from '../../api/queries.ts';
import type { Explained } from '../../api/types.ts';
import { capabilityOf } from '../../base/fates.ts';
import { cost, whole } from '../../base/format.ts';
import { Button } from '../../components/bits/bits.tsx';
import { countFates, FateCounts, FateGlyph, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { type Asked, explainQuery } from './data.ts';

export type Parsed = { readonly request: unknown } | { readonly message: string };

interface VerdictProps {
  readonly explained: Explained | undefined;
  /** Why the server could not say. */
  readonly failure: unknown;
  readonly parsed: Parsed;
  readonly stale: boolean;
  go(): void;
}

/** Would it be sent or refused, what would become of its fields, and what could it cost? */
export function Verdict({ explained, failure, parsed, stale, go }: VerdictProps): JSX.Element {
  const refused = explained?.error !== undefined;
  return (
    <output className={stale ? 'verd stale' : 'verd'}>
      <Said explained={explained} failure={failure} parsed={parsed} />
      <span className="grow" />
      <Estimate estimate={explained?.estimate ?? null} />
      <Button look="primary" icon="send" keys="⌘↵" onClick={go} disabled={'message' in parsed} acts>
        {refused ? 'Send anyway, to see the error' : 'Send'}
      </Button>
    </output>
  );
}

function Said({ explained, failure, parsed }: Pick<VerdictProps, 'explained' | 'failure' | 'parsed'>): JSX.Element {
  if ('message' in parsed) return <b className="warn">Not JSON yet: {parsed.message}</b>;
  if (failure !== null) return <b className="bad">{failure instanceof Error ? failure.message : String(failure)}</b>;
  if (explained === undefined) return <span className="mute">asking</span>;
  const { error } = explained;
  return (
    <>
      <b className={error === undefined ? 'ok' : 'bad'}>
        <Icon name={error === undefined ? 'check' : 'refused'} /> {error === undefined ? 'Would be sent' : 'Would be refused'}
      </b>
      <Fates explained={explained} />
      {error === undefined ? (
        <span className="mute s hide-s">checked as you type, nobody was called</span>
      ) : (
        <span className="bad s el">
          <a className="u b m" href={`/docs/errors/${error.code}`} target="_blank" rel="noreferrer">
            {error.code}
          </a>{' '}
          {error.message}
        </span>
      )}
    </>
  );
}

export function Fates({ explained }: { readonly explained: Explained }): JSX.Element {
  if (explained.mode === 'passthrough' && explained.error === undefined) return <span className="ok s nw">bytes equal</span>;
  const fates = countFates(explained.fidelity);
  return (
    <span className="row nw">
      <FateStrip fates={fates} />
      <span>
        <FateCounts fates={fates} all />
      </span>
    </span>
  );
}

function Estimate({ estimate }: { readonly estimate: Explained['estimate'] }): JSX.Element | null {
  if (estimate === null) return null;
  const { input_tokens: tokens, max_cost_nano_usd: most } = estimate;
  return (
    <span className="s nw">
      about {whole(tokens)} tokens in, {most === null ? 'no price' : <>at most {<b>{cost(most)}</b>}</>}
    </span>
  );
}

interface RefusedProps {
  readonly explained: Explained;
  readonly asked: Asked;
  emulate(capability: string): void;
  remove(path: string): void;
}

/** Each field that stops the request, with what helps: to approximate it, where that is possible, or to leave it out. */
export function RefusedFields({ explained, asked, emulate, remove }: RefusedProps): JSX.Element | null {
  const fields = useQuery(fieldsQuery);
  const refused = explained.fidelity.filter(({ fate }) => fate === 'refused');
  const neededBy = (path: string): string | undefined => capabilityOf(fields.data?.fields ?? [], asked.from, path);
  const wanted = [...new Set(refused.flatMap(({ path }) => neededBy(path) ?? []))].filter((name) => !asked.emulate.includes(name));
  // Whether an emulation exists is the server's to say: the same request is explained with leave for it.
  const trial = useQuery(explainQuery(wanted.length === 0 ? null : { ...asked, emulate: [...asked.emulate, ...wanted] }));
  const stillRefused = new Set(trial.data?.fidelity.filter(({ fate }) => fate === 'refused').map(({ path }) => path));
  if (refused.length === 0) return null;
  return (
    <ul className="refusals" aria-label="Fields that stop it">
      {refused.map(({ path, note }) => {
        const capability = neededBy(path);
        const helps = capability !== undefined && trial.data !== undefined && !trial.isPlaceholderData && !stillRefused.has(path);
        return (
          <li key={path}>
            <FateGlyph fate="refused" /> <code className="b">{path}</code> <span className="mute el grow">{note}</span>
            {helps ? (
              <Button small icon="emulated" onClick={() => emulate(capability)}>
                emulate
              </Button>
            ) : null}
            <Button small icon="x" onClick={() => remove(path)}>
              remove
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
