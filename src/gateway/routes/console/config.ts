import type { z } from 'zod';
import { ConfigReload } from '../../api/settings.ts';
import type { Reload } from '../../reload/reloader.ts';
import { defineRoute } from '../../route.ts';

function view({ source, changed, restart }: Reload): z.infer<typeof ConfigReload> {
  return { source, changed: [...changed], restart: [...restart] };
}

export const configRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/config/diff',
    summary: 'In which values the configuration file and the running server differ, and which of them a reload would make hold.',
    response: ConfigReload,
    handle: ({ gateway }) => view(gateway.reloader.diff()),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/config/reload',
    summary: 'Reads the configuration file again. A broken file changes nothing, and the error says what is wrong with it.',
    audit: { action: 'config.reload' },
    response: ConfigReload,
    handle: async ({ gateway }) => {
      const reload = view(await gateway.reloader.reload());
      // The file is good: the other processes of this port take it as well.
      gateway.siblings?.reload();
      return reload;
    },
  }),
];
