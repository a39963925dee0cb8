import { z } from 'zod';
import { acceptsGzip } from '../../console/console-files.ts';
import { defineRoute, type Route } from '../../route.ts';

const FileParams = z.strictObject({ file: z.string() });

/** Every path of the web application. The browser decides what it shows; the server has one page for all of them. */
const PAGES = [
  '/',
  '/runs',
  '/runs/{run_id}',
  '/runs/{a}/vs/{b}',
  '/playground',
  '/matrix',
  '/agents',
  '/agents/{id}',
  '/agents/{id}/sessions/{session}',
  '/coding',
  '/inbox',
  '/usage',
  '/settings',
  '/settings/{section}',
];

const NAMED = ['manifest.webmanifest', 'icon.svg'];

/** The console. It is no part of the described API. */
export const consolePageRoutes: readonly Route[] = [
  ...PAGES.map((path) =>
    defineRoute({
      method: 'GET',
      path,
      summary: 'A page of the console.',
      handle: ({ gateway, headers }) => gateway.browsers.files.page(acceptsGzip(headers)),
    }),
  ),
  ...NAMED.map((name) =>
    defineRoute({
      method: 'GET',
      path: `/${name}`,
      summary: 'A file of the console.',
      handle: ({ gateway, headers }) => gateway.browsers.files.file(name, acceptsGzip(headers)),
    }),
  ),
  defineRoute({
    method: 'GET',
    path: '/inbox-worker.js',
    summary: 'The service worker that shows that something waits; one that takes itself out where nobody is told any more.',
    handle: ({ gateway }) => gateway.browsers.files.worker(gateway.browsers.notes !== undefined, gateway.version),
  }),
  defineRoute({
    method: 'GET',
    path: '/assets/{file}',
    summary: 'A file of the console.',
    params: FileParams,
    handle: ({ gateway, params, headers }) => gateway.browsers.files.asset(params.file, acceptsGzip(headers)),
  }),
];
