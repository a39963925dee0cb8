import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { send } from '../../api/client.ts';
import { adapterQuery } from '../../api/queries.ts';
import type { Receipt, RunDetail } from '../../api/types.ts';
import { Button, ErrorBand, Select } from '../../components/bits/bits.tsx';

const SIGN_IN = 'this needs a signed-in browser: abp console prints a link';

/** Pause, interrupt and end a run that goes on. What the agent cannot do is disabled with the reason. */
export function Controls({
  run,
  detail,
  may,
}: {
  readonly run: string;
  readonly detail: RunDetail | undefined;
  readonly may: boolean;
}): JSX.Element {
  const [failure, setFailure] = useState<unknown>(null);
  const act = (what: string) => () => {
    setFailure(null);
    send('POST', `/v1/runs/${run}/${what}`, what === 'interrupt' ? {} : undefined).catch(setFailure);
  };
  const locked = may ? undefined : SIGN_IN;
  const paused = detail?.state === 'paused';
  return (
    <>
      {failure === null ? null : <ErrorBand error={failure} />}
      <Button icon={paused ? 'play' : 'pause'} acts locked={locked} onClick={act(paused ? 'resume' : 'pause')}>
        {paused ? 'Go on' : 'Pause'}
      </Button>
      <Button acts locked={locked} onClick={act('interrupt')}>
        Interrupt
      </Button>
      <Button acts locked={locked} onClick={act('cancel')}>
        End run
      </Button>
    </>
  );
}

/** What can be done with a run that has ended. */
export function AfterEnd({
  receipt,
  detail,
  session,
}: {
  readonly receipt: Receipt;
  readonly detail: RunDetail | undefined;
  readonly session: string | null;
}): JSX.Element {
  const navigate = useNavigate();
  const options = detail?.options ?? {};
  const text = (name: string): string | undefined => (options[name] === undefined ? undefined : String(options[name]));
  const wanted = {
    ...{ agent: detail?.agent ?? undefined, engine: text('engine'), model: text('model'), thinking: text('thinkingEffort') },
    ...{ approval: text('approvalMode'), cwd: text('cwd') },
  };
  return (
    <>
      {detail === undefined ? null : (
        <Link className="btn" to="/coding" search={{ ...wanted, prompt: text('prompt') }}>
          Run again with…
        </Link>
      )}
      {detail === undefined || session === null ? null : (
        <Link className="btn" to="/coding" search={{ ...wanted, session }}>
          Resume session
        </Link>
      )}
      <Button icon="cmp" keys="C" onClick={() => void navigate({ to: '/runs', search: { compare: receipt.run_id } })}>
        Compare
      </Button>
    </>
  );
}

/** When a message reaches the agent, in the words of the API and of people. */
const TIMES = [
  ['next-turn', 'queue for next turn'],
  ['now', 'now'],
  ['steer', 'steer the work under way'],
] as const;

/** Tells a running agent something. */
export function Tell({ run, agent, may }: { readonly run: string; readonly agent: string; readonly may: boolean }): JSX.Element {
  const adapter = useQuery(adapterQuery(agent));
  const [text, setText] = useState('');
  const [when, setWhen] = useState<string>('next-turn');
  const [failure, setFailure] = useState<unknown>(null);
  const deaf = adapter.data !== undefined && adapter.data.messages === null;
  const locked = may ? (deaf ? `${agent} takes no messages while it works` : undefined) : SIGN_IN;
  const tell = (): void => {
    setFailure(null);
    send('POST', `/v1/runs/${run}/input`, { text, when }).then(() => setText(''), setFailure);
  };
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '' && locked === undefined) tell();
      }}
    >
      <Select label="When" value={when} options={TIMES} onChange={setWhen} />
      <input
        className="grow"
        aria-label="Tell it something"
        placeholder={locked ?? 'Tell it something'}
        disabled={locked !== undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && text !== '') tell();
        }}
      />
      <Button type="submit" keys="⌘↵" acts locked={locked}>
        Send
      </Button>
      {failure === null ? null : <ErrorBand error={failure} />}
    </form>
  );
}
