import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';

const PAUSE_MS = 250;

/**
 * Asks again for what events say has changed: at most four times a second, or as often as is asked for, and never while an answer is
 * still awaited. A slow server would otherwise be asked faster than it answers, until the browser has no connections left.
 */
export function useRefresh(queryKeys: readonly QueryKey[], pauseMs = PAUSE_MS): () => void {
  const client = useQueryClient();
  const state = useRef({ busy: false, again: false });
  const work = async (): Promise<void> => {
    const { current } = state;
    do {
      current.again = false;
      const pause = new Promise((resolve) => window.setTimeout(resolve, pauseMs));
      await Promise.all([pause, ...queryKeys.map((queryKey) => client.invalidateQueries({ queryKey }))]);
    } while (current.again);
    current.busy = false;
  };
  return () => {
    if (state.current.busy) {
      state.current.again = true;
      return;
    }
    state.current.busy = true;
    void work();
  };
}
