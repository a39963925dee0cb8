import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);

/*
 * The parts of undici that the data path uses. The package as a whole also brings fetch, WebSocket, mocks and caches: 13 MB and 40 ms
 * at every start. Its parts have no types of their own; each is what the package exports under the same name, and a test says so.
 */
export const Agent = load('undici/lib/dispatcher/agent') as typeof Undici.Agent;
export const EnvHttpProxyAgent = load('undici/lib/dispatcher/env-http-proxy-agent') as typeof Undici.EnvHttpProxyAgent;
export const buildConnector = load('undici/lib/core/connect') as typeof Undici.buildConnector;
export const errors = load('undici/lib/core/errors') as typeof Undici.errors;
