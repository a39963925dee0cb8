import { expect } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';

/** The JSON of an answer, which may be an error. */
export type Answer = Record<string, unknown> & { error?: { code: string; message: string } };

/** Calls a control route with the token of the home. */
export async function callRoute(
  { url, token }: TestGateway,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Answer }> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-abp-key': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer }; // every control route answers with an object
}

/** The receipt of a run, once it has ended. */
export async function endedReceipt(server: TestGateway, run: unknown): Promise<Answer> {
  let receipt: Answer = {};
  await expect
    .poll(async () => {
      receipt = (await callRoute(server, 'GET', `/v1/receipts/${run}?wait=5`)).body;
      return receipt.status;
    })
    .toMatch(/completed|failed|cancelled/);
  return receipt;
}
