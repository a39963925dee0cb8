import type { Specimen } from '../../base/specimen.ts';
import { JsonView } from './json-view.tsx';

const BODY = JSON.stringify({
  model: 'claude-sonnet-4-5',
  messages: [{ role: 'user', content: 'Which fixes are in 4.2.0?' }],
  tools: [{ name: 'a' }],
});

export const states: readonly Specimen[] = [
  { name: 'folds', shows: <JsonView label="A body" text={BODY} /> },
  { name: 'with a line that is looked at', shows: <JsonView label="A body, a line" text={BODY} at="messages[0].content" /> },
  { name: 'what is no JSON', shows: <JsonView label="A stream" text={'event: ping\ndata: {"type": "ping"}\n'} /> },
  {
    name: 'redacted, from right to left, hostile',
    shows: <JsonView label="Others" text='{"key":"[redacted]","name":"שלום","html":"<img src=x onerror=alert(1)>"}' />,
  },
];
