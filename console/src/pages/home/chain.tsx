import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import type { z } from 'zod';
import type { ChainVerification } from '../../../../src/contract/receipts/chain-verification.ts';
import { useBudgets } from '../../api/budgets.ts';
import { get } from '../../api/client.ts';
import { headQuery, sessionQuery, settingsQuery } from '../../api/queries.ts';
import { digest, duration, many, time, waiting, whole } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, useNow } from '../../components/bits/bits.tsx';
import { BudgetBar } from '../../components/budget-bar/budget-bar.tsx';
import { Icon } from '../../components/icon/icon.tsx';

interface Checked {
  readonly found: z.infer<typeof ChainVerification>;
  readonly at: number;
  readonly took: number;
}

/** The whole chain where the caller may check it, else the newest receipt up to its head. */
async function verify(all: boolean): Promise<Checked> {
  const began = performance.now();
  const newest = all ? undefined : (await get<{ items: readonly { run_id: string }[] }>('/v1/receipts?limit=1')).items[0]?.run_id;
  const found = await get<Checked['found']>(newest === undefined ? '/v1/receipts/verify' : `/v1/receipts/${newest}/verify`);
  return { found, at: Date.now(), took: performance.now() - began };
}

/** What is sealed, whether it holds, and whether somebody could cut it unnoticed. */
export function Chain(): JSX.Element {
  const head = useQuery(headQuery);
  const session = useQuery(sessionQuery);
  const now = useNow(head.data !== undefined);
  const may = session.data?.scopes.includes('settings') === true;
  const [checked, setChecked] = useState<Checked | 'checking' | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const check = (): void => {
    setChecked('checking');
    setFailure(null);
    verify(may).then(setChecked, (error: unknown) => {
      setChecked(null);
      setFailure(error);
    });
  };
  return (
    <section className="panel o3" aria-label="The chain">
      <div className="ph">
        <Icon name="seal" size={18} />
        <h2 className="grow">
          {head.data === undefined ? 'The chain begins with the first run' : `${many(head.data.sequence, 'receipt')}, one chain`}
        </h2>
        <Button small acts onClick={check} disabled={checked === 'checking' || head.data === undefined}>
          {checked === 'checking' ? 'Checking' : may ? 'Verify all' : 'Verify the newest'}
        </Button>
      </div>
      <ErrorBand error={failure} />
      {checked === null || checked === 'checking' ? null : <Found checked={checked} />}
      {head.data === undefined ? null : (
        <div className="st">
          <span className="ok">
            <Icon name="check" label="holds" />
          </span>
          <div>
            Head signed {head.data.at === undefined ? '' : `${waiting(now - Date.parse(head.data.at))} ago`}
            <div className="mute s m">{digest(head.data.hash)}</div>
          </div>
          <CopyId text={JSON.stringify(head.data)} />
        </div>
      )}
      <Elsewhere may={may} />
    </section>
  );
}

function Found({ checked: { found, at, took } }: { readonly checked: Checked }): JSX.Element {
  const [problem] = found.problems;
  return (
    <output className="st">
      <span className={found.ok ? 'ok' : 'bad'}>
        <Icon name={found.ok ? 'check' : 'refused'} label={found.ok ? 'holds' : 'does not hold'} />
      </span>
      <div>
        {found.ok ? `Complete from ${whole(found.first ?? 0)} to ${whole(found.last ?? 0)}` : `${problem?.code}: ${problem?.message}`}
        <div className="mute s">
          verified {time(at)}, took {duration(took)}
        </div>
      </div>
    </output>
  );
}

/** Only a head that is kept elsewhere shows that the end of a chain was cut off. */
function Elsewhere({ may }: { readonly may: boolean }): JSX.Element {
  const settings = useQuery({ ...settingsQuery, enabled: may });
  const webhook = settings.data?.values.find(({ path }) => path === 'receipts.head_webhook')?.value;
  const kept = typeof webhook === 'string';
  return (
    <div className="st">
      <span className={kept ? 'ok' : 'warn'}>
        <Icon name={kept ? 'check' : 'clock'} label={kept ? 'holds' : 'not known'} />
      </span>
      <div>
        {kept ? 'Heads go to a webhook' : settings.data === undefined ? 'Keep a head elsewhere' : 'No head is kept elsewhere'}
        <div className="mute s">{kept ? webhook : 'a cut tail could not be noticed'}</div>
      </div>
      {kept || !may ? null : (
        <Link className="btn sm" to="/settings/$section" params={{ section: 'trust' }}>
          How
        </Link>
      )}
    </div>
  );
}

export function BudgetPanel(): JSX.Element | null {
  const { budgets } = useBudgets();
  if (budgets === undefined || budgets.length === 0) return null;
  return (
    <section className="panel o3b" aria-label="Budgets">
      <div className="ph">
        <h2 className="grow">Budgets</h2>
        <Link to="/usage" className="s ink2">
          Usage
        </Link>
      </div>
      <div className="pad">
        {budgets.slice(0, 6).map(({ budget, name }) => (
          <BudgetBar key={budget.id} budget={budget} name={name} short />
        ))}
      </div>
    </section>
  );
}
