import { expect, it } from 'vitest';
import { openai } from '../engines/openai/engine.ts';
import { httpTransport } from '../upstream/http.ts';
import { upstreamAddress } from './address.ts';
import { EngineDoor } from './admission.ts';
import type { Deployment } from './deployment.ts';

const { transport } = httpTransport({ maxConnections: 1, connectMs: 1 });
const login = { origin: 'https://app.test', basePath: '/backend', header: 'chatgpt-account-id', without: '/v1' };
const deployed = (over: Partial<Deployment> = {}): Deployment => ({
  engine: openai,
  origin: 'https://api.test',
  basePath: '',
  auth: 'caller',
  door: new EngineDoor({ transport }),
  silenceMs: 1,
  login,
  ...over,
});

it('sends a login of the vendor’s application to the address that takes it, without the prefix of the API', () => {
  expect(upstreamAddress(deployed(), ['ChatGPT-Account-ID', 'acc'], '/v1/responses')).toEqual({
    origin: 'https://app.test',
    path: '/backend/responses',
  });
  expect(upstreamAddress(deployed(), ['chatgpt-account-id', 'acc'], '/v1beta')).toEqual({
    origin: 'https://app.test',
    path: '/backend/v1beta',
  });
});

it('sends a key of the caller to the engine', () => {
  expect(upstreamAddress(deployed({ basePath: '/proxy' }), ['authorization', 'Bearer sk-1'], '/v1/responses')).toEqual({
    origin: 'https://api.test',
    path: '/proxy/v1/responses',
  });
});

it('sends nothing there where the engine has a key of ours', () => {
  expect(upstreamAddress(deployed({ auth: 'key' }), ['chatgpt-account-id', 'acc'], '/v1/responses')).toEqual({
    origin: 'https://api.test',
    path: '/v1/responses',
  });
});
