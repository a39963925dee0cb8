import { type ButtonHTMLAttributes, type JSX, type ReactNode, useEffect, useState } from 'react';
import { ApiError, OfflineError } from '../../api/client.ts';
import { useOffline } from '../../api/queries.ts';
import { copyText } from '../../base/copy.ts';
import { Icon } from '../icon/icon.tsx';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon?: string;
  readonly look?: 'primary' | 'quiet';
  readonly small?: boolean;
  readonly keys?: string;
  /** Why it cannot be used now; shown, because nothing that is disabled should be a riddle. */
  readonly locked?: string | undefined;
  /** It asks the server to do something, so it cannot be used while the server is away. */
  readonly acts?: boolean;
}

const LOOKS = { primary: ' p', quiet: ' q' } as const;

export function Button({ icon, look, small, keys, locked, acts = false, children, className, ...rest }: ButtonProps): JSX.Element {
  const offline = useOffline();
  const reason = locked ?? (acts ? offline : undefined);
  const classes = `btn${look === undefined ? '' : LOOKS[look]}${small === true ? ' sm' : ''}${className === undefined ? '' : ` ${className}`}`;
  return (
    <button type="button" className={classes} {...rest} {...(reason === undefined ? {} : { disabled: true, title: reason })}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {keys === undefined ? null : <kbd>{keys}</kbd>}
    </button>
  );
}

/** Keys as they are on the keyboard: each one by itself. */
export function Keys({ keys }: { readonly keys: string }): JSX.Element {
  return (
    <>
      {keys.split(' ').map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  );
}

/** One of a few: a row of buttons, the chosen one pressed. */
export function Segmented<T extends string>(props: {
  readonly label: string;
  readonly options: readonly (readonly [T, ReactNode])[];
  readonly value: T;
  onChange(value: T): void;
}): JSX.Element {
  return (
    <fieldset className="seg">
      <legend className="sr">{props.label}</legend>
      {props.options.map(([value, text]) => (
        <button
          key={value}
          type="button"
          className={value === props.value ? 'on' : ''}
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

export function Select(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  onChange(value: string): void;
}): JSX.Element {
  return (
    <span className="sel">
      <select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </span>
  );
}

const STATUS: Readonly<Record<string, readonly [string, string]>> = {
  completed: ['check', 'ok'],
  failed: ['refused', 'bad'],
  cancelled: ['x', 'mute'],
  archived: ['file', 'mute'],
  deleted: ['x', 'mute'],
};

/** How a run stands: a tick, a dot that moves, a dot that waits, a cross. */
export function StatusGlyph({ status, waiting }: { readonly status: string; readonly waiting: boolean }): JSX.Element {
  const [icon, tone] = STATUS[status] ?? ['', ''];
  if (icon !== '') {
    return (
      <span className={tone}>
        <Icon name={icon} label={status} />
      </span>
    );
  }
  return (
    <span>
      <i className={waiting ? 'dot warn' : 'dot live'} aria-hidden="true" />
      <span className="sr">{waiting ? 'waiting for somebody' : status}</span>
    </span>
  );
}

export function CopyId({ text, children }: { readonly text: string; readonly children?: ReactNode }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    void copyText(text).then(setCopied);
    window.setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" className="ib" onClick={copy} aria-label={`copy ${text}`} title="copy">
      {children ?? <Icon name={copied ? 'check' : 'copy'} />}
    </button>
  );
}

/** The server's own words when something went wrong; what was there before stays below it. */
export function ErrorBand({ error, retry }: { readonly error: unknown; retry?(): void }): JSX.Element | null {
  if (error === null || error === undefined) return null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div className="error-band" role="alert">
      <Icon name="refused" />
      {error instanceof ApiError ? (
        <a className="b m" href={`/docs/errors/${error.code}`} target="_blank" rel="noreferrer">
          {error.code}
        </a>
      ) : null}
      <span className="grow">
        {message}
        {error instanceof OfflineError ? ' What you see is what was known before.' : null}
        {error instanceof ApiError && error.isPermission ? (
          <>
            {' '}
            <code>abp console</code> prints a link that lets this browser in.
          </>
        ) : null}
      </span>
      {error instanceof ApiError && error.requestId !== null ? <code className="mute">{error.requestId}</code> : null}
      {retry === undefined ? null : (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Shown, disabled, with the reason: nothing is hidden, so nobody wonders where it went. */
export function Locked({ what }: { readonly what: string }): JSX.Element {
  return (
    <p className="note locked">
      <Icon name="clock" /> {what} needs a signed-in browser. <code>abp console</code> prints a link.
    </p>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): JSX.Element {
  return (
    <div className="empty">
      <p className="b">{title}</p>
      {children}
    </div>
  );
}

/** The time, once a second while somebody waits. */
export function useNow(active: boolean, every = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return undefined;
    const timer = window.setInterval(() => setNow(Date.now()), every);
    return () => window.clearInterval(timer);
  }, [active, every]);
  return now;
}

/** A number and its name, as the strips of Home and Usage show them. */
export function Figure({ value, name }: { readonly value: string; readonly name: string }): JSX.Element {
  return (
    <div>
      <b>{value}</b>
      <span>{name}</span>
    </div>
  );
}
