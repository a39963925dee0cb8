import Anthropic from '@anthropic-ai/sdk';
import { AbpClient } from 'agent-backplane/client';
import type { Receipt } from 'agent-backplane/contract';

const ASK = { model: 'm', max_tokens: 50, messages: [{ role: 'user' as const, content: 'say "over and out"' }] };

/** The receipt of a stream, by the header of its answer: as the guide to receipts shows it. */
export async function fetched(url: string): Promise<Receipt> {
  const abp = new AbpClient({ url });
  const client = abp.wrap(new Anthropic({ baseURL: `${url}/e/sim`, apiKey: 'not-checked' }));
  const stream = await client.messages.create({ ...ASK, stream: true });
  const runId = stream.headers.get('X-ABP-Run-Id');
  let said = '';
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') said += event.delta.text;
  }
  if (runId === null || said !== 'over and out') throw new Error(`the stream said ${said}`);
  const receipt = await abp.getReceipt(runId);
  await abp.close();
  return receipt;
}

/** The receipts after one, handed over by a callback as they are sealed. */
export async function delivered(url: string, after: Receipt): Promise<Receipt> {
  const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
  const abp = new AbpClient({ url, after: after.run_id, onReceipt: resolve, onError: reject });
  await new Anthropic({ baseURL: `${url}/e/sim`, apiKey: 'not-checked' }).messages.create(ASK);
  try {
    return await promise;
  } finally {
    await abp.close();
  }
}
