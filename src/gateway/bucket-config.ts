import { z } from 'zod';

/** Where recorded bodies go besides the disk of their node. */
export const BucketConfig = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/ })
    .describe(
      'Address of an object storage that speaks S3; the bucket is named in the path. Recorded bodies go there (docs/recording-and-replay.md).',
    ),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: 'is not the name of a bucket' })
    .describe('The bucket, which must exist.'),
  prefix: z
    .string()
    .regex(/^(?:[A-Za-z0-9._-]+\/)*$/, { error: 'must be words that each end with /' })
    .default('')
    .describe('Beginning of every name in it, such as abp/.'),
  region: z.string().min(1).default('us-east-1').describe('The region that requests are signed for.'),
  access_key: z.string().min(1).describe('Id of the key.'),
  secret_key: z.string().min(1).describe('The key itself; best as { env = "…" }, { file = "…" } or { sealed = "…" }.'),
});
