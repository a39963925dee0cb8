import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { useBudgets } from '../../api/budgets.ts';
import { send } from '../../api/client.ts';
import { budgetsQuery, keysQuery, usersQuery } from '../../api/queries.ts';
import type { Budgets as BudgetTable } from '../../api/types.ts';
import { time } from '../../base/format.ts';
import { Button, ErrorBand, Select } from '../../components/bits/bits.tsx';
import { BudgetBar } from '../../components/budget-bar/budget-bar.tsx';
import { teamsQuery } from './data.ts';
import { Sure } from './people.tsx';

const SUBJECTS = ['key', 'user', 'team', 'tag', 'agent', 'engine'] as const;
const PERIODS = ['hour', 'day', 'week', 'month', 'total'].map((period) => [period, period === 'total' ? 'in all' : `a ${period}`] as const);
const NANO = 1_000_000_000;

type Budget = BudgetTable['items'][number];

/** The most that may be spent on somebody's behalf. What is spent is counted from receipts. */
export function Budgets(): JSX.Element {
  const client = useQueryClient();
  const budgets = useQuery(budgetsQuery);
  const { budgets: named } = useBudgets();
  const [failure, setFailure] = useState<unknown>(null);
  const act = (work: Promise<unknown>): void => {
    work.then(() => {
      setFailure(null);
      void client.invalidateQueries({ queryKey: ['budgets'] });
    }, setFailure);
  };
  const items = named ?? [];
  return (
    <>
      <p className="note">
        A call reserves the most it may use before it is sent; one that does not fit is answered with 429 and the time of the reset. Periods
        are by UTC.
      </p>
      <ErrorBand error={failure ?? budgets.error} />
      <NewBudget make={(body) => act(send('POST', '/v1/budgets', body))} />
      {items.length === 0 ? (
        <p className="note">{budgets.data === undefined ? 'reading the budgets' : 'No budgets: nobody is held to an amount.'}</p>
      ) : (
        <table aria-label="Budgets" className="stacks">
          <thead>
            <tr>
              <th>For, and what is spent</th>
              <th>Period</th>
              <th>Beyond it</th>
              <th>Begins anew</th>
              <th>
                <span className="sr">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ budget, name }) => (
              <tr key={budget.id}>
                <td className="bar-cell">
                  <BudgetBar budget={budget} name={name} />
                  {budget.limit_nano_usd !== undefined && budget.unpriced_requests > 0 ? (
                    <span className="warn xs">{budget.unpriced_requests} calls without a price are not in it</span>
                  ) : null}
                </td>
                <td>{budget.period === 'total' ? 'in all' : `a ${budget.period}`}</td>
                <td>
                  <Action budget={budget} act={act} />
                </td>
                <td className="m mute nw" data-head="begins anew">
                  {budget.resets_at === null ? 'never' : time(budget.resets_at)}
                </td>
                <td className="r">
                  {budget.source === 'api' ? (
                    <Sure
                      what="Delete the budget"
                      note="Nobody is held to it any more."
                      act={() => act(send('DELETE', `/v1/budgets/${budget.id}`))}
                    />
                  ) : (
                    <span className="mute">abp.toml</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** Refuse or warn; changed in place where the budget was made here. */
function Action({ budget, act }: { readonly budget: Budget; act(work: Promise<unknown>): void }): JSX.Element {
  if (budget.source !== 'api') return <span>{budget.action === 'refuse' ? 'calls are refused' : 'it is only told'}</span>;
  return (
    <Select
      label={`Beyond the budget ${budget.id}`}
      value={budget.action}
      options={[
        ['refuse', 'calls are refused'],
        ['warn', 'it is only told'],
      ]}
      onChange={(action) => act(send('PATCH', `/v1/budgets/${budget.id}`, { action }))}
    />
  );
}

/** Names that a budget may be for, where they are known here. */
function useNamesOf(kind: string): readonly (readonly [string, string])[] | undefined {
  const keys = useQuery(keysQuery);
  const users = useQuery(usersQuery);
  const teams = useQuery(teamsQuery);
  if (kind === 'key') {
    const user = (keys.data?.items ?? []).filter((key) => key.kind === 'user' && key.revoked_at === null);
    return [['local', 'callers without a key'], ...user.map(({ id, name }) => [id, name] as const)];
  }
  if (kind === 'user') return (users.data?.items ?? []).map(({ id, name }) => [id, name] as const);
  if (kind === 'team') return (teams.data?.items ?? []).map(({ id, name }) => [id, name] as const);
  return undefined;
}

const EMPTY = { kind: 'key', id: '', period: 'month', dollars: '', tokens: '', calls: '', action: 'refuse' };

function NewBudget({ make }: { make(body: object): void }): JSX.Element {
  const [form, setForm] = useState(EMPTY);
  const names = useNamesOf(form.kind);
  const id = form.id === '' ? (names?.[0]?.[0] ?? '') : form.id;
  const set = (next: Partial<typeof EMPTY>): void => setForm({ ...form, ...next });
  const whole = (text: string): number | undefined => (text === '' ? undefined : Number(text));
  const limits = {
    limit_nano_usd: form.dollars === '' ? undefined : Math.round(Number(form.dollars) * NANO),
    limit_tokens: whole(form.tokens),
    limit_requests: whole(form.calls),
  };
  const ready = id !== '' && Object.values(limits).some((limit) => limit !== undefined && limit > 0);
  const amount = (name: 'dollars' | 'tokens' | 'calls', label: string): JSX.Element => (
    <label className="field">
      {label}
      <input
        className="m"
        inputMode="decimal"
        placeholder="not held"
        value={form[name]}
        onChange={(event) => set({ [name]: event.target.value.replaceAll(name === 'dollars' ? /[^\d.]/g : /\D/g, '') })}
      />
    </label>
  );
  return (
    <form
      className="row fields new"
      aria-label="A new budget"
      onSubmit={(event) => {
        event.preventDefault();
        if (!ready) return;
        make({ on: { [form.kind]: id }, period: form.period, action: form.action, ...limits });
        setForm(EMPTY);
      }}
    >
      <Select
        label="For a"
        value={form.kind}
        options={SUBJECTS.map((kind) => [kind, kind] as const)}
        onChange={(kind) => set({ kind, id: '' })}
      />
      {names === undefined ? (
        <input
          aria-label={`Name of the ${form.kind}`}
          placeholder={`name of the ${form.kind}`}
          value={form.id}
          onChange={(event) => set({ id: event.target.value.trim() })}
        />
      ) : (
        <Select
          label={`Which ${form.kind}`}
          value={id}
          options={names.length === 0 ? [['', `no ${form.kind} yet`]] : names}
          onChange={(next) => set({ id: next })}
        />
      )}
      <Select label="Period" value={form.period} options={PERIODS} onChange={(period) => set({ period })} />
      {amount('dollars', 'US dollars')}
      {amount('tokens', 'tokens')}
      {amount('calls', 'calls')}
      <Button type="submit" acts icon="plus" disabled={!ready}>
        New budget
      </Button>
    </form>
  );
}
