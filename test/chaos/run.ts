// `npm run chaos`: a server under steady load while everything around it fails. Prints what was tried and what held; exits 1 unless all held.
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { verifyExport } from '../../src/receipts/verify/verify-bytes.ts';
import { type MeasuredServer, startMeasured } from '../fuzz/measured-server.ts';
import { call } from '../support/http-call.ts';
import { startPostgres } from '../support/postgres.ts';
import { startPacedCallers } from './callers.ts';
import { startChaosEngine } from './engine.ts';

const SECONDS = Number(process.env.ABP_CHAOS_S ?? 300);
const PER_SECOND = Number(process.env.ABP_CHAOS_RATE ?? 200);
/** Kills end after this part of the time, so that the memory of one process can be watched in the rest. */
const KILLS_UNTIL = 0.6;

const folder = mkdtempSync(join(tmpdir(), 'abp-chaos-'));
const engine = await startChaosEngine();
const postgres = await startPostgres({ durable: true });
const env = {
  ABP_DATABASE_URL: await postgres.freshDatabase(),
  ABP_ENGINE_CLAUDE_URL: engine.url,
  ABP_ENGINE_CLAUDE_KEY: 'sk-test',
  ABP_LOG: 'fatal',
};
const preload = [new URL('./faults-preload.ts', import.meta.url).href];
const start = (): Promise<MeasuredServer> => startMeasured({ folder, preload, env });

let server: MeasuredServer | undefined = await start();
const tried = { kills: 0, outages: 0, diskFull: 0, clockJumps: 0 };
const memory: number[] = [];
const socketsBefore = socketsOf(server);
const callers = startPacedCallers(() => server?.url, PER_SECOND);
const begun = performance.now();
const elapsed = (): number => (performance.now() - begun) / 1000;
const say = (text: string): void => void process.stderr.write(`${elapsed().toFixed(0).padStart(4)} s  ${text}\n`);

async function kill(): Promise<void> {
  const old = server;
  server = undefined;
  say('kill -9');
  tried.kills += 1;
  await old?.close();
  server = await start();
}

async function outage(): Promise<void> {
  say('PostgreSQL ends, with all it holds, and starts again after 4 s');
  tried.outages += 1;
  await postgres.pause();
  await sleep(4000);
  await postgres.resume();
}

async function fullDisk(): Promise<void> {
  say('the disk is full for 3 s');
  tried.diskFull += 1;
  server?.child.send({ diskFull: true });
  await sleep(3000);
  server?.child.send({ diskFull: false });
}

async function clockJump(): Promise<void> {
  const clockMs = (tried.clockJumps % 2 === 0 ? 1 : -1) * 3_600_000;
  say(`the clock jumps by ${clockMs / 60_000} minutes`);
  tried.clockJumps += 1;
  server?.child.send({ clockMs });
  await sleep(1000);
}

/** One after the other, so that each meets the load alone and a report says which of them hurt. */
const FAULTS = [outage, fullDisk, clockJump];
for (let round = 0; elapsed() < SECONDS; round += 1) {
  if (elapsed() < SECONDS * KILLS_UNTIL && round % 2 === 0) await kill();
  else await FAULTS[Math.floor(round / 2) % FAULTS.length]?.();
  await sleep(6000);
  if (server !== undefined && elapsed() > SECONDS * KILLS_UNTIL) memory.push((await server.during(async () => undefined)).rssMb);
}
server?.child.send({ clockMs: 0 });
await callers.stop();
const { tally } = callers;
say(`${tally.sent} calls are over`);
const socketsAfter = await settledSockets();
const found = await accounts();
report();
engine.close();
await server?.close();
await postgres.stop();
rmSync(folder, { recursive: true, force: true });

/** Open sockets of a process, where the system shows them. */
function socketsOf({ child: { pid } }: MeasuredServer): number {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        // Closed while we looked.
        return '';
      }
    });
    return links.filter((link) => link.startsWith('socket:')).length;
  } catch {
    // Only Linux has this folder.
    return 0;
  }
}

/** Connections to engines are kept for half a minute after their last use; a leak stays. */
async function settledSockets(): Promise<number> {
  for (let tries = 0; tries < 90; tries += 1) {
    if (server !== undefined && socketsOf(server) <= socketsBefore + 4) break;
    await sleep(1000);
  }
  return server === undefined ? 0 : socketsOf(server);
}

interface Accounts {
  readonly receipts: number;
  /** Calls of the engine without a receipt, or with two. */
  readonly lost: number;
  /** Receipts of calls that nobody made. */
  readonly invented: number;
  /** Whole answers whose receipt does not say that they were completed. */
  readonly untrue: number;
  readonly verified: boolean;
}

async function accounts(): Promise<Accounts> {
  if (server === undefined) throw new Error('there is no server to ask');
  const headers = ['authorization', `Bearer ${server.token}`];
  for (let tries = 0; tries < 120; tries += 1) {
    const running = JSON.parse(String((await call(`${server.url}/v1/receipts?status=running&limit=1`, { headers })).body));
    if (running.items?.length === 0) break;
    await sleep(1000);
  }
  const text = String((await call(`${server.url}/v1/receipts/export`, { headers })).body);
  const lines = text.split('\n').filter((line) => line !== '');
  const receipts: Receipt[] = lines.map((line) => JSON.parse(line)).filter((line) => line.kind === undefined);
  const counts = new Map<string, number>();
  for (const { upstream_request: sent } of receipts) {
    if (sent !== null) counts.set(sent.sha256, (counts.get(sent.sha256) ?? 0) + 1);
  }
  const statuses = new Map(receipts.map(({ run_id, status }) => [run_id as string, status]));
  const keys = JSON.parse(String((await call(`${server.url}/v1/receipts/keys`, { headers })).body)).items;
  const publicKeys = keys.map((key: { public_key: string }) => key.public_key);
  return {
    receipts: receipts.length,
    lost: [...engine.asked].filter((sha256) => counts.get(sha256) !== 1).length,
    invented: Math.max(0, receipts.length - tally.sent),
    untrue: tally.whole.filter((run) => statuses.get(run) !== 'completed').length,
    verified: (await verifyExport([Buffer.from(text)], { publicKeys })).ok,
  };
}

function report(): void {
  const [first = 0] = memory;
  const last = memory.at(-1) ?? 0;
  const rows: (readonly [string, string | number, boolean])[] = [
    ['calls', `${tally.sent} in ${SECONDS} s (${(tally.sent / SECONDS).toFixed(0)}/s)`, tally.sent > 0],
    ['answers that came whole', tally.whole.length, tally.whole.length > 0],
    ['refused, or broken off', `${tally.refused}, ${tally.broken}`, true],
    ['kill -9, PostgreSQL restarted, disk full, clock jumps', Object.values(tried).join(', '), true],
    ['answers with wrong bytes', tally.wrong.length, tally.wrong.length === 0],
    ['receipts', found.receipts, found.verified],
    ['lost or doubled receipts', found.lost, found.lost === 0],
    ['invented receipts', found.invented, found.invented === 0],
    ['whole answers without a completed receipt', found.untrue, found.untrue === 0],
    ['chain', found.verified ? 'verifies' : 'does not verify', found.verified],
    ['sockets before and after', `${socketsBefore}, ${socketsAfter}`, socketsAfter <= socketsBefore + 4],
    ['answers of the engine left open', engine.open(), engine.open() === 0],
    ['memory of the last process, first and last, MB', `${first.toFixed(0)}, ${last.toFixed(0)}`, last < first * 1.5 + 50],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value, held] of rows) process.stdout.write(`${held ? 'held ' : 'BROKE'}  ${name.padEnd(width)}  ${value}\n`);
  process.exitCode = rows.every(([, , held]) => held) ? 0 : 1;
}
