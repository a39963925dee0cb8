import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { nodeFetch } from '../../base/node-fetch.ts';
import { readAddress } from '../../home/address.ts';
import { type Home, processFolders } from '../../home/home.ts';
import { isServed } from '../../home/server-lock.ts';
import { type Membership, tellSupervisor } from './member.ts';
import { passOn, passUpgradeOn } from './pass-on.ts';

/** The processes that share a port with this one, as this one sees them. */
export interface Siblings {
  readonly number: number;
  /** Has every other process read the configuration again. */
  reload(): void;
  /** The metrics of each other process; undefined of one that does not answer. */
  metrics(): Promise<ReadonlyMap<number, string | undefined>>;
  /** How requests come to the first process; undefined in the first itself. */
  readonly first: FirstProcess | undefined;
}

/**
 * The first process answers the requests that are not calls to engines: it drives coding agents, holds what waits for an answer or for a
 * browser, and has the console. So these behave as with one process, whichever of them is met.
 */
interface FirstProcess {
  passOn(request: IncomingMessage, response: ServerResponse, local: boolean): Promise<void>;
  passUpgradeOn(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void>;
}

/** Scrapers give up after ten seconds. */
const ANSWER_MS = 2000;

/** Processes find each other by the address that each keeps in its folder. */
export function siblingsOf({ number, count }: Membership, home: Home): Siblings {
  const others = Array.from({ length: count }, (_, at) => at + 1).filter((other) => other !== number);
  return {
    number,
    first:
      number === 1
        ? undefined
        : {
            passOn: (request, response, local) => passOn(home.installation, { request, response, local }),
            passUpgradeOn: (request, socket, head) => passUpgradeOn(home.installation, { request, socket, head }),
          },
    reload: () => tellSupervisor({ kind: 'reload' }),
    metrics: async () => {
      const folders = processFolders(home.installation);
      const texts = others.map(async (other) => [other, await metricsAt(folders.get(other), home.token)] as const);
      return new Map(await Promise.all(texts));
    },
  };
}

async function metricsAt(folder: string | undefined, token: string): Promise<string | undefined> {
  const served = folder !== undefined && isServed(join(folder, 'server.lock'));
  const address = served ? readAddress(join(folder, 'address')) : undefined;
  if (address === undefined) return undefined;
  try {
    const headers = { 'x-abp-key': token };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await nodeFetch(`${address.url}/metrics?of=process`, { headers, signal, answerMs: ANSWER_MS });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    // It is being started again, or too busy: the metrics of the others say that it did not answer.
    return undefined;
  }
}

/** Folders of the bodies that other processes of the installation have recorded, those that serve no more included. */
export function otherBodies({ installation, path }: Home): string[] {
  const folders = [...processFolders(installation).values()].filter((folder) => folder !== path);
  return folders.map((folder) => join(folder, 'bodies')).filter((folder) => existsSync(join(folder, 'index.db')));
}
