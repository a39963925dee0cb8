import type { z } from 'zod';
import { randomToken } from '../../base/ids.ts';
import type { Json } from '../../base/json.ts';
import { nodeFetch } from '../../base/node-fetch.ts';
import { identityOf } from '../../base/process-table.ts';
import { type Call, callJson } from '../../client/http.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { addEngines, builtInEngine, findEngine } from '../../engines/index.ts';
import { baseEngine, engineOf } from '../../engines/own.ts';
import { type EngineWord, type GatewayPort, RunAdmitted } from '../../runtime/gateway-port.ts';
import { AttachedCancel, AttachedEngine, AttachedSecret, Fates, Offer, Spend } from '../api/attached-runs.ts';
import { closingToWire, fatesFromWire, keyToWire, offerFromWire, openingToWire, spendFromWire } from './attached-wire.ts';

export interface ServerAccess {
  readonly url: string;
  /** The token of the server's home. */
  readonly token: string;
}

/** The server that runs for a home, as runs driven by this process see it. */
export function serverPort(server: ServerAccess): GatewayPort {
  const at = (run: RunId, rest = ''): string => `/v1/attached-runs/${run}${rest}`;
  return {
    url: server.url,
    // Whether the server lets callers in without a key is not known here.
    enforcement: 'advisory',
    claim: async (run) => void (await call(server, 'POST', at(run, '/claim'))),
    offer: async ({ engine, model, dialect, dialects }) => {
      const named = { ...(engine === undefined ? {} : { engine }), ...(model === undefined ? {} : { model }) };
      const query = new URLSearchParams({ dialect, dialects: dialects.join(','), ...named });
      const offer = offerFromWire(await asked(server, 'GET', `/v1/attached-runs/offer?${query}`, { answer: Offer }));
      if ('base' in offer) addLike(offer.engine, offer.base);
      return offer;
    },
    admit: async ({ runId, ...ask }) => {
      // A server of an earlier version has no checks to ask; its engines are behind those that it has.
      await knownTo(() => call(server, 'POST', at(runId, '/admission'), { ...ask, owner: identityOf(process.pid) }));
      return new RunAdmitted('server');
    },
    mintRunKey: async (wish) =>
      (await asked(server, 'POST', at(wish.runId, '/key'), { body: keyToWire(wish), answer: AttachedSecret })).secret,
    dropRunKey: async (run) => void (await call(server, 'DELETE', at(run, '/key'))),
    cancelled: async (run) =>
      (await knownTo(() => asked(server, 'GET', at(run, '/cancelled'), { answer: AttachedCancel })))?.cancelled ?? false,
    engineWord: async (run) =>
      engineWordFromWire(await knownTo(() => asked(server, 'GET', at(run, '/engine'), { answer: AttachedEngine }))),
    spent: async (run, state) => {
      const spend = spendFromWire(await asked(server, 'GET', at(run, `/spend?state=${state}`), { answer: Spend }));
      if (state === 'running') return spend;
      const fates = await knownTo(() => asked(server, 'GET', at(run, '/fates'), { answer: Fates }));
      return fates === undefined ? spend : { ...spend, fates: fatesFromWire(fates) };
    },
    opened: async (opening) => {
      const pid = opening.untilEndOf ?? process.pid;
      const owner = identityOf(pid) ?? { pid, started: '' };
      await call(server, 'PUT', at(opening.run), openingToWire(opening, owner));
    },
    closed: async (closing) => void (await call(server, 'POST', at(closing.run, '/close'), closingToWire(closing))),
  };
}

/** Tells the server of the home that this process uses it. Undefined where it ends or has ended; else how this process leaves. */
export async function visit(server: ServerAccess): Promise<(() => Promise<void>) | undefined> {
  const path = `/v1/attached-processes/${randomToken(12)}`;
  try {
    // A server of an earlier version counts runs alone.
    const known = await knownTo(async () => {
      await call(server, 'PUT', path, { owner: identityOf(process.pid) ?? { pid: process.pid, started: '' } });
      return true;
    });
    return known === undefined ? async () => undefined : async () => await left(server, path);
  } catch (error) {
    if (AbpError.is(error) && (error.code === 'conflict' || error.code === 'E007')) return undefined;
    throw error;
  }
}

/** A server that does not answer any more has nobody to count. */
async function left(server: ServerAccess, path: string): Promise<void> {
  try {
    await call(server, 'DELETE', path);
  } catch (error) {
    if (!AbpError.is(error) || error.code !== 'E007') throw error;
  }
}

/** A server of an earlier version does not tell; then nobody asks again. */
function engineWordFromWire(word: z.infer<typeof AttachedEngine> | undefined): EngineWord {
  if (word === undefined) return { state: 'reached' };
  const { state, message } = word;
  if (state === 'refused') return { state, message: message ?? '' };
  return state === 'unknown' && message !== undefined ? { state, message } : { state };
}

/** The answer; undefined from a server of an earlier version, which does not know the question. */
async function knownTo<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (AbpError.is(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function asked<T>(
  server: ServerAccess,
  method: 'GET' | 'POST',
  path: string,
  { body, answer }: { body?: object; answer: z.ZodType<T> },
): Promise<T> {
  return parseAt(answer, await call(server, method, path, body), `the answer to ${method} ${path}`);
}

async function call(server: ServerAccess, method: NonNullable<Call['method']>, path: string, body?: object): Promise<Json> {
  const { url, token } = server;
  try {
    return await callJson({ url, key: token, fetch: nodeFetch }, path, { method, body });
  } catch (error) {
    if (AbpError.is(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AbpError('E007', `The server at ${url} does not answer: ${reason}`, { backend_id: 'gateway', reason });
  }
}

/** An engine of the server's configuration becomes known here too: what is planned for the run depends on its abilities. */
function addLike(name: string, base: string | undefined): void {
  const [id = name] = name.split(':');
  const found = base === undefined || findEngine(id) !== undefined ? undefined : baseEngine(base, builtInEngine);
  if (found !== undefined) addEngines([engineOf({ id, base: found, models: [] })]);
}
