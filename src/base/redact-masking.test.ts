import { describe, expect, it } from 'vitest';
import { maskAddress, maskSecrets } from './redact.ts';

describe('masking', () => {
  it('hides members that are named like secrets, at any depth', () => {
    expect(maskSecrets({ engines: { claude: { key: 'sk-1', url: 'https://h' } }, admin_token: 't', keys: ['a', 'b'] })).toEqual({
      engines: { claude: { key: '••••', url: 'https://h' } },
      admin_token: '••••',
      keys: ['••••', '••••'],
    });
  });

  it('hides the values of headers, and what is inside of lists', () => {
    const deployments = [{ name: 'eu', key: 'sk-1', headers: { 'X-Team': 'research-token-0001' } }];
    expect(maskSecrets({ deployments })).toEqual({ deployments: [{ name: 'eu', key: '••••', headers: { 'X-Team': '••••' } }] });
  });

  it('hides the paths of webhooks, which are all that it takes to post to some of them', () => {
    const webhooks = [{ url: 'https://hooks.example/services/T0/B0/abc?x=1', secret: 's', events: ['run.failed'] }];
    expect(maskSecrets({ webhooks, receipts: { head_webhook: 'https://me:pw@h:8443/in' } })).toEqual({
      webhooks: [{ url: 'https://hooks.example/••••', secret: '••••', events: ['run.failed'] }],
      receipts: { head_webhook: 'https://h:8443/••••' },
    });
    expect(maskSecrets({ head_webhook: 'https://h', webhooks: [] })).toEqual({ head_webhook: 'https://h', webhooks: [] });
  });

  it('shows the id of the key that a budget is for', () => {
    const budgets = [{ on: { key: 'key_0192f3a0c1d27b7e8f00112233445566' }, period: 'day', limit_requests: 5 }];
    expect(maskSecrets({ budgets })).toEqual({ budgets });
  });

  it('hides a key itself where the id of one belongs', () => {
    expect(maskSecrets({ budgets: [{ on: { key: 'abp_OfxNpk2wzUzX7uYrTX8HszhgSf6M8SmgjoDDuge7ZaI' } }] })).toEqual({
      budgets: [{ on: { key: '••••' } }],
    });
  });

  it('leaves alone what only sounds like a secret', () => {
    const harmless = { max_tokens_total: 5, keyboard: 'de', host: '127.0.0.1', port: 8088, empty_key: '' };
    expect(maskSecrets(harmless)).toEqual(harmless);
  });

  it.each([
    ['postgres://me:pw@host:5432/db', 'postgres://me:••••@host:5432/db'],
    ['postgres://me:p@w:x@host/db', 'postgres://me:••••@host/db'],
    ['postgres://me@host/db', 'postgres://me@host/db'],
    ['postgres://host/db?user=me&password=pw&x=1', 'postgres://host/db?user=me&password=••••&x=1'],
    ['https://host/v1?sig=s3cret&v=1', 'https://host/v1?sig=••••&v=1'],
    ['https://host/v1?access_token=s3cret', 'https://host/v1?access_token=••••'],
    ['https://host:8443/v1', 'https://host:8443/v1'],
    ['http://host/a:b@c', 'http://host/a:b@c'],
  ])('shows %s as %s', (text, shown) => {
    expect(maskAddress(text)).toBe(shown);
  });
});
