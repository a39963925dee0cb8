import type { JSX } from 'react';
import { duration } from '../../base/format.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { objectOf } from './step-view.tsx';
import type { Step } from './steps.ts';

const ICONS: Readonly<Record<Step['kind'], string>> = {
  ...{ turn: 'down', text: 'list', thinking: 'think', tool: 'file', question: 'clock', note: 'more' },
};

/** Of a path its last part, of a command its beginning. */
function shortObject(step: Step): string {
  const text = objectOf(step);
  return text.includes(' ') || text.startsWith('{') ? text : (text.split('/').at(-1) ?? text);
}

function titleOf(step: Step): string {
  if (step.kind === 'text') return step.body.split('\n')[0]?.slice(0, 60) || 'Says something';
  if (step.kind !== 'tool') return step.title;
  return step.exit === undefined && step.title !== 'Bash' ? `${step.title} ${shortObject(step)}` : shortObject(step);
}

function iconOf(step: Step): JSX.Element {
  if (step.asked?.state === 'waiting') return <i className="dot warn" />;
  if (step.state === 'failed')
    return (
      <span className="bad">
        <Icon name="refused" label="failed" />
      </span>
    );
  return <Icon name={step.kind === 'tool' && step.exit !== undefined ? 'term' : ICONS[step.kind]} />;
}

function tookOf(step: Step, until: number): string {
  if (step.kind === 'text' || step.kind === 'note') return '';
  const ms = (step.end ?? until) - (step.asked?.end ?? step.at);
  return step.kind === 'turn' || ms >= 1 ? duration(ms) : '';
}

interface TreeProps {
  readonly steps: readonly Step[];
  readonly until: number;
  readonly hot: string | null;
  onHot(id: string | null): void;
  onOpen(id: string): void;
}

/** Turns and steps of a run; what is said between them stands in the middle alone. */
export function StepTree({ steps, until, hot, onHot, onOpen }: TreeProps): JSX.Element {
  const shown = steps.filter(({ kind }) => kind !== 'text' && kind !== 'note');
  return (
    <nav className="tree scroll" aria-label="Steps">
      {shown.map((step) => (
        <button
          key={step.id}
          type="button"
          className={`${step.kind === 'turn' ? 'turn' : 'c'}${step.id === hot ? ' on' : ''}`}
          {...(step.id === hot ? { 'aria-current': 'step' as const } : {})}
          onMouseEnter={() => onHot(step.id)}
          onMouseLeave={() => onHot(null)}
          onClick={() => onOpen(step.id)}
        >
          {iconOf(step)} <span className="el">{titleOf(step)}</span>
          {step.asked !== null && step.asked.state === 'approved' ? (
            <span className="ok">
              <Icon name="check" label="approved" size={12} />
            </span>
          ) : null}
          <span className="d">{tookOf(step, until)}</span>
        </button>
      ))}
    </nav>
  );
}
