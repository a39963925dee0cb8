import { describe, expect, it } from 'vitest';
import { engines } from '../engines/index.ts';
import { EngineDoor } from './admission.ts';
import type { Deployment } from './deployment.ts';
import { bareCredential, downstreamHeaders, upstreamHeaders, upstreamQuery, withoutHeader } from './headers.ts';

const claude = engines.find((engine) => engine.id === 'claude')!;

function deployment(auth: Deployment['auth'], key?: string): Deployment {
  const transport = (): never => {
    throw new Error('not called');
  };
  const door = new EngineDoor({ transport });
  return { engine: claude, origin: 'https://a.test', basePath: '', auth, door, silenceMs: 1, ...(key === undefined ? {} : { key }) };
}

const ours = (secret: string): boolean => secret.startsWith('abp_');
const sent = (raw: string[], auth: Deployment['auth'] = 'caller', key?: string): string[] =>
  upstreamHeaders(raw, deployment(auth, key), ours);

describe('upstreamHeaders', () => {
  it('keeps order, spelling and repetitions', () => {
    const raw = ['X-B', '1', 'anthropic-version', '2023-06-01', 'x-b', '2', 'X-A', '', 'Accept-Encoding', 'gzip', 'User-Agent', 'é'];
    expect(sent(raw)).toEqual(raw);
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Expect',
    'Cookie',
    'Origin',
    'Referer',
    'Forwarded',
    'Content-Length',
    'X-ABP-Key',
    'x-abp-anything',
    'X-Forwarded-For',
    'x-forwarded-anything',
  ])('never sends %s', (name) => {
    expect(sent(['a', '1', name, 'x', 'b', '2'])).toEqual(['a', '1', 'b', '2']);
  });

  it('never sends what the Connection header names', () => {
    expect(sent(['X-Hop', '1', 'Connection', 'keep-alive, X-HOP', 'x-stay', '2', 'x-hop', '3'])).toEqual(['x-stay', '2']);
  });

  it('forwards the caller’s own credential where that is the engine’s setting', () => {
    expect(sent(['x-api-key', 'sk-ant', 'Authorization', 'Bearer oat'])).toEqual(['x-api-key', 'sk-ant', 'Authorization', 'Bearer oat']);
  });

  it('never forwards a key of ours', () => {
    expect(sent(['x-api-key', 'abp_1', 'Authorization', 'bearer abp_2', 'api-key', 'abp_3', 'x-goog-api-key', 'abp_4', 'a', '1'])).toEqual([
      'a',
      '1',
    ]);
  });

  it('puts the engine’s key in place of every credential of the caller', () => {
    expect(sent(['x-api-key', 'sk-mine', 'Authorization', 'Bearer oat', 'a', '1'], 'key', 'sk-engine')).toEqual([
      'a',
      '1',
      'x-api-key',
      'sk-engine',
    ]);
  });

  it('sends no credential to an engine without one', () => {
    expect(sent(['x-api-key', 'sk-mine', 'a', '1'], 'none')).toEqual(['a', '1']);
  });
});

describe('upstreamQuery', () => {
  it.each([
    ['', 'caller', ''],
    ['?beta=true', 'caller', '?beta=true'],
    ['?a=%2f&&b', 'caller', '?a=%2f&&b'],
    ['?key=AIza&a=1', 'caller', '?key=AIza&a=1'],
    ['?key=AIza&a=1', 'key', '?a=1'],
    ['?a=1&key=abp_x', 'caller', '?a=1'],
    ['?k%65y=abp_x', 'caller', ''],
    ['?monkey=abp_x', 'key', '?monkey=abp_x'],
  ] as const)('of %s with the credential of the %s is "%s"', (query, auth, expected) => {
    expect(upstreamQuery(query, deployment(auth), ours)).toBe(expected);
  });
});

describe('downstreamHeaders', () => {
  it('keeps order, spelling and repetitions', () => {
    const raw = [
      'Request-Id',
      'r',
      'anthropic-ratelimit-requests-limit',
      '5',
      'X-B',
      '1',
      'x-b',
      '2',
      'Content-Encoding',
      'gzip',
      'Date',
      'd',
    ];
    expect(downstreamHeaders(raw)).toEqual(raw);
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Trailer',
    'Upgrade',
    'Set-Cookie',
    'Alt-Svc',
    'Strict-Transport-Security',
    'Access-Control-Allow-Origin',
    'access-control-expose-headers',
    'X-ABP-Run-Id',
  ])('never passes %s on', (name) => {
    expect(downstreamHeaders(['a', '1', name, 'x', 'b', '2'])).toEqual(['a', '1', 'b', '2']);
  });

  it('never passes on what the Connection header names', () => {
    expect(downstreamHeaders(['x-hop', '1', 'connection', 'close,x-hop', 'a', '1'])).toEqual(['a', '1']);
  });
});

it('bareCredential takes the scheme off', () => {
  expect(['Bearer a', 'bearer  b', 'c', 'Basic d'].map(bareCredential)).toEqual(['a', 'b', 'c', 'Basic d']);
});

it('withoutHeader takes a header and its value', () => {
  expect(withoutHeader(['a', '1', 'Content-Encoding', 'gzip', 'b', '2'], 'content-encoding')).toEqual(['a', '1', 'b', '2']);
});
