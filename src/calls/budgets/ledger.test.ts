import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AbpError } from '../../contract/errors.ts';
import { newRunId } from '../../contract/run-id.ts';
import type { Settlement } from '../admission.ts';
import type { Call, CallEnding } from '../call.ts';
import { Account, Page } from './account.ts';
import type { Amounts, Budget } from './budget.ts';
import { Ledger } from './ledger.ts';
import { windowAt } from './period.ts';

const told: [string, number][] = [];

function ledgerOf(...budgets: Budget[]): { ledger: Ledger; accounts: Account[] } {
  told.length = 0;
  const accounts = budgets.map((budget) => new Account(budget, new Page(windowAt(budget.period, Date.now()))));
  const ledger = new Ledger({
    holderOf: (key) => (key === 'key_ann' ? { user: 'ann', teams: ['blue'] } : undefined),
    onThreshold: ({ budget }, percent) => void told.push([budget.id, percent]),
    onShort: () => undefined,
    nextPage: (_account, window) => new Page(window),
  });
  ledger.hold(accounts, undefined);
  return { ledger, accounts };
}

const budget = (limits: Partial<Amounts>, more: Partial<Budget> = {}): Budget => ({
  id: 'b',
  on: { kind: 'key', id: 'key_ann' },
  period: 'month',
  action: 'refuse',
  limits,
  ...more,
});

const callOf = (input: number, output: number | undefined, more: Partial<Call> = {}): Call => ({
  runId: newRunId(),
  way: 'relay',
  owner: { keyId: 'key_ann', parent: null, tags: ['red', 'agent:agent_1'] },
  engine: 'claude',
  model: 'm',
  dialect: 'claude',
  mode: 'passthrough',
  bound: { input, output },
  ...more,
});

const ended = (input: number, output: number, status: CallEnding['status'] = 'completed'): CallEnding => ({
  status,
  usage: {
    ...{ input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ thinking_tokens: 0, web_search_requests: 0, estimated: false },
  },
  upstreamModel: null,
  nanoUsd: null,
});

const admitted = (ledger: Ledger, call: Call): Settlement | undefined => {
  const verdict = ledger.check.check(call);
  return typeof verdict === 'function' ? verdict : undefined;
};

describe('a budget', () => {
  it('never lets more be spent than its limit and one call’s worst case, whatever comes and in whatever order it ends', () => {
    const step = fc.record({ input: fc.nat(200), most: fc.integer({ min: 1, max: 300 }), used: fc.nat(100), ends: fc.nat(5) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.array(step, { maxLength: 150 }), (limit, steps) => {
        const { ledger, accounts } = ledgerOf(budget({ tokens: limit }));
        const open: (() => void)[] = [];
        for (const { input, most, used, ends } of steps) {
          const settle = admitted(ledger, callOf(input, most));
          if (settle !== undefined) open.push(() => settle(ended(input, Math.round((most * used) / 100))));
          for (let at = 0; at < ends && open.length > 0; at += 1) open.splice(at % open.length, 1)[0]?.();
        }
        for (const end of open) end();
        const page = accounts[0]?.page;
        expect(page?.settled.tokens).toBeLessThanOrEqual(limit - 1 + 500);
        expect(page?.reserved).toEqual({ nanoUsd: 0, tokens: 0, requests: 0 });
      }),
    );
  });

  it('of 50 calls lets 50 of 200 in that come at once', () => {
    const { ledger } = ledgerOf(budget({ requests: 50 }));
    expect(Array.from({ length: 200 }, () => admitted(ledger, callOf(1, 1))).filter((one) => one !== undefined)).toHaveLength(50);
  });

  it('of dollars lets no more in at once than it has room for, though a price is known of the model that answered alone', () => {
    const { ledger, accounts } = ledgerOf(budget({ nanoUsd: 5000 }));
    const costing = { ...ended(10, 10), upstreamModel: 'priced', nanoUsd: 100 };
    admitted(ledger, callOf(10, 10))?.(costing);
    const open = Array.from({ length: 200 }, () => admitted(ledger, callOf(10, 10))).filter((one) => one !== undefined);
    expect(open).toHaveLength(49);
    for (const settle of open) settle(costing);
    expect(accounts[0]?.page.settled.nanoUsd).toBe(5000);
  });

  it('says when to come back: in a moment while calls are under way, at the reset once it is spent', () => {
    const { ledger } = ledgerOf(budget({ requests: 1 }));
    const settle = admitted(ledger, callOf(1, 1));
    const passing = ledger.check.check(callOf(1, 1)) as AbpError;
    expect([passing.code, passing.retryable, passing.details.retry_after_s]).toEqual(['budget_exceeded', true, 1]);
    settle?.(ended(1, 1));
    const spent = ledger.check.check(callOf(1, 1)) as AbpError;
    const { end } = windowAt('month', Date.now());
    expect(spent.details).toMatchObject({ spent: 1, reserved: 0, resets_at: new Date(end).toISOString(), limit: 'limit_requests' });
    expect(Number(spent.details.retry_after_s)).toBeGreaterThan(0);
  });

  it('in all does not begin anew: it asks for an hour, and no SDK is told to try again', () => {
    const { ledger } = ledgerOf(budget({ requests: 1 }, { period: 'total' }));
    admitted(ledger, callOf(1, 1))?.(ended(1, 1));
    const spent = ledger.check.check(callOf(1, 1)) as AbpError;
    expect([spent.details.retry_after_s, spent.details.resets_at, spent.retryable]).toEqual([3600, null, false]);
  });

  it('counts neither what another check refused nor a try that another one replaced', () => {
    const { ledger, accounts } = ledgerOf(budget({ requests: 5 }));
    admitted(ledger, callOf(1, 1))?.({ ...ended(1, 1), status: 'refused', usage: null });
    admitted(ledger, callOf(1, 1))?.({ ...ended(1, 1), status: 'dropped', usage: null });
    admitted(ledger, callOf(1, 1))?.({ ...ended(1, 1), status: 'failed', usage: null });
    expect(accounts[0]?.page.settled).toEqual({ nanoUsd: 0, tokens: 0, requests: 1 });
  });

  it('that warns refuses nothing, and tells each threshold once', () => {
    const { ledger } = ledgerOf(budget({ requests: 10 }, { action: 'warn' }));
    for (let at = 0; at < 15; at += 1) admitted(ledger, callOf(1, 1))?.(ended(1, 1));
    expect(told).toEqual([
      ['b', 50],
      ['b', 80],
      ['b', 100],
    ]);
  });

  it('begins anew with the next period, and a call of the last one does not count in it', () => {
    const { ledger, accounts } = ledgerOf(budget({ requests: 1 }, { period: 'hour' }));
    const account = accounts[0] as Account;
    const late = admitted(ledger, callOf(1, 1));
    account.turn(account.page.window.end);
    late?.(ended(1, 1));
    expect([account.page.settled.requests, account.page.reserved.requests]).toEqual([0, 0]);
  });

  it('goes back with a clock that is set back, and lets nothing be spent twice', () => {
    const { ledger, accounts } = ledgerOf(budget({ requests: 10 }, { period: 'hour' }));
    const account = accounts[0] as Account;
    const { start, end } = account.page.window;
    for (let at = 0; at < 10; at += 1) admitted(ledger, callOf(1, 1))?.(ended(1, 1));
    expect(told.map(([, percent]) => percent)).toEqual([50, 80, 100]);
    const nextDay = end + 24 * 3_600_000;
    for (const now of [end - 1, end, end - 1, end, nextDay, end + 1]) {
      account.turn(now);
      expect(account.page.window).toEqual(windowAt('hour', now));
      expect(account.page.settled.requests).toBe(now < end ? 10 : 0);
    }
    account.turn(start);
    expect(account.page.window.start).toBe(start);
    expect(told).toHaveLength(3);
  });

  it.each([
    [{ kind: 'key', id: 'key_ann' }],
    [{ kind: 'user', id: 'ann' }],
    [{ kind: 'team', id: 'blue' }],
    [{ kind: 'tag', id: 'red' }],
    [{ kind: 'agent', id: 'agent_1' }],
    [{ kind: 'engine', id: 'claude' }],
  ] as const)('on %j holds the call', (on) => {
    const { ledger } = ledgerOf(budget({ requests: 1 }, { on }));
    expect(admitted(ledger, callOf(1, 1))).toBeDefined();
    expect(admitted(ledger, callOf(1, 1))).toBeUndefined();
  });

  it('of nobody in this call is not asked', () => {
    const { ledger } = ledgerOf(budget({ requests: 1 }, { on: { kind: 'key', id: 'another' } }));
    expect(ledger.check.check(callOf(1, 1))).toBeUndefined();
  });

  it('lets a run start while some is left, and counts its calls alone', () => {
    const { ledger, accounts } = ledgerOf(budget({ requests: 1 }));
    const run = callOf(0, undefined, { way: 'run', mode: null, agent: 'claude' });
    expect(ledger.check.check(run)).toBeUndefined();
    admitted(ledger, callOf(1, 1))?.(ended(1, 1));
    expect((ledger.check.check(run) as AbpError).code).toBe('budget_exceeded');
    expect(accounts[0]?.page.settled.requests).toBe(1);
  });
});
