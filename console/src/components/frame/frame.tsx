import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type JSX, useEffect, useState } from 'react';
import { interactionsQuery } from '../../api/interactions.ts';
import { rememberPrefix, useKeys } from '../../base/keys.ts';
import { toggleTheme } from '../../base/theme.ts';
import { titleOf } from '../../base/title.ts';
import { Button, ErrorBand } from '../bits/bits.tsx';
import { Icon } from '../icon/icon.tsx';
import { KeySheet } from '../key-sheet/key-sheet.tsx';
import { Palette } from '../palette/palette.tsx';
import { StatusLine } from './status-line.tsx';

/** The pages in their order, with the key that goes there after G. */
const PAGES = [
  { path: '/', name: 'Home', key: 'h' },
  { path: '/runs', name: 'Runs', key: 'r' },
  { path: '/playground', name: 'Playground', key: 'p' },
  { path: '/matrix', name: 'Matrix', key: 'm' },
  { path: '/agents', name: 'Agents', key: 'a' },
  { path: '/coding', name: 'Coding agents', key: 'c' },
  { path: '/usage', name: 'Usage', key: 'u' },
  { path: '/settings', name: 'Settings', key: 's' },
] as const;

const PHONE = [
  { path: '/', name: 'Home', icon: 'home' },
  { path: '/runs', name: 'Runs', icon: 'list' },
  { path: '/inbox', name: 'Inbox', icon: 'inbox' },
  { path: '/agents', name: 'Agents', icon: 'agent' },
  { path: '/settings', name: 'More', icon: 'more' },
] as const;

function Mark(): JSX.Element {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" fill="currentColor">
      <rect x="8.5" y="1.5" width="3" height="17" />
      <rect x="1.5" y="3.5" width="5.5" height="3" opacity=".55" />
      <rect x="1.5" y="8.5" width="5.5" height="3" />
      <rect x="13" y="8.5" width="5.5" height="3" />
      <rect x="13" y="13.5" width="5.5" height="3" opacity=".55" />
    </svg>
  );
}

const isHere = (path: string, at: string): boolean => (path === '/' ? at === '/' : at === path || at.startsWith(`${path}/`));

/** Where the reader is: in the bar, or on a phone in the head. */
function TopBar({ at, waits, openPalette }: { readonly at: string; readonly waits: number; openPalette(): void }): JSX.Element {
  const page = PHONE.find(({ path }) => isHere(path, at)) ?? PAGES.find(({ path }) => isHere(path, at));
  return (
    <header className="top">
      <Link className="brand" to="/" aria-label="Agent Backplane, home">
        <Mark />
        <span>Agent Backplane</span>
      </Link>
      <span className="only-s b phone-title">{page?.name}</span>
      <nav className="nav" aria-label="Pages">
        {PAGES.map(({ path, name }) => (
          <Link key={path} to={path} {...(isHere(path, at) ? { 'aria-current': 'page' as const } : {})}>
            {name}
            {path === '/coding' && waits > 0 ? (
              <span className="n" title={`${waits} wait for you`}>
                {waits}
              </span>
            ) : null}
          </Link>
        ))}
      </nav>
      <div className="tools">
        <button type="button" className="pal" onClick={openPalette}>
          <Icon name="search" />
          <span className="grow">Run id, page, action</span>
          <kbd>⌘K</kbd>
        </button>
        <button type="button" className="ib" onClick={toggleTheme} aria-label="light or dark" title="light or dark (T)">
          <Icon name="theme" size={16} />
        </button>
      </div>
    </header>
  );
}

function PhoneTabs({ at, waits }: { readonly at: string; readonly waits: number }): JSX.Element {
  return (
    <nav className="tabs" aria-label="Pages, for a thumb">
      {PHONE.map(({ path, name, icon }) => (
        <Link key={path} to={path} {...(isHere(path, at) ? { 'aria-current': 'page' as const } : {})}>
          <Icon name={icon} size={20} />
          {name}
          {path === '/inbox' && waits > 0 ? <span className="n">{waits}</span> : null}
        </Link>
      ))}
    </nav>
  );
}

/** Failures of actions that belong to no page, in the server's own words; they go when the reader says so. */
function Failures(): JSX.Element | null {
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    const hear = (event: Event): void => setFailure(event instanceof CustomEvent ? event.detail : null);
    window.addEventListener('abp:failure', hear);
    return () => window.removeEventListener('abp:failure', hear);
  }, []);
  if (failure === null) return null;
  return (
    <div className="failure">
      <ErrorBand error={failure} />
      <Button small onClick={() => setFailure(null)}>
        Close
      </Button>
    </div>
  );
}

const SAID_MS = 2000;

/** What a key has done where nothing else shows it. */
function Said(): JSX.Element {
  const [said, setSaid] = useState('');
  useEffect(() => {
    const hear = (event: Event): void => setSaid(event instanceof CustomEvent ? String(event.detail) : '');
    window.addEventListener('abp:said', hear);
    return () => window.removeEventListener('abp:said', hear);
  }, []);
  useEffect(() => {
    if (said === '') return undefined;
    const timer = window.setTimeout(() => setSaid(''), SAID_MS);
    return () => window.clearTimeout(timer);
  }, [said]);
  return <output className={said === '' ? 'sr' : 'told floats'}>{said}</output>;
}

/** The bar on top, the status line below, and what opens over every page. */
export function Frame(): JSX.Element {
  const at = useRouterState({ select: (state) => state.location.pathname });
  const navigate = useNavigate();
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null);
  const waiting = useQuery(interactionsQuery);
  const waits = waiting.data?.items.length ?? 0;
  useEffect(() => {
    document.title = titleOf(at, waits);
  }, [at, waits]);
  useKeys({
    'mod+k': () => setOpen('palette'),
    '?': () => setOpen('keys'),
    t: toggleTheme,
    'g i': () => void navigate({ to: '/inbox' }),
    ...Object.fromEntries(PAGES.map(({ path, key }) => [`g ${key}`, () => void navigate({ to: path })])),
  });
  useEffect(() => {
    window.addEventListener('keydown', rememberPrefix);
    return () => window.removeEventListener('keydown', rememberPrefix);
  }, []);
  const close = (): void => setOpen(null);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <TopBar at={at} waits={waits} openPalette={() => setOpen('palette')} />
      <main id="main">
        <Outlet />
      </main>
      <StatusLine />
      <PhoneTabs at={at} waits={waits} />
      <Failures />
      <Said />
      {open === 'palette' ? <Palette close={close} showKeys={() => setOpen('keys')} /> : null}
      {open === 'keys' ? <KeySheet close={close} /> : null}
    </>
  );
}
