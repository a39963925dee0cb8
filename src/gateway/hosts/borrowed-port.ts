import { chooseEngine } from '../../engines/index.ts';
import { type GatewayPort, NOTHING_SPENT, RunAdmitted } from '../../runtime/gateway-port.ts';

/** The gateway of the run that started us: its key is ours too, and its books are kept there. */
export function borrowedPort({ url, key, engine }: { readonly url: string; readonly key: string; readonly engine: string }): GatewayPort {
  const choice = chooseEngine(engine);
  const spoken = choice?.dialect === undefined ? (choice?.engine.dialects ?? []) : [choice.dialect];
  const nothing = async (): Promise<void> => undefined;
  return {
    url,
    enforcement: 'enforced',
    claim: nothing,
    offer: async ({ dialect, dialects }) => {
      const shared = [dialect, ...dialects].find((one) => spoken.includes(one));
      return {
        engine,
        credential: 'ours',
        speaksDialect: shared === dialect,
        needsModel: false,
        ...(shared !== undefined && { shared }),
      };
    },
    admit: async () => new RunAdmitted('server'),
    mintRunKey: async () => key,
    dropRunKey: nothing,
    spent: async () => NOTHING_SPENT,
    opened: nothing,
    closed: nothing,
  };
}
