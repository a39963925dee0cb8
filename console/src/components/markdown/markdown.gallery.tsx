import type { Specimen } from '../../base/specimen.ts';
import { Markdown } from './markdown.tsx';

const TEXT = `# Release 4.2.0

It has **three** fixes:

- the \`lease\` race under load
- a wrong time zone

\`\`\`sh
npm install agent-backplane@4.2.0
\`\`\``;

export const states: readonly Specimen[] = [
  { name: 'what helps reading', shows: <Markdown text={TEXT} /> },
  { name: 'what stays text', shows: <Markdown text={'<script>alert(1)</script> ![x](http://x/y.png) [a link](javascript:alert(1))'} /> },
];
