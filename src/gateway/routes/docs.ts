import { z } from 'zod';
import { AbpError, ERRORS, isErrorCode } from '../../contract/errors.ts';
import { defineRoute, Reply } from '../route.ts';

const CodeParams = z.strictObject({ code: z.string() });

function page(title: string, body: string): Reply {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>body{font:16px/1.5 system-ui;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#f2f2f2;padding:.1em .3em}</style><h1>${title}</h1>${body}</html>\n`;
  return new Reply(200, html, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
}

export const docsRoutes = [
  defineRoute({
    method: 'GET',
    path: '/docs/errors/{code}',
    summary: 'What an error code means and what to do about it.',
    need: { kind: 'public' },
    params: CodeParams,
    handle: ({ params }) => {
      if (!isErrorCode(params.code)) throw new AbpError('not_found', `There is no error code ${params.code}.`);
      const row = ERRORS[params.code];
      return page(
        `${params.code} ${row.type}`,
        `<p>${row.meaning}</p><p><b>What to do:</b> ${row.remedy}</p><p>HTTP status <code>${row.status}</code>, ${row.retryable ? 'can be tried again' : 'trying again will not help'}.</p>`,
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/',
    summary: 'Where to go from here.',
    need: { kind: 'public' },
    handle: ({ gateway }) =>
      page(
        'Agent Backplane',
        `<p>Version ${gateway.version}. Point an SDK at <code>${gateway.url}/e/sim</code> to try it without a key.</p><ul><li><a href="/openapi.json">/openapi.json</a></li><li><a href="/v1/matrix">/v1/matrix</a></li><li><a href="/v1/backends">/v1/backends</a></li><li><a href="/v1/receipts">/v1/receipts</a></li></ul>`,
      ),
  }),
];
