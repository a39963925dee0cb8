import * as whole from 'undici';
import { expect, it } from 'vitest';
import * as parts from './undici.ts';

it('the parts of undici are those that the package exports', () => {
  const { Agent, EnvHttpProxyAgent, buildConnector, errors } = whole;
  expect({ ...parts }).toEqual({ Agent, EnvHttpProxyAgent, buildConnector, errors });
  expect(parts.Agent).toBe(Agent);
});
