import { shortId } from './format.ts';

/** Names of pages by the first part of their path. */
const PAGES: Readonly<Record<string, string>> = {
  '': 'Home',
  runs: 'Runs',
  playground: 'Playground',
  matrix: 'Matrix',
  agents: 'Agents',
  coding: 'Coding agents',
  inbox: 'Inbox',
  usage: 'Usage',
  settings: 'Settings',
};

/** What the tab of a browser says: where it is, and first of all how many wait, so that it is seen from another tab. */
export function titleOf(path: string, waits: number): string {
  const [page = '', first, , second] = path.split('/').slice(1);
  const where =
    page === 'runs' && second !== undefined
      ? `Compare ${shortId(first ?? '')} with ${shortId(second)}`
      : page === 'runs' && first !== undefined
        ? `Run ${shortId(first)}`
        : page === 'settings' && first !== undefined
          ? `Settings, ${first}`
          : PAGES[page];
  return `${waits > 0 ? `(${waits}) ` : ''}${where === undefined ? '' : `${where} · `}Agent Backplane`;
}
