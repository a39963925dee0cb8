import { z } from 'zod';
import { Role } from '../../calls/scopes.ts';

/** Over plain HTTP everybody on the way could sign in as anybody. */
function isSafe(url: string): boolean {
  // That it is no URL at all was complained about before.
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** Signing in with an OpenID Connect issuer. */
export const OidcConfig = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .refine(isSafe, { error: 'must begin with https://, except on this machine' })
    .describe('The issuer, as it names itself; the rest is discovered there.'),
  client_id: z.string().min(1).describe('The name of this server at the issuer.'),
  client_secret: z.string().min(1).optional().describe('Its secret there; none for a public client. Better in ABP_OIDC_CLIENT_SECRET.'),
  client_auth: z
    .enum(['post', 'basic'])
    .optional()
    .describe('How the secret is shown there: in the body, or as HTTP Basic. Default: post where the issuer takes that, else basic.'),
  scopes: z.array(z.string().min(1)).default(['openid', 'profile', 'email']).describe('Scopes that are asked for.'),
  groups_claim: z.string().min(1).default('groups').describe('The claim that lists the groups of a person.'),
  user_claim: z.string().min(1).default('email').describe('The claim that a new user is named by; sub where the issuer does not tell it.'),
  role: Role.optional().describe('The role of people whose groups give none; without it they are refused.'),
  hours: z.number().positive().max(2160).default(12).describe('Hours after which somebody must sign in again.'),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The address by which browsers reach this server, where a proxy is in front; the issuer sends them back to <url>/v1/sign-ins/callback.',
    ),
  groups: z
    .record(
      z.string(),
      z.strictObject({
        team: z.string().min(1).optional().describe('The team of its people; it is made where there is none.'),
        role: Role.optional().describe('The role of its people; of several groups the first in the file counts.'),
      }),
    )
    .default({}),
});
export type OidcConfig = z.infer<typeof OidcConfig>;
