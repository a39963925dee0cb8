import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { enginesQuery, sealKeysQuery } from '../../api/queries.ts';
import { useUrlChoice } from '../../base/url-state.ts';
import { Button, CopyId, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { SDKS, SdkChoice, Snippet } from '../../components/snippet/snippet.tsx';
import { TryNext } from './panels.tsx';
import './empty.css';

/** Engines inside this process: they answer at once. */
const BUILT_IN = new Set(['sim', 'replay']);

/** Nothing has run yet: the snippet, large, and a button that sends it from here. */
export function EmptyHome(): JSX.Element {
  const engines = useQuery(enginesQuery);
  const [sdk, setSdk] = useUrlChoice('sdk', SDKS);
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
      .filter((engine) => engine.auth === auth && !BUILT_IN.has(engine.id))
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
            <div className="here">
              <b>{location.host}</b>
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
          <SdkChoice value={sdk} onChange={setSdk} />
          <Snippet engine="sim" sdk={sdk} />
          <div className="row">
            <Button acts autoFocus look="primary" icon="send" keys="↵" onClick={sendIt}>
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
              <dt>servers without a key</dt>
              <dd className="wraps">{named('none')}</dd>
            </dl>
          </section>
          <FirstKey />
        </aside>
      </div>
    </div>
  );
}

/** Who signs what is sealed here: a key that was made at the first start, and is worth noting somewhere else. */
function FirstKey(): JSX.Element | null {
  const [key] = useQuery(sealKeysQuery).data?.items ?? [];
  if (key === undefined) return null;
  return (
    <section className="panel" aria-label="The chain">
      <div className="ph">
        <Icon name="seal" size={18} />
        <h2 className="grow">The chain begins with the first run</h2>
        <CopyId text={key.public_key} />
      </div>
      <p className="note pad">
        The key that signs it was made at the first start: <code>{key.id}</code>. Note it somewhere else, so that you can tell later that it
        is still yours.
      </p>
    </section>
  );
}
