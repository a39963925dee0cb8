import { type JSX, useState } from 'react';
import { duration } from '../../base/format.ts';
import { Diff, replacement } from '../../components/diff/diff.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import type { Step } from './steps.ts';

const MOST_LINES = 200;

function offset(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** One step of a run: text, thinking (closed), a tool with its arguments and result, a question and its answer. */
export function StepView({ step, began }: { readonly step: Step; readonly began: number }): JSX.Element {
  return (
    <div className="ev" id={step.id}>
      <span className="tm m">{offset(step.at - began)}</span>
      <div>{bodyOf(step)}</div>
    </div>
  );
}

function bodyOf(step: Step): JSX.Element {
  if (step.kind === 'text') return <Markdown text={step.body} />;
  if (step.kind === 'note') return <p className="mute s">{step.title}</p>;
  if (step.kind === 'thinking') {
    return (
      <details className="th">
        <summary>Thinking{step.end === null ? '' : `, ${duration(step.end - step.at)}`}</summary>
        <p>{step.body}</p>
      </details>
    );
  }
  return step.kind === 'approval' ? <Asked step={step} /> : <Tool step={step} />;
}

function Asked({ step }: { readonly step: Step }): JSX.Element {
  const took = step.end === null ? '' : ` after ${duration(step.end - step.at)}`;
  return (
    <p className={step.state === 'denied' ? 'bad s' : 'ok s'}>
      <Icon name={step.state === 'denied' ? 'refused' : step.state === 'approved' ? 'check' : 'clock'} /> {step.title}:{' '}
      {step.state === 'running' ? 'waits' : step.state}
      {took}
    </p>
  );
}

function member(input: unknown, name: string): string | null {
  if (typeof input !== 'object' || input === null) return null;
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : null;
}

function Tool({ step }: { readonly step: Step }): JSX.Element {
  const command = member(step.input, 'command');
  const path = member(step.input, 'file_path') ?? member(step.input, 'path');
  const after = member(step.input, 'new_string') ?? member(step.input, 'content');
  return (
    <div className="box">
      <div className="h">
        <Icon name={step.state === 'failed' ? 'refused' : path === null ? 'term' : 'file'} />
        <b className="md">{step.title}</b>
        <code className="el grow">{command ?? path ?? (step.input === undefined ? '' : JSON.stringify(step.input))}</code>
        <span className={step.state === 'failed' ? 'bad m s' : 'mute m s'}>
          {step.end === null ? 'running' : duration(step.end - step.at)}
        </span>
      </div>
      {path !== null && after !== null ? (
        <Diff text={replacement(member(step.input, 'old_string') ?? '', after)} />
      ) : (
        <Output text={step.body} />
      )}
    </div>
  );
}

function Output({ text }: { readonly text: string }): JSX.Element | null {
  const [all, setAll] = useState(false);
  if (text === '') return null;
  const lines = text.split('\n');
  const cut = !all && lines.length > MOST_LINES;
  return (
    <pre className="out">
      {cut ? lines.slice(0, MOST_LINES).join('\n') : text}
      {cut ? (
        <button type="button" className="link" onClick={() => setAll(true)}>
          show all {lines.length} lines
        </button>
      ) : null}
    </pre>
  );
}
