import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { z } from 'zod';
import type { Check } from '../../src/calls/admission.ts';
import { Config } from '../../src/gateway/config.ts';
import type { EngineConfig } from '../../src/gateway/engine-config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { type ServerOptions, startServer } from '../../src/gateway/server.ts';
import { openHome } from '../../src/home/home.ts';
import { readyHome } from './ready-home.ts';

export interface GatewayOptions {
  readonly engines?: Readonly<Record<string, EngineConfig>>;
  /** As in `abp.toml`; the port is always a free one. */
  readonly config?: z.input<typeof Config>;
  readonly databaseUrl?: string;
  /** A home to start on; without it a new one that vanishes with the server. */
  readonly home?: string;
  readonly checks?: readonly Check[];
  /** Whether the log gets a line for every request. */
  readonly logsRequests?: boolean;
  /** What keeps receipts; the real keeper unless told. */
  readonly keep?: ServerOptions['keep'];
}

/** A server inside the test process, on a free port of loopback. */
export interface TestGateway {
  readonly url: string;
  readonly home: string;
  readonly token: string;
  readonly gateway: Gateway;
  /** Everything it has logged. */
  logs(): string;
  /** Its warnings and errors: what it says once a minute in all peace is none. */
  faults(): string;
  close(): Promise<void>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const parent = options.home === undefined ? mkdtempSync(join(tmpdir(), 'abp-gateway-')) : undefined;
  const home = parent === undefined ? openHome({ path: options.home }) : readyHome(join(parent, 'home'));
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(...String(chunk).split(/(?<=\n)/));
      done();
    },
  });
  const config = Config.parse({
    ...options.config,
    server: { ...options.config?.server, port: 0 },
    database: options.databaseUrl === undefined ? {} : { url: options.databaseUrl },
    engines: { ...options.config?.engines, ...options.engines },
  });
  const log = pino({ level: 'debug', serializers: { error: pino.stdSerializers.err } }, sink);
  const remove = (): void => {
    if (parent !== undefined) rmSync(parent, { recursive: true, force: true });
  };
  try {
    const server = await startServer({
      config,
      home,
      version: '0.0.0-test',
      log,
      ...(options.checks === undefined ? {} : { checks: options.checks }),
      ...(options.keep === undefined ? {} : { keep: options.keep }),
      ...(options.logsRequests === undefined ? {} : { logsRequests: options.logsRequests }),
    });
    const close = async (): Promise<void> => {
      await server.close();
      remove();
    };
    return {
      url: server.url,
      home: home.path,
      token: home.token,
      gateway: server.gateway,
      logs: () => lines.join(''),
      faults: () => lines.filter(isFault).join(''),
      close,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const WARNING = 40;

function isFault(line: string): boolean {
  return JSON.parse(line).level >= WARNING;
}
