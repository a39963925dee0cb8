import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { send } from '../../api/client.ts';
import { replay } from '../../api/replay.ts';
import { type Action, offeredActions } from '../../base/actions.ts';
import { copyAloud } from '../../base/copy.ts';
import { shortId } from '../../base/format.ts';
import { toggleTheme } from '../../base/theme.ts';
import { tellFailure } from '../../base/told.ts';

const RUN_PAGE = /^\/runs\/(run_[0-9a-f]{32})$/;

/** The run that the reader looks at: of the page, or selected in the list. */
function useSelectedRun(): string | undefined {
  return useRouterState({
    select: ({ location }) => {
      const selected: unknown = Reflect.get(Object(location.search), 'sel');
      return RUN_PAGE.exec(location.pathname)?.[1] ?? (typeof selected === 'string' ? selected : undefined);
    },
  });
}

/** What can be done with a run, whichever page shows it. */
function useRunActions(run: string | undefined): readonly Action[] {
  const navigate = useNavigate();
  const client = useQueryClient();
  if (run === undefined) return [];
  const id = shortId(run);
  const again = (wish: { readonly serve?: 'recorded' }) => () => {
    void replay(run, wish).then((made) => navigate({ to: '/runs/$a/vs/$b', params: { a: run, b: made } }), tellFailure);
  };
  return [
    { id: 'open', text: `Open ${id}`, icon: 'right', keys: '↵', act: () => void navigate({ to: '/runs/$run', params: { run } }) },
    {
      id: 'playground',
      text: `Open ${id} in the Playground`,
      icon: 'play',
      keys: 'P',
      act: () => void navigate({ to: '/playground', search: { run } }),
    },
    { id: 'replay', text: `Replay ${id}`, icon: 'replay', keys: 'R', act: again({}) },
    { id: 'replay-recorded', text: `Replay ${id} from its recording, calling nobody`, icon: 'replay', act: again({ serve: 'recorded' }) },
    {
      id: 'compare',
      text: `Compare ${id} with another`,
      icon: 'cmp',
      keys: 'C',
      act: () => void navigate({ to: '/runs', search: { compare: run } }),
    },
    {
      id: 'verify',
      text: `Verify the chain to ${id}`,
      icon: 'seal',
      act: () => {
        void client.invalidateQueries({ queryKey: ['seal', run] });
        void navigate({ to: '/runs/$run', params: { run } });
      },
    },
    { id: 'copy', text: `Copy the id of ${id}`, icon: 'copy', keys: 'Y', act: () => void copyAloud(run) },
  ];
}

/** Everything that the palette can do: with the selected run, on this page, and anywhere. */
export function useDoings(showKeys: () => void): readonly Action[] {
  const navigate = useNavigate();
  const client = useQueryClient();
  const run = useRunActions(useSelectedRun());
  const signOut = (): void => {
    void send('DELETE', '/v1/console/session').then(() => client.invalidateQueries());
  };
  return [
    ...run,
    ...offeredActions(),
    { id: 'new-agent', text: 'New agent', icon: 'plus', act: () => void navigate({ to: '/agents', search: { new: 'true' } }) },
    { id: 'new-key', text: 'New key', icon: 'plus', act: () => void navigate({ to: '/settings/$section', params: { section: 'keys' } }) },
    {
      id: 'copy-url',
      text: 'Copy the address for SDKs',
      icon: 'copy',
      act: () => void copyAloud(`${location.origin}/e/sim`),
    },
    { id: 'theme', text: 'Light or dark theme', icon: 'theme', keys: 'T', act: toggleTheme },
    { id: 'keys', text: 'All keys', icon: 'list', keys: '?', act: showKeys },
    { id: 'sign-out', text: 'Sign this browser out', icon: 'x', act: signOut },
  ];
}
