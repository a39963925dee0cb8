import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type JSX, useEffect, useRef } from 'react';
import { sessionQuery } from '../../api/queries.ts';
import { bringIntoView } from '../../base/bring-into-view.ts';
import { Empty, Locked } from '../../components/bits/bits.tsx';
import { Budgets } from './budgets.tsx';
import { EngineSettings } from './engines.tsx';
import { KeySettings } from './keys.tsx';
import { People } from './people.tsx';
import { Routes } from './routes.tsx';
import { Trust } from './trust.tsx';
import { Recording } from './values.tsx';
import './page.css';

const SECTIONS = [
  ['engines', 'Engines'],
  ['routes', 'Routes'],
  ['keys', 'Keys'],
  ['people', 'Users and teams'],
  ['budgets', 'Budgets'],
  ['recording', 'Recording and limits'],
  ['trust', 'Trust'],
] as const;

/** Pages that have no tab of their own on a phone. */
const ELSEWHERE = [
  ['/playground', 'Playground'],
  ['/matrix', 'Matrix'],
  ['/usage', 'Usage'],
  ['/coding', 'Coding agents'],
] as const;

/** What is in effect, and where does that value come from? */
export function Page(): JSX.Element {
  const { section = 'engines' } = useParams({ strict: false });
  const session = useQuery(sessionQuery);
  const may = session.data?.scopes.includes('settings') === true;
  // On a phone the sections stand in one line that is longer than the screen.
  const current = useRef<HTMLAnchorElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another section is another link
  useEffect(() => {
    const part = current.current?.parentElement;
    if (current.current && part) bringIntoView(current.current, part, { left: 24, other: 24 });
  }, [section]);
  const title = SECTIONS.find(([id]) => id === section)?.[1] ?? 'No such settings';
  return (
    <div className="p-settings fill">
      <nav className="sections" aria-label="Sections">
        {SECTIONS.map(([id, name]) => (
          <Link
            key={id}
            to="/settings/$section"
            params={{ section: id }}
            {...(id === section ? { ref: current, 'aria-current': 'page' as const } : {})}
          >
            {name}
          </Link>
        ))}
      </nav>
      <nav className="only-s elsewhere" aria-label="More pages">
        {ELSEWHERE.map(([to, name]) => (
          <Link key={to} className="btn" to={to}>
            {name}
          </Link>
        ))}
      </nav>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <section className="body scroll" aria-label={title} tabIndex={0}>
        <h1>{title}</h1>
        <Section id={section} may={may} />
      </section>
    </div>
  );
}

function Section({ id, may }: { readonly id: string; readonly may: boolean }): JSX.Element {
  if (!SECTIONS.some(([known]) => known === id)) return <Empty title={`There is no section ${id}.`} />;
  if (id === 'engines') return <EngineSettings may={may} />;
  if (id === 'trust') return <Trust may={may} />;
  if (!may) return <Locked what="Seeing and changing this" />;
  if (id === 'routes') return <Routes />;
  if (id === 'keys') return <KeySettings />;
  if (id === 'people') return <People />;
  if (id === 'budgets') return <Budgets />;
  return <Recording />;
}
