type Fetch = typeof globalThis.fetch;

/** Headers of the answer that a result was made of; empty until it has come. */
interface Box {
  headers: Headers | undefined;
}

/** A vendor's client object as far as it matters here. */
type Target = Record<PropertyKey, unknown>;
type Method = (...args: unknown[]) => unknown;

const boxes = new WeakMap<object, Box>();

/** The headers of a result of a wrapped client; undefined for anything else. */
export function headersOf(result: object): Headers | undefined {
  return boxes.get(result)?.headers;
}

/**
 * The client with results that carry the `headers` of their answer. Every call gets a client of its own whose `fetch` notes the
 * headers: that is the one way that holds for calls at the same time and for helpers that call on their own.
 */
export function wrapClient<T extends object>(client: T): T {
  return wrapPath(client as Target, []) as T; // the same members, by the proxy
}

/** Stands for the member of the client at the path. */
function wrapPath(root: Target, path: readonly PropertyKey[]): unknown {
  const target = resolve(root, path);
  return new Proxy(target, {
    get: (_, name) => member(root, path, name),
    apply: (_, _self, args: unknown[]) => call(root, path, args),
  });
}

function resolve(root: Target, path: readonly PropertyKey[]): Target {
  return path.reduce<Target>((target, name) => target[name] as Target, root); // members that were seen to be there
}

function member(root: Target, path: readonly PropertyKey[], name: PropertyKey): unknown {
  const value = resolve(root, path)[name];
  const isWrapped = typeof name === 'string' && !name.startsWith('_') && (isResource(value) || typeof value === 'function');
  return isWrapped ? wrapPath(root, [...path, name]) : value;
}

/** Parts of a client are instances of its classes; options, headers and the like are plain objects. */
function isResource(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && !Array.isArray(value) && !(value instanceof Headers);
}

function call(root: Target, path: readonly PropertyKey[], args: unknown[]): unknown {
  const box: Box = { headers: undefined };
  const [scoped, given] = scope(root, args, box);
  const self = resolve(scoped, path.slice(0, -1));
  const method = self[path.at(-1) ?? ''] as Method; // `apply` is only reached on a function
  return carrying(method.apply(self, given), box);
}

/** The client and the arguments for one call, with a `fetch` that notes the headers. */
function scope(root: Target, args: unknown[], box: Box): [Target, unknown[]] {
  if (typeof root.withOptions === 'function') {
    const base = typeof root.fetch === 'function' ? (root.fetch as Fetch) : globalThis.fetch; // the SDK's own is a fetch
    return [(root.withOptions as Method)({ fetch: noting(base, box) }) as Target, args]; // a client like this one
  }
  return [root, 'apiClient' in root ? withFetch(args, box) : args];
}

/** Google's SDK takes a `fetch` among the options of a request. */
function withFetch([parameters, ...rest]: unknown[], box: Box): unknown[] {
  if (typeof parameters !== 'object' || parameters === null) return [parameters, ...rest];
  const { config = {} } = parameters as { config?: { httpOptions?: { fetch?: Fetch } } }; // every method takes it so
  const httpOptions = { ...config.httpOptions, fetch: noting(config.httpOptions?.fetch ?? globalThis.fetch, box) };
  return [{ ...parameters, config: { ...config, httpOptions } }, ...rest];
}

function noting(fetch: Fetch, box: Box): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    box.headers = answer.headers;
    return answer;
  };
}

/** The result with its headers; a promise is one of such a result, with all it can do besides. */
function carrying(result: unknown, box: Box): unknown {
  if (typeof result !== 'object' || result === null) return result;
  if (!(result instanceof Promise)) return attach(result, box);
  const settled = (): Promise<unknown> => result.then((value: unknown) => carrying(value, box));
  const waits: Readonly<Record<PropertyKey, unknown>> = {
    // biome-ignore lint/suspicious/noThenProperty: it stands for a promise
    then: (...args: Parameters<Promise<unknown>['then']>) => settled().then(...args),
    catch: (...args: Parameters<Promise<unknown>['catch']>) => settled().catch(...args),
    finally: (...args: Parameters<Promise<unknown>['finally']>) => settled().finally(...args),
  };
  return new Proxy(result, {
    get: (promise, name) => {
      if (Object.hasOwn(waits, name)) return waits[name];
      const value: unknown = Reflect.get(promise, name);
      return typeof value === 'function' ? value.bind(promise) : value;
    },
  });
}

function attach<T extends object>(result: T, box: Box): T {
  boxes.set(result, box);
  // An answer of the SDK that has headers of its own has these.
  if (!('headers' in result)) Object.defineProperty(result, 'headers', { get: () => box.headers, enumerable: false, configurable: true });
  return result;
}
