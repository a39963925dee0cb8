import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { end, scratchFolder, startGateway, startTurnWorker } from './processes.ts';
import { type Plan, type Scenario, scenario, TurnClient } from './turn-lanes.ts';

const WARM_UP = 50;

/** How many processes of ours share the database. */
interface Cluster {
  readonly name: string;
  /** `abp worker` processes beside the server; without any the server works on the turns itself. */
  readonly workers: number;
}

export const CLUSTERS: readonly Cluster[] = [
  { name: 'PostgreSQL, one process', workers: 0 },
  { name: 'PostgreSQL, a server and three workers', workers: 3 },
];

/** Drives the plans on a PostgreSQL of its own that waits for its disk at every commit, once for each cluster. */
export async function postgresScenarios(plans: readonly Plan[]): Promise<Map<string, Scenario[]>> {
  const postgres = await startPostgres({ durable: true });
  try {
    const found = new Map<string, Scenario[]>();
    for (const { name, workers } of CLUSTERS) found.set(name, await onCluster(await postgres.freshDatabase(), workers, plans));
    return found;
  } finally {
    await postgres.stop();
  }
}

async function onCluster(url: string, workers: number, plans: readonly Plan[]): Promise<Scenario[]> {
  const folder = scratchFolder();
  const home = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const database = `[database]\nurl = "${url}"\n`;
  const config = workers === 0 ? database : `${database}[sessions]\nturns = 0\n`;
  const server = await startGateway({ home: home('server'), config, env: {} });
  const started = [server.child];
  try {
    for (let at = 1; at <= workers; at += 1) started.push(await startTurnWorker({ home: home(`worker-${at}`), config: database, env: {} }));
    return await drive(
      server.url,
      started.flatMap(({ pid }) => pid ?? []),
      plans,
    );
  } finally {
    for (const child of started.reverse()) await end(child);
  }
}

async function drive(url: string, pids: readonly number[], plans: readonly Plan[]): Promise<Scenario[]> {
  const client = await TurnClient.open(url, Math.max(...plans.map(({ lanes }) => lanes)));
  try {
    for (const { lanes } of plans) await scenario(client, pids, { name: 'warm-up', lanes, turns: WARM_UP });
    const found: Scenario[] = [];
    for (const plan of plans) found.push(await scenario(client, pids, plan));
    return found;
  } finally {
    await client.close();
  }
}
