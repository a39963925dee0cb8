import { useQuery } from '@tanstack/react-query';
import { type JSX, type ReactNode, useState } from 'react';
import { get, withQuery } from '../../api/client.ts';
import { isCall, isUnderWay } from '../../api/receipts.ts';
import type { Catalogue, Receipt } from '../../api/types.ts';
import { copyText } from '../../base/copy.ts';
import { cost, digest, time, whole } from '../../base/format.ts';
import { isUnsealed } from '../../base/seal/unsealed.ts';
import type { CheckedSeal } from '../../base/seal/verify.ts';
import { Button } from '../bits/bits.tsx';
import { Icon } from '../icon/icon.tsx';
import './receipt-slip.css';

const sealQuery = (receipt: Receipt) => ({
  queryKey: ['seal', receipt.run_id, receipt.seal?.hash],
  queryFn: async () => (await import('../../base/seal/verify.ts')).verifySeal(receipt),
  staleTime: Number.POSITIVE_INFINITY,
  enabled: receipt.seal !== null && receipt.seal !== undefined,
});

/** The receipt as a slip with a torn edge: on top the seal and its checks, made in this browser. */
export function ReceiptSlip({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const seal = useQuery(sealQuery(receipt));
  const broken = seal.data?.verdict === 'invalid' || (seal.data?.tail?.code ?? null) !== null;
  return (
    <div className={broken ? 'slip broken' : 'slip'}>
      <Stamp receipt={receipt} seal={seal.data} error={seal.error} />
      {seal.data === undefined ? null : <Checks seal={seal.data} again={() => void seal.refetch()} />}
      <div className="hr" />
      <div className="m">
        <Line name="receipt" value={receipt.contract_version} />
        <Line
          name="mode"
          value={receipt.mode === null ? 'never decided' : `${receipt.mode}, ${receipt.compatibility?.replace('_', ' ') ?? ''}`}
        />
        <Line name="dialect" value={`${receipt.dialect ?? '–'} → ${receipt.engine ?? '–'}`} />
        {receipt.request === null ? null : <Line name="caller sent" value={digest(receipt.request.sha256)} />}
        {receipt.upstream_request === null ? null : <Line name="engine got" value={digest(receipt.upstream_request.sha256)} />}
        {receipt.response === null ? null : <Line name="engine said" value={digest(receipt.response.sha256)} />}
        {isUnderWay(receipt) ? null : <Line name="tool calls" value={String(receipt.tool_calls?.length ?? 0)} />}
      </div>
      <div className="hr" />
      <Price receipt={receipt} />
      {receipt.receipt_sha256 === null ? null : (
        <>
          <div className="hr" />
          <div className="m mute hash">{receipt.receipt_sha256}</div>
        </>
      )}
      <Exits receipt={receipt} again={() => void seal.refetch()} />
    </div>
  );
}

function Stamp(props: { readonly receipt: Receipt; readonly seal: CheckedSeal | undefined; readonly error: unknown }): JSX.Element {
  const { receipt, seal, error } = props;
  if (isUnsealed(receipt, Date.now()))
    return <Title tone="bad" title="Never sealed" note="the run has ended: nobody vouches for this; abp receipts verify --all says more" />;
  if (receipt.seal === null || receipt.seal === undefined) return <Title tone="mute" title="Not sealed yet" note="the run is under way" />;
  if (error !== null && error !== undefined) {
    return <Title tone="warn" title="Sealed, not checked" note={error instanceof Error ? error.message : String(error)} />;
  }
  if (seal === undefined) return <Title tone="mute" title={`Sealed as entry ${whole(receipt.seal.sequence)}`} note="being checked" />;
  if (seal.verdict === 'valid' && seal.tail !== null && seal.tail.code !== null)
    return <Title tone="bad" title="The chain was changed" note={`${seal.tail.code}: ${seal.tail.message}`} />;
  if (seal.verdict === 'invalid') return <Title tone="bad" title="Does not verify" note={`${seal.code}: ${seal.message}`} />;
  return <Title tone="stamped" title="Sealed and checked" note={`by ${seal.by}, ${time(seal.checkedAt)}`} />;
}

function Title({ tone, title, note }: { readonly tone: string; readonly title: string; readonly note: string }): JSX.Element {
  return (
    <div className={`stamp ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={tone === 'bad' ? 'unsealed' : 'seal'} size={40} />
      <div>
        <div className="b title">{title}</div>
        <div className="xs">{note}</div>
      </div>
    </div>
  );
}

type Held = 'held' | 'broken' | 'unreached';

const SIGNS: Readonly<Record<Held, readonly [string, string, string]>> = {
  held: ['ok', 'check', 'holds'],
  broken: ['bad', 'refused', 'does not hold'],
  unreached: ['unreached', 'clock', 'not looked at'],
};

function Check({ held, title, note }: { readonly held: Held; readonly title: string; readonly note: ReactNode }): JSX.Element {
  const [tone, icon, word] = SIGNS[held];
  return (
    <>
      <span className={tone}>
        <Icon name={icon} label={word} />
      </span>
      <div className={held === 'unreached' ? 'unreached' : ''}>
        {title}
        <small>{held === 'unreached' ? 'not looked at: what stands before it does not hold' : note}</small>
      </div>
    </>
  );
}

/** What a head says that was kept elsewhere; without one nobody knows whether entries were taken off the end. */
function Tail({ seal: { tail }, last, again }: { readonly seal: CheckedSeal; readonly last: number; again(): void }): JSX.Element {
  const [asks, setAsks] = useState(false);
  const take = async (text: string): Promise<void> => {
    const { keepHead, readHead } = await import('../../base/seal/verify.ts');
    const head = readHead(text);
    if (head === null) return;
    keepHead(head);
    setAsks(false);
    again();
  };
  if (tail !== null && tail.code !== null) return <Check held="broken" title={tail.message} note={`code ${tail.code}`} />;
  if (tail !== null && tail.kept.sequence >= last) {
    return <Check held="held" title={`Nothing is cut up to ${whole(tail.kept.sequence)}`} note="a head that this browser kept says so" />;
  }
  return (
    <>
      <span className="warn">
        <Icon name="clock" label="not known" />
      </span>
      <div>
        After {whole(last)}: unknown
        <small>
          only a head kept elsewhere can tell.{' '}
          <button type="button" className="link" onClick={() => setAsks(!asks)}>
            Give one
          </button>
        </small>
        {asks ? (
          <textarea
            aria-label="A head that was kept elsewhere"
            placeholder='{"at":"…","kind":"head",…}'
            rows={3}
            onChange={(event) => void take(event.target.value)}
          />
        ) : null}
      </div>
    </>
  );
}

function Checks({ seal, again }: { readonly seal: CheckedSeal; again(): void }): JSX.Element {
  const { sequence, head, held, verdict } = seal;
  // The first step that does not hold is the fault; those behind it were not looked at.
  const at = (step: number): Held => (held > step ? 'held' : held === step && verdict === 'invalid' ? 'broken' : 'unreached');
  return (
    <>
      <div className="ck">
        <Check
          held={at(0)}
          title={at(0) === 'broken' ? 'Content hash does not match' : 'Content hash matches'}
          note="recomputed from what you see"
        />
        <Check
          held={at(1)}
          title={`Entry ${whole(sequence)} ${at(1) === 'broken' ? 'does not follow' : 'follows'} ${whole(sequence - 1)}`}
          note="hash of the entry before is in this one"
        />
        <Check
          held={at(2)}
          title={`${head === null ? 'The head' : `Head ${whole(head.sequence)}`} is ${at(2) === 'broken' ? 'not signed' : 'signed'}`}
          note={head === null ? `checked by ${seal.by}` : `Ed25519, ${head.keyId}`}
        />
        {head === null ? null : <Tail seal={seal} last={head.sequence} again={again} />}
      </div>
      {seal.newKey ? (
        <p className="warn xs">Signed with another key than this browser saw first: look for the rotation in the chain.</p>
      ) : null}
      {seal.verdict === 'invalid' || (seal.tail !== null && seal.tail.code !== null) ? (
        <p className="bad s todo">
          Keep a copy of the database and of the last head you have, and run <code className="nw">abp receipts verify --all</code> on it.
        </p>
      ) : null}
    </>
  );
}

function Line({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div className="ln">
      <span>{name}</span>
      <span>{value}</span>
    </div>
  );
}

/** The list prices of the model that served; a tier, a discount or a price of the operator is no list price of short requests. */
const ratesQuery = ({ engine, model }: Receipt) => ({
  queryKey: ['rates', engine, model.upstream],
  queryFn: async () => {
    const asked = withQuery('/v1/matrix/models', { engine: engine ?? undefined, q: model.upstream ?? undefined });
    return (await get<Catalogue>(asked)).items.find(({ id }) => id === model.upstream)?.rates ?? null;
  },
  staleTime: 3_600_000,
  retry: false,
});

/** Tokens times price, in lines that add up to the cost; no lines where these prices do not make that cost. */
function priceLines({ usage, cost: price }: Receipt, rates: Rates | null | undefined): readonly (readonly [string, string, string])[] {
  if (usage === null || price === null || rates === null || rates === undefined) return [];
  const { input_tokens: input, cache_read_tokens: read, cache_write_tokens: written, output_tokens: output } = usage;
  const parts = [
    ['input', input - read - written, rates.input],
    ['from cache', read, rates.cache_read],
    ['to cache', written, rates.cache_write],
    ['output', output, rates.output],
  ] as const;
  const sum = parts.reduce((total, [, tokens, rate]) => total + (tokens * rate) / 1e6, 0);
  if (Math.abs(sum - price.nano_usd) > 1) return [];
  return parts
    .filter(([, tokens]) => tokens > 0)
    .map(([name, tokens, rate]) => [name, `${whole(tokens)} × $${(rate / 1e9).toFixed(2)}/M`, ((tokens * rate) / 1e15).toFixed(6)]);
}

const tokenWords = (many: number): string => `${whole(many)} ${many === 1 ? 'token' : 'tokens'}`;

/** A sum stands in the figures of its lines, so that everybody can add them up. */
const sumOf = (nano: number, lines: number): string => (lines === 0 ? cost(nano) : `$${(nano / 1e9).toFixed(6)}`);

type Rates = NonNullable<Catalogue['items'][number]['rates']>;

function Price({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const { usage, cost: price } = receipt;
  const rates = useQuery({ ...ratesQuery(receipt), enabled: price !== null && isCall(receipt) });
  if (isUnderWay(receipt)) return <Line name="tokens, list price" value="known when it has ended" />;
  const lines = priceLines(receipt, rates.data);
  return (
    <div className="m">
      {lines.map(([name, times, sum]) => (
        <div key={name} className="ln times">
          <span>{name}</span>
          <span>{times}</span>
          <span>{sum}</span>
        </div>
      ))}
      {lines.length > 0 ? null : usage === null || usage === undefined ? (
        <Line name="tokens" value="nothing was used" />
      ) : (
        <>
          <Line name="input" value={tokenWords(usage.input_tokens)} />
          {usage.cache_read_tokens > 0 ? <Line name="of it from cache" value={whole(usage.cache_read_tokens)} /> : null}
          <Line name="output" value={`${tokenWords(usage.output_tokens)}${usage.estimated ? ', about' : ''}`} />
          {usage.thinking_tokens > 0 ? <Line name="of it thinking" value={whole(usage.thinking_tokens)} /> : null}
        </>
      )}
      <div className="ln b">
        <span className="ink">list price</span>
        <span>
          {price !== null && price !== undefined
            ? sumOf(price.nano_usd, lines.length)
            : receipt.reason === 'refused'
              ? 'nothing spent'
              : 'no price'}
        </span>
      </div>
    </div>
  );
}

/** Saves the line of the chain that is this receipt, as an export has it. */
export async function exportLine(run: string): Promise<void> {
  const { lines } = await get<{ lines: readonly string[] }>(`/v1/receipts/${run}/proof`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${lines[0] ?? ''}\n`], { type: 'application/jsonl' }));
  link.download = `${run}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Exits({ receipt, again }: { readonly receipt: Receipt; again(): void }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void copyText(`abp receipt verify ${receipt.run_id}`).then(setCopied);
  };
  return (
    <div className="row exits">
      <Button small acts onClick={again} disabled={!receipt.seal}>
        Verify again
      </Button>
      <Button small acts onClick={() => void exportLine(receipt.run_id)} disabled={!receipt.seal}>
        Export line
      </Button>
      <Button small onClick={copy}>
        {copied ? 'Copied' : 'Copy verify command'}
      </Button>
    </div>
  );
}
