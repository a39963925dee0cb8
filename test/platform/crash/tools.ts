import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '../../../src/platform/tools/tool.ts';
import { testTool } from '../../support/platform.ts';

const MOST_MS = 120;

async function moment(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_MS));
}

/** Tools whose effects are files, so that they can be counted after any process was killed. */
export function effectTools(folder: string): Tool[] {
  mkdirSync(join(folder, 'keyed'), { recursive: true });
  return [
    testTool('keyed', {
      execute: async (_input, { callId }) => {
        await moment();
        // A service that knows idempotency keys: the second time it does nothing.
        try {
          closeSync(openSync(join(folder, 'keyed', callId), 'wx'));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
        }
        await moment();
        return { output: callId };
      },
    }),
    testTool('once', {
      effect: 'at_most_once',
      execute: async (_input, { callId }) => {
        await moment();
        appendFileSync(join(folder, 'once'), `${callId}\n`);
        await moment();
        return { output: callId };
      },
    }),
  ];
}

/** Ids of the calls that had an effect, as often as they had it. */
export function effects(folder: string): { readonly keyed: readonly string[]; readonly once: readonly string[] } {
  const once = readFileSync(join(folder, 'once'), { encoding: 'utf8', flag: 'a+' });
  return { keyed: readdirSync(join(folder, 'keyed')), once: once.split('\n').filter((line) => line !== '') };
}
