/** How often a server that npm has started looks whether the shell that npm put between the two is still there. */
const LOOK_MS = 500;

/**
 * The signal that ends this process. npm hands SIGTERM on to the shell that runs its script and waits for nothing else: the shell ends,
 * and `npm start` would leave the server behind. A server that npm has started therefore takes the end of that shell for SIGTERM.
 */
export async function firstSignal(env: NodeJS.ProcessEnv = process.env): Promise<NodeJS.Signals> {
  return await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    if (env.npm_lifecycle_event !== 'start') return;
    const shell = process.ppid;
    const look = setInterval(() => {
      if (process.ppid === shell) return;
      clearInterval(look);
      resolve('SIGTERM');
    }, LOOK_MS);
    look.unref();
  });
}
