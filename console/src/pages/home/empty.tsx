import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { enginesQuery } from '../../api/queries.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Snippet } from '../../components/snippet/snippet.tsx';
import { TryNext } from './panels.tsx';
import './empty.css';

/** Nothing has run yet: the snippet, large, and a button that sends it from here. */
export function EmptyHome(): JSX.Element {
  const engines = useQuery(enginesQuery);
  const [failure, setFailure] = useState<unknown>(null);
  const sendIt = (): void => {
    fetch('/e/sim/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'any-name', max_tokens: 200, messages: [{ role: 'user', content: 'say hello from the sim' }] }),
    }).then((answer) => answer.text(), setFailure);
  };
  const named = (auth: string): string =>
    (engines.data?.items ?? [])
      .filter((engine) => engine.auth === auth)
      .map(({ id }) => id)
      .join(', ');
  return (
    <div className="p-home-empty fill">
      <div className="wrap">
        <div className="l">
          <h1 className="big">Nothing has run here yet</h1>
          <p className="lead">
            This works without a key: <code>sim</code> is a model that is built in. Change the base URL of any vendor’s SDK, or send it from
            here.
          </p>
          <div className="flow">
            <div>
              <b>Your code</b>
              <div className="mute s">any of six dialects</div>
            </div>
            <span>
              <Icon name="pass" />
            </span>
            <div className="md">
              {location.host}
              <div className="mute s">checked, relayed, sealed</div>
            </div>
            <span>
              <Icon name="pass" />
            </span>
            <div>
              <b>sim</b>
              <div className="mute s">built in, no key</div>
            </div>
          </div>
          <Snippet engine="sim" />
          <div className="row">
            <Button acts look="primary" icon="send" onClick={sendIt}>
              Send it from here
            </Button>
            <a className="btn" href="/playground">
              Change it first
            </a>
            <span className="mute s">the run and its receipt appear within a second</span>
          </div>
          <ErrorBand error={failure} />
          <div className="listening">
            <i className="dot live" /> listening for the first run
          </div>
        </div>
        <aside className="r2">
          <TryNext rows={[]} />
          <section className="panel">
            <div className="ph">
              <h2>What is here</h2>
            </div>
            <dl className="kv pad">
              <dt>ready now</dt>
              <dd>sim, replay</dd>
              <dt>with a key</dt>
              <dd>{named('key') || 'none yet'}</dd>
              <dt>with your own key</dt>
              <dd className="wraps">{named('caller')}</dd>
              <dt>on this machine</dt>
              <dd className="wraps">{named('none')}</dd>
            </dl>
          </section>
        </aside>
      </div>
    </div>
  );
}
