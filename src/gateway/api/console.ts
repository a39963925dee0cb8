import { z } from 'zod';
import { Recording } from '../../contract/receipts/parts.ts';

const MOST_S = 24 * 3600;

export const SignIn = z.strictObject({ code: z.string().min(1).max(200).describe('The one-time code of a link of `abp console`.') });

const ConsoleScopeName = z.enum(['all', 'answer']).describe('all: everything. answer: read, and answer what agents ask.');

export const SessionInfo = z.strictObject({
  principal: z.enum(['console', 'paired', 'local', 'token', 'key', 'anonymous']).describe('Who the server takes this caller for.'),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
  user: z.string().nullable().describe('The user who is signed in, or for whom the browser was paired.'),
  sign_in: z.string().nullable().describe('Where a browser begins to sign in with the issuer; null: there is none.'),
  recording: z
    .strictObject({
      keeps: Recording.describe('How much is kept of runs of this caller where no route says less.'),
      used_bytes: z.int().nullable().describe('Space that recorded bodies take on the disk of this process, about; null: not counted yet.'),
      max_bytes: z.int().describe('Space that they may take.'),
    })
    .nullable()
    .describe('Null for callers whom the server does not know.'),
  web_push: z.boolean().describe('Whether browsers can be told that a question waits (/v1/console/push).'),
});

export const NewPairing = z.strictObject({
  scopes: z.array(ConsoleScopeName).min(1).max(1).default(['answer']),
  user: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('The user whose runs and questions the browser may see and answer; absent: everybody’s.'),
  ttl_s: z.number().int().min(10).max(MOST_S).default(600).describe('Seconds in which the code can be used.'),
});

export const Pairing = z.strictObject({
  code: z.string(),
  expires_at: z.string(),
  url: z.string().describe('The link to open: the code is in its fragment, which browsers send to nobody.'),
});

const Browser = z.strictObject({
  id: z.string(),
  scopes: z.array(z.string()),
  user: z.string().nullable().describe('Whose runs and questions it may see and answer; null: everybody’s.'),
  label: z.string().describe('The browser, as it names itself.'),
  current: z.boolean().describe('Whether it is the browser that asks.'),
  created_at: z.string(),
  expires_at: z.string(),
});

export const BrowserList = z.strictObject({ items: z.array(Browser), total: z.int() });
export const BrowserParams = z.strictObject({ id: z.string() });

/** Base64url of so many bytes. */
const bytes = (count: number) =>
  z
    .string()
    .regex(/^[\w-]+$/)
    .refine((text) => Buffer.from(text, 'base64url').length === count, { error: `must be ${count} bytes in base64url` });

export const PushState = z.strictObject({
  key: z.string().describe('The public key of this server, as a browser takes it when it subscribes (applicationServerKey).'),
  on: z.boolean().describe('Whether this browser is told.'),
});

export const PushWish = z.strictObject({
  endpoint: z.string().min(1).max(1024).describe('Where the browser’s push service takes notes for it.'),
  keys: z.strictObject({ p256dh: bytes(65), auth: bytes(16) }).describe('The keys of the subscription, with which notes are encrypted.'),
});
