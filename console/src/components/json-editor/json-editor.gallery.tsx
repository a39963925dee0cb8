import type { Specimen } from '../../base/specimen.ts';
import { JsonEditor } from './json-editor.tsx';

const TEXT =
  '{\n  "model": "claude-sonnet-4-5",\n  "top_k": 40,\n  "metadata": { "user_id": "u_4812" },\n  "thinking": { "type": "enabled" }\n}';

export const states: readonly Specimen[] = [
  {
    name: 'to write, with fates in the gutter',
    shows: (
      <div className="tall">
        <JsonEditor
          label="What you send"
          value={TEXT}
          onChange={() => undefined}
          fates={[
            { line: 2, fate: 'renamed', note: '' },
            { line: 3, fate: 'refused', note: 'Top-k sampling is not supported' },
            { line: 4, fate: 'dropped', note: 'has no form on Gemini' },
            { line: 5, fate: 'emulated', note: 'thinkingConfig' },
          ]}
        />
      </div>
    ),
  },
  {
    name: 'to read',
    shows: (
      <div className="tall">
        <JsonEditor label="What the engine gets" value={TEXT} />
      </div>
    ),
  },
];
