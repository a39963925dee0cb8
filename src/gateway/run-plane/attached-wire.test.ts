import { expect, it } from 'vitest';
import { adapters } from '../../adapters/index.ts';
import { Scopes } from '../../calls/scopes.ts';
import { newRunId } from '../../contract/run-id.ts';
import type { RunKeyRequest } from '../../runtime/gateway-port.ts';
import { AttachedKey } from '../api/attached-runs.ts';
import { keyFromWire, keyToWire } from './attached-wire.ts';

const request: RunKeyRequest = {
  runId: newRunId(),
  agent: 'claude',
  engine: 'gemini',
  model: 'gemini-2.5-pro',
  emulate: ['extended_thinking'],
  traffic: [{ feature: 'cache marks', path: 'system[*].cache_control', fate: 'dropped', on: { kimi: 'renamed' }, reason: 'a hint' }],
  compatibility: 'best_effort',
  thinking: { effort: 'high' },
  tools: { allowed: ['Read'], denied: ['Bash'] },
  raw: false,
  tags: ['t'],
  expiresAt: 1,
};

/** As it arrives at the other process. */
function sent(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

it('the terms of a run key arrive at another process as they were', () => {
  expect(keyFromWire(request.runId, AttachedKey.parse(sent(keyToWire(request))))).toEqual(request);
});

it('the table of every agent is one that a key can carry', () => {
  const refused = adapters.filter(({ traffic }) => {
    const rows = traffic.rows.map(({ wish: _own, ...row }) => row);
    return !AttachedKey.safeParse(sent(keyToWire({ ...request, traffic: rows }))).success;
  });
  expect(refused.map(({ agent }) => agent)).toEqual([]);
});

it('a key without a table is one of an earlier version, and holds', () => {
  const { agent, engine, model, emulate, compatibility } = request;
  const scopes = Scopes.parse({ run: { agent, engine, model, emulate, compatibility, thinking: null } });
  expect(scopes.run?.traffic).toEqual([]);
});
