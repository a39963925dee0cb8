import { expect, onTestFinished, test } from 'vitest';
import type { PolicyAsk } from '../../src/calls/policy.ts';
import { AbpError } from '../../src/contract/errors.ts';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

const body = {
  model: 'm',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'say hi' }],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
};

test('a policy sees every call before an engine does, and its refusal is the caller’s error', async () => {
  const asks: PolicyAsk[] = [];
  const gateway = await startGateway({
    policy: (ask) => {
      asks.push(ask);
      if (ask.tools?.includes('look'))
        throw new AbpError('E005', 'the tool look is not allowed', { operation: 'look', policy_rule: 'no-look' });
    },
  });
  onTestFinished(gateway.close);
  const { url } = gateway;
  expect((await post(`${url}/e/sim/v1/messages`, body)).status).toBe(200);
  const refused = await post(`${url}/e/sim:gemini/v1/messages`, body);
  expect(refused.status).toBe(403);
  expect(JSON.parse(String(refused.body)).error).toMatchObject({ code: 'E005', details: { policy_rule: 'no-look' } });
  expect(asks.map(({ mode, tools }) => [mode, tools])).toEqual([
    ['passthrough', undefined],
    ['mapped', ['look']],
  ]);
});
