import { queryOptions } from '@tanstack/react-query';
import type { EMULATED_BESIDES } from '../../../../src/contract/negotiation.ts';
import { send } from '../../api/client.ts';
import { textOfBody } from '../../api/receipts.ts';
import type { Explained, FidelityEntry, Receipt, RecordingLine } from '../../api/types.ts';
import { parsed } from '../../base/parsed.ts';

/** Where a field stands in the engine's request. */
export interface Place {
  /** The steps to it, or the part of the request that is not the body. */
  readonly at: string;
  readonly value: unknown;
}

/** Emulations that nobody asks for by name. */
const BESIDES: ReadonlySet<string> = new Set<(typeof EMULATED_BESIDES)[number]>([
  'token_counting',
  'end_user',
  'service_tier',
  'attachments',
  'workspace',
]);

/** The first places of the fields by the path that the receipt calls them. */
export type Places = ReadonlyMap<string, Place>;

/**
 * Following every field to its place costs a translation each, so no call waits for it: the recorded request is explained again when
 * somebody looks. What the explanation says of a place is taken only where the recorded request of the engine has the same value there.
 */
export const placesQuery = (receipt: Receipt, recording: RecordingLine | undefined) =>
  queryOptions({
    queryKey: ['places', receipt.run_id],
    queryFn: async (): Promise<Places> => {
      const { request, sent, model } = recording ?? {};
      const explained = await send<Explained>('POST', '/v1/explain', {
        path: request?.path,
        to: `${receipt.engine}:${sent?.dialect}`,
        ...(model === null ? {} : { model }),
        compatibility: receipt.compatibility,
        emulate: [...new Set(receipt.emulations.map(({ capability }) => capability))].filter((name) => !BESIDES.has(name)),
        request: parsed(textOfBody(request?.body ?? { text: 'null' })),
      });
      const got: unknown = parsed(textOfBody(sent?.body ?? { text: 'null' }));
      return placesIn(explained.fidelity, explained.upstream?.body, got);
    },
    enabled: receipt.mode === 'mapped' && recording !== undefined && recording.sent !== null && !recording.redacted,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** The places on which what would be sent now and what was sent then agree. */
export function placesIn(entries: readonly FidelityEntry[], now: unknown, then: unknown): Places {
  const places = new Map<string, Place>();
  for (const { path, to } of entries) {
    const [first] = to ?? [];
    if (first === undefined || places.has(path)) continue;
    const steps = stepsOf(first);
    if (steps === undefined) places.set(path, { at: first, value: undefined });
    else {
      const value = reached(then, steps);
      if (value !== undefined && JSON.stringify(value) === JSON.stringify(reached(now, steps)))
        places.set(path, { at: written(steps), value });
    }
  }
  return places;
}

/** The steps of a JSON pointer; undefined for a part of the request that is not its body. */
function stepsOf(pointer: string): readonly string[] | undefined {
  if (!pointer.startsWith('/')) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function reached(body: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined), body);
}

const written = (steps: readonly string[]): string =>
  steps.reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`), '');
