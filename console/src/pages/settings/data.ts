import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { TeamList } from '../../../../src/gateway/api/people.ts';
import type { RouteTable } from '../../../../src/gateway/api/settings.ts';
import { get } from '../../api/client.ts';

export type Routes = z.infer<typeof RouteTable>;
export type Route = Routes['items'][number];
export type Teams = z.infer<typeof TeamList>;
export type Limits = Teams['items'][number]['limits'];

export const routesQuery = queryOptions({ queryKey: ['routes'], queryFn: () => get<Routes>('/v1/routes'), retry: false });
export const teamsQuery = queryOptions({ queryKey: ['teams'], queryFn: () => get<Teams>('/v1/teams'), retry: false });

/** Words with commas or spaces between them. */
export function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** Limits as a sentence; empty where there are none. */
export function limitWords({ requests_per_minute: requests, tokens_per_minute: tokens, concurrency }: Limits): string {
  return [
    ...(requests === undefined ? [] : [`${requests} calls a minute`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens a minute`]),
    ...(concurrency === undefined ? [] : [`${concurrency} at a time`]),
  ].join(', ');
}
