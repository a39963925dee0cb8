import { type JSX, useState } from 'react';
import type { Receipt } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import { Diff } from '../../components/diff/diff.tsx';
import { replacement } from '../../components/diff/replacement.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import type { Asked, Step } from './steps.ts';

const MOST_LINES = 200;

/** Who answered the questions of a run, as its receipt says. */
export type Approvals = NonNullable<Receipt['approvals']>;

function offset(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

interface StepProps {
  readonly step: Step;
  readonly began: number;
  readonly approvals: Approvals;
}

/** One step of a run: text, thinking (closed), a tool with its arguments and result, a question and its answer. */
export function StepView({ step, began, approvals }: StepProps): JSX.Element {
  return (
    <>
      <span className="tm m">{offset(step.at - began)}</span>
      <div className="what">{bodyOf(step, approvals)}</div>
    </>
  );
}

function bodyOf(step: Step, approvals: Approvals): JSX.Element {
  if (step.kind === 'text') return <Markdown text={step.body} />;
  if (step.kind === 'turn') return <p className="mute s md">{step.title}</p>;
  if (step.kind === 'note') return <p className="mute s">{step.title}</p>;
  if (step.kind === 'thinking') {
    return (
      <details className="th">
        <summary>Thinking{step.end === null || step.end === step.at ? '' : `, ${duration(step.end - step.at)}`}</summary>
        <p>{step.body}</p>
      </details>
    );
  }
  if (step.kind === 'question') {
    return (
      <p className="s">
        {step.title} <Answered asked={step.asked} approvals={approvals} />
      </p>
    );
  }
  return <Tool step={step} approvals={approvals} />;
}

/** Who said yes or no, and how fast. */
function Answered({ asked, approvals }: { readonly asked: Asked | null; readonly approvals: Approvals }): JSX.Element | null {
  if (asked === null) return null;
  if (asked.end === null) {
    return (
      <span className="warn s nw">
        <Icon name="clock" /> waits for an answer
      </span>
    );
  }
  const denied = asked.state === 'denied';
  const by = approvals.find(({ id }) => id === asked.id)?.by;
  return (
    <span className={denied ? 'bad s' : 'ok s'} title={asked.reason}>
      <Icon name={denied ? 'refused' : 'check'} /> {asked.state}
      {by === undefined ? '' : ` by ${by}`} after {duration(asked.end - asked.at)}
      {denied && asked.reason !== '' ? `: “${asked.reason}”` : ''}
    </span>
  );
}

function member(input: unknown, name: string): string | null {
  if (typeof input !== 'object' || input === null) return null;
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : null;
}

/** The object of a tool: the command, the file, or its arguments as they are. */
export function objectOf({ input }: Step): string {
  const named = member(input, 'command') ?? member(input, 'file_path') ?? member(input, 'path') ?? member(input, 'pattern');
  return named ?? (input === undefined ? '' : JSON.stringify(input));
}

/** The changes that a tool made or wants to make, as lines of a diff; empty for one that changes no file. */
function diffOf({ diff, input }: Step): string {
  if (diff !== '') return diff;
  const after = member(input, 'new_string') ?? (member(input, 'file_path') === null ? null : member(input, 'content'));
  return after === null ? '' : replacement(member(input, 'old_string') ?? '', after);
}

function Tool({ step, approvals }: { readonly step: Step; readonly approvals: Approvals }): JSX.Element {
  const isCommand = member(step.input, 'command') !== null;
  const diff = diffOf(step);
  const began = step.asked?.end ?? step.at;
  return (
    <div className="box">
      <div className="h">
        <span className={step.state === 'failed' ? 'bad' : 'ink2'}>
          <Icon name={step.state === 'failed' ? 'refused' : isCommand ? 'term' : 'file'} label={step.state} />
        </span>
        {isCommand ? null : <b className="md">{step.title}</b>}
        <code className="el">{objectOf(step)}</code>
        <Lines change={step.change} />
        <span className="grow" />
        <Answered asked={step.asked} approvals={approvals} />
        <Exit step={step} />
        <span className="mute m s nw">{tookOf(step, began)}</span>
      </div>
      {diff === '' ? <Output text={step.body} /> : <Diff text={diff} />}
      {diff !== '' && step.state === 'failed' ? <Output text={step.body} /> : null}
    </div>
  );
}

/** How long a tool took; nothing where it waits, or took less than can be told. */
function tookOf({ end, asked }: Step, began: number): string {
  if (end === null) return asked?.end === null ? '' : 'running';
  return end - began < 1 ? '' : duration(end - began);
}

export function Lines({ change }: { readonly change: Pick<NonNullable<Step['change']>, 'added' | 'removed'> | null }): JSX.Element | null {
  if (change === null) return null;
  return (
    <span className="m s nw">
      {change.added === 0 ? null : <span className="ok">+{change.added}</span>}{' '}
      {change.removed === 0 ? null : <span className="bad">−{change.removed}</span>}
    </span>
  );
}

function Exit({ step: { exit } }: { readonly step: Step }): JSX.Element | null {
  if (exit === undefined) return null;
  return <span className={exit === 0 ? 'ok s nw' : 'bad s nw'}>{exit === null ? 'no exit code' : `exit ${exit}`}</span>;
}

function Output({ text }: { readonly text: string }): JSX.Element | null {
  const [all, setAll] = useState(false);
  if (text === '') return null;
  const lines = text.split('\n');
  const cut = !all && lines.length > MOST_LINES;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <pre className="out" tabIndex={0}>
      {cut ? lines.slice(0, MOST_LINES).join('\n') : text}
      {cut ? (
        <button type="button" className="link" onClick={() => setAll(true)}>
          show all {lines.length} lines
        </button>
      ) : null}
    </pre>
  );
}
