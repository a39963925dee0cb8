import { learnSecrets } from '../../base/redact.ts';
import { noteConfigChange } from '../audit/config-change.ts';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';

type Told = Pick<Gateway, 'keeper' | 'store' | 'home' | 'audit' | 'log'>;

/** Logs, receipts and recordings learn new secrets before they are used, and the audit log what has changed. */
export function toldOfReloads({ keeper, store, home, audit, log }: Told): {
  readonly onSecrets: (values: readonly string[]) => Promise<void>;
  readonly onChanged: (config: Config) => void;
} {
  return {
    onSecrets: async (values) => {
      learnSecrets(values);
      await keeper.learn(values);
    },
    onChanged: (config) => {
      noteConfigChange({ config, store, home, audit }).catch((error: unknown) =>
        log.error({ error }, 'the audit log has no entry of what a reload of the configuration changed'),
      );
    },
  };
}
