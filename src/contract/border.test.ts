import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseAt } from './border.ts';
import { AbpError } from './errors.ts';
import { AgentEvent } from './runs/event.ts';
import { CapabilityManifest, CapabilityRequirements } from './support.ts';
import { WorkOrder, workOrder } from './work-orders/work-order.ts';

function refusal(schema: z.ZodType, value: unknown): AbpError {
  try {
    parseAt(schema, value, 'body');
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
  throw new Error('the value was accepted');
}

it('returns the value that fits', () => {
  expect(parseAt(z.strictObject({ a: z.int() }), { a: 1 }, 'body')).toEqual({ a: 1 });
});

it('names the path, the bad capability and a near one', () => {
  const required = [
    { capability: 'streaming', min_support: 'native' },
    { capability: 'tool_raed', min_support: 'native' },
  ];
  const error = refusal(WorkOrder, { ...workOrder('t').build(), requirements: { required } });
  expect(error.code).toBe('invalid_request');
  expect(error.message).toBe(
    'body is not valid: requirements.required[1].capability: "tool_raed" is not a known capability; did you mean tool_read?',
  );
  expect(error.details).toEqual({
    issues: [{ path: 'requirements.required[1].capability', message: '"tool_raed" is not a known capability; did you mean tool_read?' }],
  });
});

it('names every path that is wrong, not only the first', () => {
  const error = refusal(CapabilityRequirements, { required: [{ capability: 'vision', min_support: 'any' }, {}], extra: true });
  expect(error.details).toEqual({
    issues: [
      { path: 'required[0].min_support', message: '"any" is not one of native, emulated' },
      { path: 'required[1].capability', message: 'is required' },
      { path: 'required[1].min_support', message: 'is required' },
      { path: 'extra', message: 'is not a known field; there are required' },
    ],
  });
});

it('names the field that was meant, or those that there are', () => {
  const Server = z.strictObject({ port: z.number().optional(), cert_file: z.string().optional() });
  const Shape = z.strictObject({
    servers: z.array(Server.prefault({})).default([]),
    named: z.record(z.string(), z.union([z.string(), Server])),
  });
  const value = { servers: [{ prot: 1 }, { tls: true }], named: { a: { cert: 'x' } } };
  expect(refusal(Shape, value).details).toEqual({
    issues: [
      { path: 'servers[0].prot', message: 'is not a known field; did you mean port?' },
      { path: 'servers[1].tls', message: 'is not a known field; there are port, cert_file' },
      { path: 'named.a.cert', message: 'is not a known field; did you mean cert_file?' },
    ],
  });
});

it('suggests a capability for an unknown key of a manifest', () => {
  expect(refusal(CapabilityManifest, { web_search: 'native' }).message).toBe(
    'body is not valid: web_search: "web_search" is not a known capability; did you mean tool_web_search?',
  );
});

it('follows the branch of a union that fits best', () => {
  expect(refusal(CapabilityManifest, { tool_bash: { restricted: {} } }).message).toBe(
    'body is not valid: tool_bash.restricted.reason: is required',
  );
  expect(refusal(CapabilityManifest, { tool_bash: 'nativ' }).message).toBe(
    'body is not valid: tool_bash: "nativ" is not one of native, emulated, unsupported',
  );
});

it('gives a near name instead of a long list of choices', () => {
  const event = { type: 'text_delat', runId: 'r', agent: 'a', timestamp: 0 };
  expect(refusal(AgentEvent, event).message).toBe('body is not valid: type: "text_delat" is not a known value; did you mean text_delta?');
});

it('says what it expected when the type is wrong', () => {
  expect(refusal(z.strictObject({ a: z.int() }), { a: 'x' }).message).toBe('body is not valid: a: expected number, received string');
  expect(refusal(z.strictObject({ a: z.int() }), 'x').message).toBe('body is not valid: expected object, received string');
});

it('quotes keys that are not plain words', () => {
  const schema = z.record(z.string(), z.int());
  expect(refusal(schema, { 'a.b': 'x' }).details).toEqual({ issues: [{ path: '["a.b"]', message: 'expected number, received string' }] });
});

it('lists at most fifty complaints and counts the rest', () => {
  const error = refusal(z.array(z.int()), Array(70).fill('x'));
  expect(error.details.issues).toHaveLength(50);
  expect(error.message.endsWith('; and 20 more')).toBe(true);
});

it('shortens a long bad value', () => {
  const error = refusal(CapabilityRequirements, { required: [{ capability: 'x'.repeat(500), min_support: 'native' }] });
  expect(error.message).toBe(`body is not valid: required[0].capability: "${'x'.repeat(79)}… is not a known capability`);
});

it('answers any JSON with the value or with invalid_request, never with another error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const error = refusal(WorkOrder, value);
      expect(error.code).toBe('invalid_request');
      expect(error.message.startsWith('body is not valid: ')).toBe(true);
    }),
  );
});
