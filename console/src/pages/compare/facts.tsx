import type { ReactNode } from 'react';
import type { Receipt } from '../../api/types.ts';
import { bytes, cost, digest, duration, whole } from '../../base/format.ts';
import { countFates, FateCounts, FateStrip } from '../../components/fate/fate.tsx';

/** One row of what two runs are compared by. */
export interface Fact {
  readonly name: string;
  /** What decides whether both are equal; ids and times are of the moment. */
  same(receipt: Receipt): unknown;
  show(receipt: Receipt): ReactNode;
  /** What the right one has over the left one, in words. */
  beside?(a: Receipt, b: Receipt): string;
}

const sameBytes = (a: string | undefined, b: string | undefined): string => (a !== undefined && a === b ? 'equal bytes' : '');

/** `373 ms sooner`; empty where one of both is not known. */
function sooner(a: number | null, b: number | null): string {
  if (a === null || b === null || a === b) return '';
  return b < a ? `${duration(a - b)} sooner` : `${duration(b - a)} later`;
}

/** How long a run took; a run of a coding agent has no last byte of its own. */
function tookOf({ timing, started_at, completed_at }: Receipt): number | null {
  return timing.last_byte_ms ?? (completed_at === null ? null : Date.parse(completed_at) - Date.parse(started_at));
}

const PARTS = [
  '',
  'the same',
  'half',
  'a third',
  'a quarter',
  'one fifth',
  'one sixth',
  'one seventh',
  'one eighth',
  'one ninth',
  'a tenth',
];

/** How the second price stands to the first. */
function ratio(a: number, b: number): string {
  if (a === 0 || b === 0 || a === b) return '';
  const share = Math.round(Math.max(a, b) / Math.min(a, b));
  if (b < a) return share < 2 ? 'less' : (PARTS[share] ?? `1/${share}`);
  return share < 2 ? 'more' : `${share} times as much`;
}

/** What it cost; of a run under way that is not known yet. */
function costOf({ cost: came, reason, completed_at }: Receipt): string {
  if (came === null && completed_at === null) return '–';
  return came === null && reason === 'refused' ? 'nothing spent' : cost(came?.nano_usd ?? null);
}

export const FACTS: readonly Fact[] = [
  {
    name: 'Status',
    same: ({ status, reason }) => [status, reason],
    show: ({ status, error }) => (error === null ? status : `${status}: ${error.code}`),
  },
  {
    name: 'Caller sent',
    same: ({ request }) => request?.sha256,
    show: ({ request }) => (request === null ? '–' : `${bytes(request.bytes)} · ${digest(request.sha256)}`),
    beside: (a, b) => sameBytes(a.request?.sha256, b.request?.sha256),
  },
  { name: 'Engine', same: ({ engine }) => engine, show: ({ engine }) => engine },
  {
    name: 'Engine got',
    same: (receipt) => receipt.upstream_request?.sha256,
    show: ({ upstream_request: got }) => (got === null ? '–' : `${bytes(got.bytes)} · ${digest(got.sha256)}`),
    beside: (a, b) => sameBytes(a.upstream_request?.sha256, b.upstream_request?.sha256),
  },
  { name: 'Model', same: ({ model }) => model.upstream, show: ({ model }) => model.upstream },
  { name: 'Mode', same: ({ mode }) => mode, show: ({ mode }) => mode ?? '–' },
  {
    name: 'Fates',
    same: ({ fidelity }) => fidelity,
    show: ({ fidelity, mode }) =>
      mode === 'passthrough' ? (
        'bytes equal'
      ) : (
        <span className="row">
          <FateStrip fates={countFates(fidelity)} /> <FateCounts fates={countFates(fidelity)} all />
        </span>
      ),
  },
  {
    name: 'First byte',
    same: ({ timing }) => timing.first_byte_ms,
    show: ({ timing }) => (timing.first_byte_ms === null ? '–' : duration(timing.first_byte_ms)),
    beside: (a, b) => sooner(a.timing.first_byte_ms, b.timing.first_byte_ms),
  },
  {
    name: 'Total',
    same: tookOf,
    show: (receipt) => (tookOf(receipt) === null ? '–' : duration(tookOf(receipt) ?? 0)),
    beside: (a, b) => sooner(tookOf(a), tookOf(b)),
  },
  {
    name: 'Tokens in / out',
    same: ({ usage }) => [usage?.input_tokens, usage?.output_tokens],
    show: ({ usage }) => (usage === null ? '–' : `${whole(usage.input_tokens)} / ${whole(usage.output_tokens)}`),
  },
  {
    name: 'Cost',
    same: (receipt) => receipt.cost?.nano_usd,
    show: costOf,
    beside: (a, b) => ratio(a.cost?.nano_usd ?? 0, b.cost?.nano_usd ?? 0),
  },
  {
    name: 'Engine said',
    same: ({ response }) => response?.sha256,
    show: ({ response }) => (response === null ? '–' : `${bytes(response.bytes)} · ${digest(response.sha256)}`),
    beside: (a, b) => sameBytes(a.response?.sha256, b.response?.sha256),
  },
  {
    name: 'Tool calls',
    same: ({ tool_calls }) => tool_calls.map(({ name, arguments_sha256 }) => [name, arguments_sha256]),
    show: ({ tool_calls }) => tool_calls.map(({ name }) => name).join(', ') || 'none',
  },
  {
    name: 'Content hash',
    same: (receipt) => receipt.receipt_sha256,
    show: (receipt) => (receipt.receipt_sha256 === null ? '–' : digest(receipt.receipt_sha256)),
  },
];

/** What neither of the two has is no fact about them. */
export const isKnown = (fact: Fact, a: Receipt, b: Receipt): boolean => fact.show(a) !== '–' || fact.show(b) !== '–';

export const differs = (fact: Fact, a: Receipt, b: Receipt): boolean => JSON.stringify(fact.same(a)) !== JSON.stringify(fact.same(b));
