import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useMemo } from 'react';
import type { Usage } from '../../api/types.ts';
import { cost, count, day, duration, hourMinute, percent, sumCost, whole } from '../../base/format.ts';
import { useUrlState } from '../../base/url-state.ts';
import { BarChart, COLORS } from '../../components/bar-chart/bar-chart.tsx';
import { Button, Empty, ErrorBand, Figure, Segmented, Select } from '../../components/bits/bits.tsx';
import { Budgets, LeftOut, Refused } from './beside.tsx';
import { BUCKETS, GROUPS, type GroupName, MEASURES, type Measure, SPANS, seriesOf, sinceOf, sum, usageQuery } from './data.ts';
import { Forecast } from './forecast.tsx';
import { GroupsTable } from './groups-table.tsx';
import './page.css';
import './usage.css';

const FORMATS: Readonly<Record<Measure, (value: number) => string>> = {
  cost,
  tokens: count,
  runs: whole,
  errors: whole,
  first_byte: duration,
};

const month = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' });
const TIMES: Readonly<Record<string, (time: string) => string>> = { '1d': day, month: (time) => month.format(new Date(time)) };
const BEFORE: Readonly<Record<string, string>> = { '1m': 'minute before', '1h': 'hour before', '1d': 'day before', month: 'month before' };

/** What does it cost, who spends it, where is it going? */
export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const measure: Measure = MEASURES.find(([id]) => id === state.measure)?.[0] ?? 'cost';
  const group: GroupName = GROUPS.find(([id]) => id === state.by)?.[0] ?? 'engine';
  const span = Number(state.span ?? 86_400_000);
  const bucket = state.per ?? (span <= 3_600_000 ? '1m' : span <= 604_800_000 ? '1h' : '1d');
  const usage = useQuery(usageQuery({ group, bucket, span }));
  const models = useQuery(usageQuery({ group: 'model,engine', bucket: 'none', span }));
  const grouped = useQuery({ ...usageQuery({ group, bucket: 'none', span }), enabled: group !== 'engine' && group !== 'model' });
  const table = group === 'engine' || group === 'model' ? models : grouped;
  const series = useMemo(() => (usage.data === undefined ? [] : seriesOf(usage.data, measure)), [usage.data, measure]);
  const open = (index: number): void => {
    const since = usage.data?.buckets[index];
    const until = usage.data?.buckets[index + 1];
    void navigate({ to: '/runs', search: { since, until } });
  };
  return (
    <div className="p-usage fill">
      <h1 className="sr">Usage</h1>
      <div className="bar">
        <Segmented<Measure> label="Measure" value={measure} onChange={(next) => change({ measure: next })} options={MEASURES} />
        <span className="mute">by</span>
        <Segmented<GroupName> label="Group" value={group} onChange={(next) => change({ by: next })} options={GROUPS} />
        <span className="mute">per</span>
        <Select label="Per" value={bucket} onChange={(per) => change({ per })} options={BUCKETS} />
        <Select label="Time" value={String(span)} onChange={(next) => change({ span: next, per: undefined })} options={SPANS} />
        <span className="grow" />
        <Button onClick={() => saveCsv(models.data)} disabled={models.data === undefined}>
          Export CSV
        </Button>
      </div>
      <ErrorBand error={usage.error} retry={() => void usage.refetch()} />
      <div className="wrap">
        <div className="left scroll">
          <section className="panel" aria-label="Chart">
            <div className="above">
              {models.data === undefined ? null : <Totals usage={models.data} />}
              <div className="leg">
                {series.map(({ name }, index) => (
                  <span key={name}>
                    <i style={{ background: `var(--${COLORS[index % COLORS.length]})` }} />
                    {name}
                  </span>
                ))}
              </div>
            </div>
            {usage.data === undefined || series.every(({ values }) => sum(values) === 0) ? (
              <Empty
                title={
                  series.length === 0
                    ? 'No calls in this time'
                    : `Nothing to show: ${measure === 'cost' ? 'no call of this time has a price' : 'all are zero'}`
                }
              />
            ) : (
              <BarChart
                label={`${measure} by ${group}`}
                buckets={usage.data.buckets}
                series={series}
                format={FORMATS[measure]}
                formatTime={TIMES[bucket] ?? ((time) => `${day(time)} ${hourMinute(time)}`)}
                before={BEFORE[bucket] ?? 'before'}
                runsOf={(index) => sum(usage.data.groups.map(({ runs }) => runs?.[index] ?? 0))}
                onOpen={open}
              />
            )}
          </section>
          <GroupsTable usage={table.data} by={group} since={sinceOf(span)} />
          <Forecast usage={models.data} span={span} />
        </div>
        <aside className="right scroll" aria-label="Beside the figures">
          <Budgets />
          <LeftOut span={span} />
          <Refused span={span} />
          <section className="sec">
            <h2>How this is counted</h2>
            <p className="note">
              From sealed receipts of single calls; runs made of calls are not counted twice. Calls without a price are counted beside the
              sum. Subscriptions are shown at list price.{' '}
              {usage.data?.from_rollup_until === null ? 'All figures are counted from receipts.' : ''}
            </p>
          </section>
        </aside>
      </div>
    </div>
  );
}

function Totals({ usage }: { readonly usage: Usage }): JSX.Element {
  const total = (name: 'cost_nano_usd' | 'runs' | 'tokens_in' | 'tokens_out' | 'cache_read' | 'unpriced'): number =>
    sum(usage.groups.map((group) => sum(group[name])));
  const read = total('tokens_in');
  return (
    <div className="tot">
      <Figure value={sumCost(total('cost_nano_usd'), total('unpriced'))} name="list price, calls only" />
      <Figure value={whole(total('runs'))} name="calls" />
      <Figure value={`${count(read)} / ${count(total('tokens_out'))}`} name="tokens in / out" />
      <Figure value={read === 0 ? '–' : percent(total('cache_read') / read)} name="of input read from cache" />
      <Figure value={whole(total('unpriced'))} name="calls without a price" />
    </div>
  );
}

function saveCsv(usage: Usage | undefined): void {
  if (usage === undefined) return;
  const lines = usage.groups.map((group) =>
    [
      group.key.model,
      group.key.engine,
      sum(group.runs),
      sum(group.tokens_in),
      sum(group.tokens_out),
      sum(group.cache_read),
      sum(group.cost_nano_usd),
      sum(group.unpriced),
    ]
      .map((value) => `"${String(value ?? '').replaceAll('"', '""')}"`)
      .join(','),
  );
  const text = ['model,engine,calls,tokens_in,tokens_out,cache_read,cost_nano_usd,unpriced', ...lines].join('\n');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = 'usage.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
