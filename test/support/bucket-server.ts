import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import type { z } from 'zod';
import type { BucketConfig } from '../../src/gateway/bucket-config.ts';

const BUCKET = 'bodies';

/** An object storage that checks signatures, on a free port of loopback. */
export interface BucketServer {
  /** `[recording.store]` for it. */
  readonly store: z.input<typeof BucketConfig>;
  /** Names of the objects in it. */
  objects(): string[];
  stop(): Promise<void>;
  /** Starts again on the same port, with what it had. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startBucketServer(): Promise<BucketServer> {
  const directory = mkdtempSync(join(tmpdir(), 'abp-bucket-'));
  const open = (port: number): S3rver =>
    new S3rver({ port, address: '127.0.0.1', silent: true, directory, resetOnClose: false, configureBuckets: [{ name: BUCKET }] });
  let server = open(0);
  const { port } = await server.run();
  const stop = (): Promise<void> => server.close();
  const objects = (): string[] =>
    readdirSync(join(directory, BUCKET), { recursive: true })
      .map(String)
      .flatMap((name) => (name.endsWith('._S3rver_object') ? [name.slice(0, -'._S3rver_object'.length)] : []));
  return {
    store: { endpoint: `http://127.0.0.1:${port}`, bucket: BUCKET, prefix: 'abp/', access_key: 'S3RVER', secret_key: 'S3RVER' },
    objects,
    stop,
    start: async () => {
      server = open(port);
      await server.run();
    },
    close: async () => {
      await stop().catch(() => undefined); // a test may have left it stopped
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
