import { z } from 'zod';
import { AbpError, ERRORS, isErrorCode } from '../../contract/errors.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';

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
    params: CodeParams,
    handle: ({ params }) => {
      if (!isErrorCode(params.code)) throw new AbpError('not_found', `There is no error code ${params.code}.`);
      const row = ERRORS[params.code];
      return page(
        `${params.code} ${row.type}`,
        `<p>${row.meaning}</p><p><b>What to do:</b> ${row.remedy}</p><p>HTTP status <code>${row.status}</code>, ${row.retryable ? 'can be tried again' : 'trying again will not help'}.</p><p><a href="/playground">Playground</a>: see what becomes of a request before it is sent.</p>`,
      );
    },
  }),
];
