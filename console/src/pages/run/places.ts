import { queryOptions } from '@tanstack/react-query';
import type { EMULATED_BESIDES } from '../../../../src/contract/negotiation.ts';
import { send } from '../../api/client.ts';
import { textOfBody } from '../../api/receipts.ts';
import type { Explained, Receipt, RecordingLine } from '../../api/types.ts';
import { parsed } from '../../base/parsed.ts';
import { type Places, placesIn } from './places-in.ts';

/** Emulations that nobody asks for by name. */
const BESIDES: ReadonlySet<string> = new Set<(typeof EMULATED_BESIDES)[number]>([
  'token_counting',
  'end_user',
  'service_tier',
  'attachments',
  'workspace',
]);

/**
 * Following every field to its place costs a translation each, so no call waits for it: the recorded request is explained again when
 * somebody looks. What the explanation says of a place is taken only where the recorded request of the engine has the same value there.
 */
const explainedAgain = (
  receipt: Receipt,
  { request, sent, model }: Partial<RecordingLine>,
  emulate: readonly string[],
): Promise<Explained> =>
  send<Explained>('POST', '/v1/explain', {
    path: request?.path,
    to: sent === null || sent === undefined ? receipt.engine : `${receipt.engine}:${sent.dialect}`,
    ...(model === null ? {} : { model }),
    compatibility: receipt.compatibility,
    emulate: [...new Set(emulate)].filter((name) => !BESIDES.has(name)),
    request: parsed(textOfBody(request?.body ?? { text: 'null' })),
  });

/** Whether a refused request would be sent if these capabilities were emulated. Nobody is called. */
export const emulatedQuery = (receipt: Receipt, recording: RecordingLine | undefined, capabilities: readonly string[]) =>
  queryOptions({
    queryKey: ['emulated', receipt.run_id, capabilities],
    queryFn: async () => (await explainedAgain(receipt, recording ?? {}, capabilities)).error === undefined,
    enabled: recording !== undefined && !recording.redacted && capabilities.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export const placesQuery = (receipt: Receipt, recording: RecordingLine | undefined) =>
  queryOptions({
    queryKey: ['places', receipt.run_id],
    queryFn: async (): Promise<Places> => {
      const emulated = receipt.emulations.map(({ capability }) => capability);
      const explained = await explainedAgain(receipt, recording ?? {}, emulated);
      const got: unknown = parsed(textOfBody(recording?.sent?.body ?? { text: 'null' }));
      return placesIn(explained.fidelity, explained.upstream?.body, got);
    },
    enabled: receipt.mode === 'mapped' && recording !== undefined && recording.sent !== null && !recording.redacted,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
