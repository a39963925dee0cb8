import { checkSeal, checkTail, type Heads, type Proof, type SeenHead } from './check.ts';

export interface Ask {
  readonly run: string;
  readonly receipt: unknown;
  readonly proof: Proof;
  /** A head that was kept elsewhere, and what the server has to compare with it. */
  readonly kept: SeenHead | null;
  readonly heads: Heads;
}

async function answer({ run, receipt, proof, heads, kept }: Ask): Promise<unknown> {
  const report = await checkSeal(run, receipt, proof);
  return { report, tail: kept === null ? null : await checkTail(heads, proof.keys, kept) };
}

// A worker, so that a long chain does not hold the page.
self.addEventListener('message', (event: MessageEvent<Ask>) => {
  answer(event.data).then(
    (found) => self.postMessage(found),
    (error: unknown) => self.postMessage({ error: error instanceof Error ? error.message : String(error) }),
  );
});
