import type { Specimen } from '../../base/specimen.ts';
import { SDKS, SdkChoice, Snippet } from './snippet.tsx';

export const states: readonly Specimen[] = [
  { name: 'the choice', shows: <SdkChoice value="openai" onChange={() => undefined} /> },
  ...SDKS.map((sdk): Specimen => ({ name: sdk, shows: <Snippet engine="gemini" sdk={sdk} /> })),
  {
    name: 'short',
    shows: (
      <div className="column">
        <Snippet engine="sim" sdk="anthropic" short />
      </div>
    ),
  },
];
