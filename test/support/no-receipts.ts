import { AbpError } from '../../src/contract/errors.ts';
import type { Keeper } from '../../src/receipts/keeper/keeper.ts';
import type { KeeperOptions } from '../../src/receipts/keeper/keeper-protocol.ts';

/**
 * A gateway without receipts, to compare with: facts are made as usual and let go. No journal, no recording, no keeper thread, no row.
 */
export function noReceipts({ onSettled }: KeeperOptions): Keeper {
  const impossible = (): never => {
    throw new AbpError('conflict', 'this server keeps no receipts');
  };
  return {
    append: (fact) => {
      // The end is known a moment later, as with a keeper.
      if (fact.fact === 'close') setImmediate(() => onSettled([fact.run], []));
    },
    gather: () => undefined,
    flush: () => undefined,
    tape: () => undefined,
    putAside: async () => undefined,
    settled: async () => undefined,
    sealAudit: async () => 0,
    eraseBodies: async () => 0,
    watch: () => ({ changed: async () => undefined, end: () => undefined }),
    listen: () => () => undefined,
    learn: async () => undefined,
    rotate: async () => impossible(),
    remove: async () => impossible(),
    blocked: undefined,
    stalled: undefined,
    damaged: false,
    chain: 'ok',
    bucket: undefined,
    recordedBytes: undefined,
    ready: Promise.resolve(0),
    close: async () => undefined,
  };
}
