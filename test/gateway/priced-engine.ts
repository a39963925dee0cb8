import type { TestGateway } from '../support/gateway.ts';
import { call, type WireAnswer } from '../support/http-call.ts';

/** An answer of Claude with usage that has a price. */
export const ANSWER = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 30, output_tokens: 20 },
};
/** What it costs, in billionths: three dollars and fifteen dollars for a million tokens. */
export const COST = 30 * 3000 + 20 * 15_000;

/** A call of the control API with the token of the home. */
export function adminCall({ url, token }: TestGateway, method: string, path: string, body?: object): Promise<WireAnswer> {
  const headers = ['authorization', `Bearer ${token}`, 'content-type', 'application/json'];
  return call(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}
