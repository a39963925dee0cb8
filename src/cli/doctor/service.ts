import { createServer } from 'node:net';
import { join } from 'node:path';
import { engines } from '../../engines/index.ts';
import type { Config } from '../../gateway/config.ts';
import { readAddress, type ServerAddress } from '../../home/address.ts';
import { isServed } from '../../home/server-lock.ts';
import { certificateFault, clientOf } from '../client.ts';
import { CliError } from '../failure.ts';
import { type Check, type Finding, fail, notChecked, ok, warn } from './check.ts';

export const configuration: Check = {
  name: 'config',
  run({ loaded }) {
    if (loaded instanceof Error) return fail(loaded.message, 'Correct what it names; abp config check shows more.');
    const source = loaded.source ?? 'no file, defaults in effect';
    if (loaded.warnings.length > 0) return warn(`${source}: ${loaded.warnings.join('; ')}`, 'Correct what it names.');
    return ok(source);
  },
};

export const server: Check = {
  name: 'server',
  async run({ home, loaded }) {
    const address = isServed(join(home, 'server.lock')) ? readAddress(join(home, 'address')) : undefined;
    if (address !== undefined) return judgeAnswer(address);
    if (loaded instanceof Error) return notChecked();
    const { host, port } = loaded.config.server;
    return judgePort(host, port);
  },
};

async function judgeAnswer(address: ServerAddress): Promise<Finding> {
  try {
    await clientOf(address).call('GET', '/healthz');
    const known = address.certificate === undefined ? '' : ', known by its certificate';
    return ok(`answers at ${address.shared ?? address.url} (pid ${address.pid})${known}`);
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // A server that others can call is healthy: nobody is told to end it.
    if (certificateFault(thrown) === undefined) return fail(message, `Look at the log of process ${address.pid}.`);
    return warn(message, thrown instanceof CliError ? thrown.hint : 'Look at its certificate (server.cert_file).');
  }
}

export async function judgePort(host: string, port: number): Promise<Finding> {
  const problem = await tryListen(host, port);
  if (problem === undefined) return ok(`not running; ${host}:${port} is free`);
  if (problem.code === 'EADDRINUSE') {
    return fail(`${host}:${port} is used by another program`, 'Stop it, or choose another port with ABP_PORT or abp serve --port.');
  }
  return fail(`${host}:${port} cannot be used: ${problem.message}`, 'Choose another address with ABP_HOST and ABP_PORT.');
}

/** Listens for a moment; what went wrong, if anything did. */
function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

export const engineKeys: Check = {
  name: 'engines',
  run: ({ loaded }) => (loaded instanceof Error ? notChecked() : judgeEngines(loaded.config)),
};

/** An engine without a key still serves callers who bring their own, so a missing key is never a failure. */
export function judgeEngines(config: Pick<Config, 'engines'>): Finding {
  const outside = engines.filter((engine) => engine.auth !== undefined && engine.auth.optional !== true);
  const keyless = outside.filter((engine) => config.engines[engine.id]?.key === undefined);
  const keyed = outside.filter((engine) => !keyless.includes(engine));
  const message = `with a key: ${names(keyed)}; without: ${names(keyless)}`;
  if (keyed.length > 0) return ok(message);
  const variables = keyless.flatMap((engine) => engine.auth?.env.slice(0, 1) ?? []);
  return warn(message, `Set ${variables.join(', ')}, or let callers bring their own keys; sim needs none.`);
}

function names(list: readonly { readonly id: string }[]): string {
  return list.length === 0 ? 'none' : list.map((one) => one.id).join(', ');
}
