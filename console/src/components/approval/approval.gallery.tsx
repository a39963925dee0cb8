import type { Interaction } from '../../api/interactions.ts';
import type { Specimen } from '../../base/specimen.ts';
import { Approval } from './approval.tsx';

const COMMAND: Interaction = {
  id: 'req_1',
  kind: 'approval',
  run_id: 'run_01a1e125ae8c7069a12b2a7f1a7a3fee',
  session_id: null,
  agent: 'claude',
  title: 'Move the lease table to its own migration',
  tool: 'Bash',
  input: { command: 'npm run db:migrate -- --env staging' },
  cwd: '/srv/app',
  last_words: 'The migration file is in place. I will apply it to staging to see that it runs.',
  asked_at: new Date(Date.now() - 72_000).toISOString(),
  cost_nano_usd: 312_000_000,
  budget_nano_usd: 2_000_000_000,
  facts: ['runs_command'],
  answer: { method: 'POST', path: '/v1/runs/run_01a1e125ae8c7069a12b2a7f1a7a3fee/interactions/req_1' },
};
const WRITE: Interaction = {
  ...COMMAND,
  tool: 'Edit',
  input: { file_path: 'src/queue/lease.ts', old_string: 'const row = await db.oldest();\nreturn row;', new_string: 'return db.claim();' },
  facts: ['writes', 'writes_outside'],
};
const CALL: Interaction = {
  ...COMMAND,
  run_id: null,
  session_id: 'session_1',
  agent: 'support-desk',
  tool: 'refund_order',
  input: { order: '20481177', amount_usd: 84, reason: 'damaged in transit' },
  cwd: null,
  last_words: null,
  budget_nano_usd: null,
  facts: [],
};
const LONG: Interaction = {
  ...COMMAND,
  agent: 'ש'.repeat(60),
  title: `${'a very long name '.repeat(20)}<b>`,
  input: { command: 'x'.repeat(900) },
};

export const states: readonly Specimen[] = [
  { name: 'a command, selected', shows: <Approval item={COMMAND} selected /> },
  { name: 'a file', shows: <Approval item={WRITE} selected={false} /> },
  { name: 'a call of an agent', shows: <Approval item={CALL} selected={false} /> },
  {
    name: 'pinned to its run, in a narrow column',
    shows: (
      <div className="column">
        <Approval item={COMMAND} selected pinned />
      </div>
    ),
  },
  { name: 'a question', shows: <Approval item={{ ...CALL, kind: 'input', input: 'Which of the two orders?' }} selected={false} /> },
  { name: 'locked', shows: <Approval item={CALL} selected={false} locked="this needs a signed-in browser: abp console prints a link" /> },
  {
    name: 'answered by somebody else',
    shows: (
      <Approval
        item={CALL}
        selected={false}
        closed={{ by: 'docs-team', via: 'phone', at: new Date().toISOString(), decision: 'denied', reason: 'use npm ci' }}
      />
    ),
  },
  { name: 'its run ended meanwhile', shows: <Approval item={COMMAND} selected={false} closed="ended" /> },
  { name: 'very long, from right to left', shows: <Approval item={LONG} selected={false} /> },
];
