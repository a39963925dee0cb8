import { z } from 'zod';

export const ConsoleConfig = z.strictObject({
  web_push: z
    .boolean()
    .default(false)
    .describe(
      'Whether browsers that are signed in may be told that a question waits (Web Push, docs/console.md). The server then sends notes without content to the push services of their vendors.',
    ),
  push_contact: z
    .string()
    .regex(/^(?:mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/, { error: 'must be mailto:somebody@somewhere or an https address' })
    .optional()
    .describe(
      'Where a push service reaches the operator of this server; Apple’s wants one. Default: the address of the server, where it is https.',
    ),
  push_hosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further hosts that notes may be sent to, beside the push services of Apple, Google, Microsoft and Mozilla, as host or host:port. They may be private.',
    ),
});
export type ConsoleConfig = z.infer<typeof ConsoleConfig>;
