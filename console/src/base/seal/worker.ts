import { checkSeal, type Proof } from './check.ts';

interface Ask {
  readonly run: string;
  readonly receipt: unknown;
  readonly proof: Proof;
}

// A worker, so that a long chain does not hold the page.
self.addEventListener('message', (event: MessageEvent<Ask>) => {
  const { run, receipt, proof } = event.data;
  checkSeal(run, receipt, proof).then(
    (report) => self.postMessage({ report }),
    (error: unknown) => self.postMessage({ error: error instanceof Error ? error.message : String(error) }),
  );
});
