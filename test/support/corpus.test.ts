import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { besideCorpus, corpusFolder } from './corpus.ts';

it('what lies beside the recorded exchanges is found wherever the clone is, and nothing is where they are not', () => {
  const shared = mkdtempSync(join(tmpdir(), 'abp-shared-'));
  onTestFinished(() => rmSync(shared, { recursive: true }));
  mkdirSync(join(shared, 'corpus'));
  mkdirSync(join(shared, 'agent-captures'));
  const given = { ABP_CORPUS: join(shared, 'corpus') };
  expect(corpusFolder(given)).toBe(join(shared, 'corpus'));
  expect(besideCorpus('agent-captures', given)).toBe(join(shared, 'agent-captures'));
  expect(besideCorpus('vendor-openapi', given)).toBeUndefined();
  for (const absent of [{}, { ABP_CORPUS: '' }, { ABP_CORPUS: join(shared, 'nowhere') }]) {
    expect(corpusFolder(absent)).toBeUndefined();
    expect(besideCorpus('agent-captures', absent)).toBeUndefined();
  }
});
