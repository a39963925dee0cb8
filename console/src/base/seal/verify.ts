import { get } from '../../api/client.ts';
import type { Receipt } from '../../api/types.ts';
import type { Heads, Proof, SealReport, SeenHead } from './check.ts';
import type { Ask } from './worker.ts';

export interface CheckedSeal extends SealReport {
  /** Who did the arithmetic. */
  readonly by: 'this browser' | 'the server';
  readonly checkedAt: number;
  /** Another key than the one this browser saw first. */
  readonly newKey: boolean;
  /** What a head says that was kept elsewhere; null where there is none. */
  readonly tail: (Pick<SealReport, 'code' | 'message'> & { readonly kept: SeenHead }) | null;
}

const FIRST_KEY = 'abp.first-key';
const LAST_HEAD = 'abp.last-head';

function isNewKey(keyId: string): boolean {
  const first = localStorage.getItem(FIRST_KEY);
  if (first === null) localStorage.setItem(FIRST_KEY, keyId);
  return first !== null && first !== keyId;
}

/** The highest head that this browser has seen, or that was given to it. */
function keptHead(): SeenHead | null {
  try {
    const head: unknown = JSON.parse(localStorage.getItem(LAST_HEAD) ?? 'null');
    return typeof head === 'object' && head !== null && 'sequence' in head ? (head as SeenHead) : null; // written below
  } catch {
    // Somebody else wrote there; what cannot be read is no head.
    return null;
  }
}

/** Keeps a head in this browser: whoever cuts the chain later does not reach it. */
export function keepHead(head: SeenHead): void {
  if (head.sequence > (keptHead()?.sequence ?? 0)) localStorage.setItem(LAST_HEAD, JSON.stringify(head));
}

/** A head as somebody kept it: the line of an export, of the log or of the webhook. */
export function readHead(text: string): SeenHead | null {
  try {
    const { sequence, hash, key_id, at, kind } = JSON.parse(text);
    return kind === 'head' && typeof sequence === 'number' && typeof hash === 'string'
      ? { sequence, hash, keyId: String(key_id), at: String(at) }
      : null;
  } catch {
    return null;
  }
}

interface Found {
  readonly report: SealReport;
  readonly tail: Pick<SealReport, 'code' | 'message'> | null;
}

async function inWorker(ask: Ask): Promise<Found> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = (event: MessageEvent<Found & { error?: string }>) => {
        if (event.data.error === undefined) resolve(event.data);
        else reject(new Error(event.data.error));
      };
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage(ask);
    });
  } finally {
    worker.terminate();
  }
}

/** The newest head, and where this browser has kept one, the head that the server has at its entry now. */
async function headsFor(kept: SeenHead | null): Promise<Heads> {
  const newest = await get<{ readonly sequence: number }>('/v1/receipts/head');
  const comparable = kept !== null && newest.sequence >= kept.sequence;
  return { newest, atKept: comparable ? await get<unknown>(`/v1/receipts/head?at=${kept.sequence}`) : null };
}

interface ServerVerdict {
  readonly problems?: readonly { readonly code: SealReport['code']; readonly message: string }[];
}

/** For browsers that cannot check such signatures. */
async function askServer({ run_id: run, seal }: Receipt): Promise<CheckedSeal> {
  const { problems = [] } = await get<ServerVerdict>(`/v1/receipts/${run}/verify`);
  const [first] = problems;
  return {
    verdict: first === undefined ? 'valid' : 'invalid',
    code: first?.code ?? null,
    message: first?.message ?? '',
    sequence: seal?.sequence ?? 0,
    ...{ head: null, held: first === undefined ? 3 : 0, by: 'the server', checkedAt: Date.now(), newKey: false, tail: null },
  };
}

/** Checks the seal of a receipt here. A browser that cannot check such signatures asks the server, and says that it did. */
export async function verifySeal(receipt: Receipt): Promise<CheckedSeal> {
  const run = receipt.run_id;
  const kept = keptHead();
  const [{ before, lines, keys }, heads] = await Promise.all([
    get<Proof & { readonly before: string | null }>(`/v1/receipts/${run}/proof`),
    headsFor(kept),
  ]);
  const proof = { lines: before === null ? lines : [before, ...lines], keys };
  try {
    const { report, tail } = await inWorker({ run, receipt, proof, heads, kept });
    if (report.head !== null) keepHead(report.head);
    const found = tail === null || kept === null ? null : { ...tail, kept };
    return {
      ...report,
      tail: found,
      by: 'this browser',
      checkedAt: Date.now(),
      newKey: report.head !== null && isNewKey(report.head.keyId),
    };
  } catch (error) {
    if (error instanceof Error && /Ed25519|algorithm|NotSupported/i.test(error.message)) return await askServer(receipt);
    throw error;
  }
}
