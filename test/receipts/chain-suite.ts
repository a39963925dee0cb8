import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReceiptStub, type SignedHead } from '../../src/contract/receipts/chain.ts';
import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { closeInterrupted } from '../../src/receipts/keeper/interrupted.ts';
import { removeReceipts } from '../../src/receipts/remove.ts';
import { openChain } from '../../src/receipts/seal/chain.ts';
import { headFile, keepHead } from '../../src/receipts/seal/kept-head.ts';
import { replaceLostKey, rotateKey } from '../../src/receipts/seal/rotate.ts';
import { verifyRun, verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { chainOf, listSealKeys } from '../../src/store/receipts/chain.ts';
import { getReceipt, listReceipts } from '../../src/store/receipts/receipts.ts';
import { ORIGIN, type SealedHome, sealedHome } from './sealed-home.ts';

/** What holds for the chain of receipts, whichever database it is in. */
export function chainSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`the chain on ${database}`, () => {
    let home: SealedHome;
    beforeEach(async () => {
      home = await sealedHome(await databaseUrl());
    });
    afterEach(() => home.close());

    const stored = () => chainOf(home.store, ORIGIN.node);
    const verify = async () => await verifyStored(home.store, await stored());
    const heads = async (): Promise<SignedHead[]> =>
      (await home.lines()).map((line) => JSON.parse(line)).filter((line) => line.kind === 'head');

    it('gives every receipt its place at its end, and signs each batch', async () => {
      const [first] = await home.seal(1);
      await home.seal(2);
      const row = await getReceipt(home.store, first ?? expect.fail());
      const receipt = Receipt.parse(row?.document);
      expect(receipt.seal).toMatchObject({ sequence: 1, previous: '0'.repeat(64), key_id: home.chain.signer.keyId });
      expect((await heads()).map(({ from, sequence, count }) => [from, sequence, count])).toEqual([
        [1, 1, 1],
        [2, 3, 3],
      ]);
      expect(await verify()).toMatchObject({ ok: true, receipts: 3, verdict: 'complete up to 3, tail unknown' });
    });

    it('signs at least once in 64 receipts', async () => {
      await home.seal(150);
      expect((await heads()).map(({ sequence }) => sequence)).toEqual([64, 128, 150]);
      expect(await verify()).toMatchObject({ ok: true, receipts: 150 });
    });

    it('seals what a killed process left open', async () => {
      await home.seal(1);
      await home.begin(3);
      expect(await closeInterrupted(home.store, home.chain, ORIGIN, { now: Date.now() })).toBe(3);
      expect(await verify()).toMatchObject({ ok: true, receipts: 4, last: 4 });
    });

    it('goes on where it was in the next process', async () => {
      await home.seal(2);
      const again = await openChain(home.store, ORIGIN.node, home.keysFolder);
      expect(again.stored).toEqual(home.chain.stored);
      expect(again.signer.keyId).toBe(home.chain.signer.keyId);
    });

    it('does not fork when two processes seal for one node', async () => {
      const other = home.sibling(await openChain(home.store, ORIGIN.node, home.keysFolder));
      await home.seal(2);
      // The other still believes that the chain is empty: it finds out, and builds on what is there.
      await expect(other.drain()).resolves.toEqual([]);
      await other.seal(2);
      await home.seal(1);
      expect(await verify()).toMatchObject({ ok: true, receipts: 5, last: 5 });
    });

    it('gives no place to a receipt that somebody else has ended', async () => {
      const [run = expect.fail()] = await home.begin(1);
      const other = await openChain(home.store, ORIGIN.node, home.keysFolder);
      await closeInterrupted(home.store, other, ORIGIN, { now: Date.now() });
      await home.end(run);
      await home.seal(1);
      expect((await getReceipt(home.store, run))?.document).toMatchObject({
        status: 'failed',
        reason: 'interrupted',
        seal: { sequence: 1 },
      });
      expect(await verify()).toMatchObject({ ok: true, receipts: 2, last: 2 });
    });

    it('changes its key by an entry that both keys sign; the old private key is gone', async () => {
      await home.seal(1);
      const { oldKey, newKey } = await rotateKey(home.store, home.chain, home.keysFolder);
      await home.seal(1);
      expect((await heads()).map(({ key_id }) => key_id)).toEqual([oldKey, newKey, newKey]);
      const keys = await listSealKeys(home.store);
      expect(keys.map(({ id, retiredAt }) => [id, retiredAt === null])).toEqual([
        [oldKey, false],
        [newKey, true],
      ]);
      expect(home.keyFiles()).toEqual([`${newKey}.pem`]);
      expect(await verifyStored(home.store, await stored(), { publicKeys: [keys[0]?.publicKey ?? ''] })).toMatchObject({ ok: true });
    });

    it('says so when its key is missing, and goes on with a new one when it is told that it is lost', async () => {
      await home.seal(1);
      await expect(replaceLostKey(home.store, ORIGIN.node, home.keysFolder)).rejects.toThrow('is not lost');
      rmSync(join(home.keysFolder, `${home.chain.signer.keyId}.pem`));
      await expect(openChain(home.store, ORIGIN.node, home.keysFolder)).rejects.toThrow('abp receipts keys rotate --lost');
      const { oldKey, newKey } = await replaceLostKey(home.store, ORIGIN.node, home.keysFolder);
      const found = await verify();
      expect(found).toMatchObject({ ok: true, keys: [oldKey, newKey] });
      expect(found.notes).toEqual([`entry 2 replaces the lost key ${oldKey} by ${newKey} without its signature`]);
      const publicKeys = (await listSealKeys(home.store)).slice(0, 1).map(({ publicKey }) => publicKey);
      expect(await verifyStored(home.store, await stored(), { publicKeys })).toMatchObject({
        ok: false,
        problems: [{ code: 'wrong_key' }],
      });
    });

    const cutBehind = async (sequence: number): Promise<void> => {
      const { db } = home.store;
      for (const table of ['receipts', 'chain_heads', 'chain_entries'] as const) {
        await db.deleteFrom(table).where('sequence', '>', sequence).execute();
      }
      const last = await db.selectFrom('receipts').select('document').where('sequence', '=', sequence).executeTakeFirstOrThrow();
      await db
        .updateTable('chains')
        .set({ sequence, hash: JSON.parse(last.document).seal.hash })
        .execute();
    };

    it('notices at its start that entries were taken off its end, names them, and gives none of their places away', async () => {
      await home.seal(3);
      await home.seal(2);
      keepHead(await headFile(home.store, home.keysFolder), home.keysFolder, JSON.stringify((await heads()).at(-1)));
      const same = await openChain(home.store, ORIGIN.node, home.keysFolder);
      expect(same.stored.sequence).toBe(5);
      await cutBehind(3);
      const again = await openChain(home.store, ORIGIN.node, home.keysFolder);
      expect(again.stored.sequence).toBe(6);
      await home.sibling(again).seal(1);
      const found = await verify();
      expect(found).toMatchObject({ ok: false, last: 7 });
      expect(found.problems.map(({ code, message }) => [code, message])).toContainEqual(['missing', 'entries 4 to 5 are missing']);
      expect(found.notes[0]).toMatch(/^entry 6: at .* the node found that its entries 4 to 5 had been taken off the database$/);
    });

    it('notices the same while it runs', async () => {
      await home.seal(3);
      await cutBehind(1);
      await home.seal(1);
      expect((await stored()).sequence).toBe(4);
      expect((await verify()).problems.map(({ message }) => message)).toContainEqual('entries 2 to 3 are missing');
    });

    it.each([
      ['key_id', { key_id: 'key_of_another' }],
      ['status', { status: 'failed' }],
      ['engine', { engine: 'claude' }],
      ['model', { model: null }],
      ['started_at', { started_at: 1 }],
      ['tags', { tags: '[]' }],
    ])('finds a column %s that somebody changed, which lists and permissions look at', async (name, changes) => {
      const [, run = expect.fail()] = await home.seal(3, { keyId: 'key_mine' });
      await home.store.db.updateTable('receipts').set(changes).where('run_id', '=', run.slice('run_'.length)).execute();
      const found = await verify();
      expect(found).toMatchObject({ ok: false, problem_count: 1, problems: [{ code: 'column_changed', sequence: 2, run_id: run }] });
      expect(found.verdict).toContain(`with another ${name} than it was sealed with`);
      expect(await verifyRun(home.store, run)).toMatchObject({ ok: false });
    });

    it('finds a stub that somebody put in the place of a receipt, which no entry of the chain removed', async () => {
      const [, run = expect.fail()] = await home.seal(3);
      const row = await getReceipt(home.store, run);
      const stub = JSON.stringify({ run_id: run, status: 'archived', seal: row?.document.seal });
      await home.store.db
        .updateTable('receipts')
        .set({ status: 'archived', document: stub })
        .where('run_id', '=', run.slice('run_'.length))
        .execute();
      expect(await verify()).toMatchObject({ ok: false, problems: [{ code: 'unrecorded_removal', sequence: 2 }] });
      expect(await verifyRun(home.store, run)).toMatchObject({ ok: false });
    });

    it.each([
      [
        'is a fault where it ended after the first key was made',
        Number.MAX_SAFE_INTEGER,
        { ok: false, problems: [{ code: 'unsealed' }], notes: [] },
      ],
      ['is told where it ended before', 1, { ok: true, notes: [expect.stringContaining('from the time before anything was sealed here')] }],
    ])('a receipt of an ended run that nobody sealed %s', async (_, completed_at, found) => {
      const [, sealed = expect.fail()] = await home.seal(3);
      const row = await home.store.db
        .selectFrom('receipts')
        .selectAll()
        .where('run_id', '=', sealed.slice('run_'.length))
        .executeTakeFirstOrThrow();
      const run = newRunId();
      const put = { ...row, run_id: run.slice('run_'.length), chain: null, sequence: null, completed_at };
      await home.store.db.insertInto('receipts').values(put).execute();
      expect(await verify()).toMatchObject(found);
      await expect(verifyRun(home.store, run)).rejects.toThrow('it has ended, but');
    });

    it('keeps stubs of removed receipts and still verifies', async () => {
      const gone = await home.seal(3, { keyId: 'key_gone', tags: ['private'], task: 'secret' });
      await home.seal(2, { keyId: 'key_stays' });
      const removed = await removeReceipts(home.store, home.chain, { status: 'deleted', reason: 'asked', key: 'key_gone' });
      expect(removed).toEqual(gone);
      expect(await verify()).toMatchObject({ ok: true, receipts: 2, removed: 3, withheld: 0 });
      const row = await getReceipt(home.store, gone[0] ?? expect.fail());
      expect(ReceiptStub.parse(row?.document)).toMatchObject({ status: 'deleted', removal: 6, seal: { sequence: 1 } });
      expect(JSON.stringify(row)).not.toMatch(/secret|private|key_gone|sim-1/);
      expect((await listReceipts(home.store, { key: 'key_gone' })).items).toEqual([]);
      expect(await removeReceipts(home.store, home.chain, { status: 'deleted', reason: 'asked', key: 'key_gone' })).toEqual([]);
      expect(await verifyRun(home.store, gone[1] ?? expect.fail())).toMatchObject({ ok: true, receipts: 0, first: 2 });
    });

    it('archives what is old, and deletes what was archived', async () => {
      const old = await home.seal(2, { at: 1000 }, { at: 2000 });
      await home.seal(1);
      expect(await removeReceipts(home.store, home.chain, { status: 'archived', reason: 'retention', endedBefore: 3000 })).toEqual(old);
      const row = await getReceipt(home.store, old[0] ?? expect.fail());
      expect(row).toMatchObject({ status: 'archived', engine: 'sim', keyId: null });
      expect(await removeReceipts(home.store, home.chain, { status: 'deleted', reason: 'asked', endedBefore: 3000 })).toEqual(old);
      expect((await getReceipt(home.store, old[0] ?? expect.fail()))?.engine).toBeNull();
      expect(await verify()).toMatchObject({ ok: true, removed: 2, last: 5 });
    });

    it('is found to be cut when rows vanish from the database', async () => {
      await home.seal(3);
      await home.store.db.deleteFrom('receipts').where('sequence', '=', 3).execute();
      await home.store.db.deleteFrom('chain_heads').execute();
      expect((await verify()).problems.map(({ code }) => code)).toContain('cut');
    });

    it('is found to be changed when a row is', async () => {
      const [run = expect.fail()] = await home.seal(2);
      const { document } = await home.store.db
        .selectFrom('receipts')
        .select('document')
        .where('sequence', '=', 1)
        .executeTakeFirstOrThrow();
      await home.store.db
        .updateTable('receipts')
        .set({ document: document.replace('"output_tokens":4', '"output_tokens":3') })
        .where('sequence', '=', 1)
        .execute();
      expect(await verify()).toMatchObject({ ok: false, problems: [{ code: 'changed', sequence: 1, run_id: run }] });
      expect(await verifyRun(home.store, run)).toMatchObject({ ok: false });
    });

    it('has no place for a run that has not ended, or that is not known', async () => {
      const [run = expect.fail()] = await home.begin(1);
      await expect(verifyRun(home.store, run)).rejects.toMatchObject({ code: 'conflict' });
      await expect(verifyRun(home.store, newRunId())).rejects.toMatchObject({ code: 'not_found' });
    });
  });
}
