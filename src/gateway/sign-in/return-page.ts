import type { AbpError } from '../../contract/errors.ts';
import { Reply } from '../reply.ts';

type Outcome = { readonly to: string; readonly name: string } | { readonly error: AbpError };

/**
 * The page that a browser sees when the issuer sends it back. It goes on to the console by itself: a plain redirect would still count as
 * coming from the issuer's site, and the browser would keep our cookie back.
 */
export function returnPage(outcome: Outcome, cookies: readonly string[]): Reply {
  const isRefused = 'error' in outcome;
  const title = isRefused ? 'Not signed in' : 'Signed in';
  const words = isRefused
    ? `${escaped(outcome.error.message)} <a href="/v1/sign-ins/start">Sign in again</a>`
    : `${escaped(outcome.name)}, you are signed in. <a href="${escaped(outcome.to)}">Go on</a>`;
  const onward = isRefused ? '' : `<meta http-equiv="refresh" content="0;url=${escaped(outcome.to)}">`;
  const page = `<!doctype html><html lang="en"><meta charset="utf-8">${onward}<title>${title}</title><h1>${title}</h1><p>${words}</p></html>`;
  return new Reply(isRefused ? outcome.error.row.status : 200, page, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'set-cookie': [...cookies],
  });
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
