import { useVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { type Approvals, StepView } from './step-view.tsx';
import type { Step } from './steps.ts';

/** How near to the end counts as being there. */
const NEAR = 40;

export interface TranscriptHandle {
  open(id: string): void;
  toEnd(): void;
}

interface TranscriptProps {
  readonly steps: readonly Step[];
  readonly began: number;
  readonly approvals: Approvals;
  readonly live: boolean;
  readonly hot: string | null;
  readonly handle: RefObject<TranscriptHandle | null>;
  readonly nothing: string;
  /** The open question, pinned at the end. */
  readonly children: ReactNode;
}

/** What happened, in order. Only what is seen exists; it follows the end while the reader is there, else a pill says how much is new. */
export function Transcript(props: TranscriptProps): JSX.Element {
  const { steps, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(props.live);
  const [seen, setSeen] = useState(steps.length);
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => 56,
    overscan: 10,
    gap: 9,
    paddingStart: 12,
    paddingEnd: 12,
    getItemKey: (index) => steps[index]?.id ?? index,
  });
  const toEnd = (): void => {
    setFollowing(true);
    virtual.scrollToIndex(steps.length - 1, { align: 'end' });
  };
  handle.current = {
    open: (id) => {
      setFollowing(false);
      virtual.scrollToIndex(
        steps.findIndex((step) => step.id === id),
        { align: 'start' },
      );
    },
    toEnd,
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the steps moves the end
  useEffect(() => {
    if (!following) return;
    setSeen(steps.length);
    if (props.live && steps.length > 0) virtual.scrollToIndex(steps.length - 1, { align: 'end' });
  }, [steps, following]);
  const scrolled = (): void => {
    const element = box.current;
    if (element !== null) setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  };
  return (
    <div className="middle">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <div className="tx scroll" ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-label="What happened">
        <div className="all" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const step = steps[index];
            return step === undefined ? null : (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={step.id === props.hot ? 'ev hot' : 'ev'}
                style={{ transform: `translateY(${start}px)` }}
              >
                <StepView step={step} began={props.began} approvals={props.approvals} />
              </div>
            );
          })}
        </div>
        {steps.length === 0 ? <p className="mute pad">{props.nothing}</p> : null}
      </div>
      {following || !props.live ? null : (
        <button type="button" className="btn live-end" onClick={toEnd}>
          {steps.length > seen ? `${steps.length - seen} new` : 'To the end'} <kbd>.</kbd>
        </button>
      )}
      {props.children}
    </div>
  );
}
