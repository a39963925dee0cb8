import { openRunGateway, type RunGateway } from '../../gateway/run-plane/run-gateway.ts';
import type { Context } from '../command.ts';

const WAITING = 'done; other commands still go through this one, which ends with them (Ctrl-C ends it now)';

/** The server of the home, or one inside this command, which says so when others keep it. */
export async function openGateway({ homePath, configPath, io, output }: Context): Promise<RunGateway> {
  return await openRunGateway({ homePath, configPath, onWaiting: () => void io.stderr.write(`${output.paint.faint(WAITING)}\n`) });
}
