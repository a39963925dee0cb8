import { get } from '../../api/client.ts';
import type { Receipt } from '../../api/types.ts';
import type { Proof, SealReport } from './check.ts';

export interface CheckedSeal extends SealReport {
  /** Who did the arithmetic. */
  readonly by: 'this browser' | 'the server';
  readonly checkedAt: number;
  /** Another key than the one this browser saw first. */
  readonly newKey: boolean;
}

const FIRST_KEY = 'abp.first-key';

function isNewKey(keyId: string): boolean {
  const first = localStorage.getItem(FIRST_KEY);
  if (first === null) localStorage.setItem(FIRST_KEY, keyId);
  return first !== null && first !== keyId;
}

async function inWorker(run: string, receipt: Receipt, proof: Proof): Promise<SealReport> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = (event: MessageEvent<{ report?: SealReport; error?: string }>) => {
        if (event.data.report === undefined) reject(new Error(event.data.error));
        else resolve(event.data.report);
      };
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ run, receipt, proof });
    });
  } finally {
    worker.terminate();
  }
}

interface ServerVerdict {
  readonly verdict?: string;
  readonly valid?: boolean;
  readonly problems?: readonly { readonly code: SealReport['code']; readonly message: string }[];
}

/** Checks the seal of a receipt here. A browser that cannot check such signatures asks the server, and says that it did. */
export async function verifySeal(receipt: Receipt): Promise<CheckedSeal> {
  const run = receipt.run_id;
  const { before, lines, keys } = await get<Proof & { readonly before: string | null }>(`/v1/receipts/${run}/proof`);
  const proof = { lines: before === null ? lines : [before, ...lines], keys };
  try {
    const report = await inWorker(run, receipt, proof);
    return { ...report, by: 'this browser', checkedAt: Date.now(), newKey: report.head !== null && isNewKey(report.head.keyId) };
  } catch (error) {
    if (!(error instanceof Error && /Ed25519|algorithm|NotSupported/i.test(error.message))) throw error;
    const { problems = [] } = await get<ServerVerdict>(`/v1/receipts/${run}/verify`);
    const [first] = problems;
    return {
      verdict: first === undefined ? 'valid' : 'invalid',
      code: first?.code ?? null,
      message: first?.message ?? '',
      sequence: receipt.seal?.sequence ?? 0,
      ...{ head: null, held: first === undefined ? 3 : 0, by: 'the server', checkedAt: Date.now(), newKey: false },
    };
  }
}
