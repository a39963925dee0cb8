import { send } from './client.ts';

/** Where a request is sent again: to an engine, to a model of it, or to what was recorded. */
export interface ReplayWish {
  readonly engine?: string;
  readonly model?: string;
  readonly serve?: 'recorded';
}

/** Has the server send the recorded request of a run again, and says which run that made. */
export async function replay(run: string, wish: ReplayWish = {}): Promise<string> {
  const { run_id: again } = await send<{ run_id: string }>('POST', `/v1/receipts/${run}/replay`, wish);
  return again;
}
