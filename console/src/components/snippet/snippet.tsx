import type { JSX } from 'react';
import { CopyId, Segmented } from '../bits/bits.tsx';
import './snippet.css';

export const SDKS = ['anthropic', 'openai', 'google', 'curl', 'claude-code'] as const;
export type Sdk = (typeof SDKS)[number];
const NAMES = [
  ['anthropic', 'Anthropic'],
  ['openai', 'OpenAI'],
  ['google', 'Google'],
  ['curl', 'curl'],
  ['claude-code', 'Claude Code'],
] as const;

/** The dialect that an SDK speaks. */
export const DIALECTS: Readonly<Record<Sdk, string>> = {
  anthropic: 'claude',
  openai: 'openai-chat',
  google: 'gemini',
  curl: 'claude',
  'claude-code': 'claude',
};

function codeOf(sdk: Sdk, base: string): readonly [string, string, string] {
  switch (sdk) {
    case 'anthropic':
      return [
        `import Anthropic from '@anthropic-ai/sdk';\n\nconst client = new Anthropic({ baseURL: '`,
        base,
        `', apiKey: 'none' });\nconst answer = await client.messages.create({\n  model: 'any-name', max_tokens: 200,\n  messages: [{ role: 'user', content: 'say hello from the sim' }],\n});\nconsole.log(answer.content[0].text);`,
      ];
    case 'openai':
      return [
        `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '`,
        `${base}/v1`,
        `', apiKey: 'none' });\nconst answer = await client.chat.completions.create({\n  model: 'any-name',\n  messages: [{ role: 'user', content: 'say hello from the sim' }],\n});\nconsole.log(answer.choices[0].message.content);`,
      ];
    case 'google':
      return [
        `import { GoogleGenAI } from '@google/genai';\n\nconst client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: '`,
        base,
        `' } });\nconst answer = await client.models.generateContent({\n  model: 'any-name', contents: 'say hello from the sim',\n});\nconsole.log(answer.text);`,
      ];
    case 'claude-code':
      return [`export ANTHROPIC_BASE_URL=`, base, `\nexport ANTHROPIC_AUTH_TOKEN=none\nclaude -p 'say hello from the sim'`];
    default:
      return [
        `curl `,
        `${base}/v1/messages`,
        ` \\\n  -H 'content-type: application/json' \\\n  -d '{"model":"any-name","max_tokens":200,"messages":[{"role":"user","content":"say hello from the sim"}]}'`,
      ];
  }
}

/** Lines for a shell, which are short as they are. */
const SHELL: ReadonlySet<Sdk> = new Set(['curl', 'claude-code']);

/** The client alone, a member in a line. */
function shortened([before, base, after]: readonly [string, string, string]): readonly [string, string, string] {
  const [end = ''] = after.split('\n');
  return [
    before.replace(/\(\{ /, '({\n  ').replace(', httpOptions', ',\n  httpOptions'),
    base,
    end.replace("', ", "',\n  ").replace(' });', ',\n});'),
  ];
}

interface SdkChoiceProps {
  readonly value: Sdk;
  /** Only SDKs and curl, where there is no room for programs. */
  readonly few?: boolean;
  onChange(sdk: Sdk): void;
}

export function SdkChoice({ value, few = false, onChange }: SdkChoiceProps): JSX.Element {
  return <Segmented label="SDK" options={few ? NAMES.slice(0, 4) : NAMES} value={value} onChange={onChange} />;
}

interface SnippetProps {
  readonly engine: string;
  readonly sdk: Sdk;
  /** Leaves out the call, which everybody knows, and keeps what has to change. */
  readonly short?: boolean;
}

/** The base URL for an SDK and an engine, in the words of that SDK. */
export function Snippet({ engine, sdk, short = false }: SnippetProps): JSX.Element {
  const whole = codeOf(sdk, `${location.origin}/e/${engine}`);
  const code = short && !SHELL.has(sdk) ? shortened(whole) : whole;
  return (
    <div className="snippet">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <pre className="code" tabIndex={0}>
        {code[0]}
        <b>{code[1]}</b>
        {code[2]}
        <CopyId text={code.join('')} />
      </pre>
    </div>
  );
}
