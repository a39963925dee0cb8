import { expect, it } from 'vitest';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrRequest } from '../../ir/request.ts';
import { readTranscript } from './transcript.ts';

const requestOf = (messages: readonly IrMessage[]): IrRequest => ({
  model: 'm',
  stream: false,
  messages,
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
});

it('does not take a labelled system message for what the user asked', () => {
  const said = { kind: 'text', text: 'write the text hi into the file a.txt' } as const;
  const label = { kind: 'text', text: '[system instruction]\n' } as const;
  const system = { kind: 'text', text: '# Environment' } as const;
  const apart = requestOf([
    { role: 'user', parts: [said] },
    { role: 'user', parts: [label, system] },
  ]);
  const joined = requestOf([{ role: 'user', parts: [said, label, system] }]);
  for (const request of [apart, joined]) expect(readTranscript(request)).toMatchObject({ ask: said.text, sentences: [{}] });
});
