import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { call } from './http-call.ts';

/** The finished receipt of a run, which must follow the contract. */
export async function receiptOf(url: string, runId: string | string[] | undefined, headers: readonly string[] = []): Promise<Receipt> {
  const { status, body } = await call(`${url}/v1/receipts/${runId}?wait=60`, { headers });
  if (status !== 200) throw new Error(`no receipt of ${runId}: ${status} ${body}`);
  return Receipt.parse(JSON.parse(body.toString()));
}
