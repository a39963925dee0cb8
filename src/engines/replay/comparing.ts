import { copyToPost } from '../../base/bounded/buffers.ts';
import { ThreadFailure, Threads } from '../../base/bounded/thread-pool.ts';
import { ownModule } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RequestBytes } from './source.ts';

/** One thing that the thread does: the shape of a request, or where two requests differ. */
export type Comparison =
  | { readonly kind: 'shape'; readonly request: RequestBytes<Uint8Array>; readonly ignoring: readonly string[] }
  | {
      readonly kind: 'differences';
      readonly requests: readonly [RequestBytes<Uint8Array>, RequestBytes<Uint8Array>];
      readonly ignoring: readonly string[];
      readonly most: number;
    };

export type Compared =
  | { readonly kind: 'shape'; readonly shape: string | undefined }
  | { readonly kind: 'differences'; readonly differs: readonly string[] }
  /** A fault of ours. */
  | { readonly kind: 'broken'; readonly message: string };

/**
 * Compares requests on a thread of its own. Recorded bodies have any size and a call may be compared with hundreds of them; where calls are
 * served nothing of them is decoded or read.
 */
const threads = new Threads<Comparison, Compared>({
  module: ownModule('engines/replay/comparing-thread'),
  threads: 1,
  mostWaiting: 64,
  heapMb: 256,
  deadlineMs: 20_000,
});

/** The digest of a request without what is ignored; undefined where it is no JSON, or too long to be compared. */
export async function shapeOf(request: RequestBytes, ignoring: readonly string[], caller: string): Promise<string | undefined> {
  const outcome = await run(caller, async () => {
    const copy = await posted(request);
    return { job: { kind: 'shape', request: copy, ignoring }, transfer: [copy.bytes.buffer] };
  });
  return outcome.kind === 'shape' ? outcome.shape : undefined;
}

/** Pointers to the leaves in which two requests differ, up to `most` of them. */
export async function differencesOf(
  requests: readonly [RequestBytes, RequestBytes],
  { ignoring, most, caller }: { readonly ignoring: readonly string[]; readonly most: number; readonly caller: string },
): Promise<readonly string[]> {
  const outcome = await run(caller, async () => {
    const [one, other] = await Promise.all([posted(requests[0]), posted(requests[1])]);
    return { job: { kind: 'differences', requests: [one, other], ignoring, most }, transfer: [one.bytes.buffer, other.bytes.buffer] };
  });
  return outcome.kind === 'differences' ? outcome.differs : [];
}

async function posted({ bytes, headers }: RequestBytes): Promise<RequestBytes<Uint8Array<ArrayBuffer>>> {
  return { bytes: await copyToPost(bytes), headers };
}

async function run(caller: string, post: Parameters<typeof threads.run>[1]): Promise<Compared> {
  const outcome = await threads.run(caller, post).catch((error: unknown) => {
    if (!(error instanceof ThreadFailure)) throw error;
    throw new AbpError('overloaded', `The request could not be compared with recordings: ${error.message}.`);
  });
  if (outcome.kind === 'broken') throw new Error(outcome.message);
  return outcome;
}
