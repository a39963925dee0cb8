import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '../../base/canonical-json.ts';
import { upstreamHeaders } from '../../calls/headers.ts';
import { Recorder } from '../../calls/recorder.ts';
import { relay } from '../../calls/relay.ts';
import { decode } from '../../calls/watch.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import { parseCompatibility, parseRequirements } from '../../mapping/requirements.ts';
import { type Route, route } from '../../mapping/route.ts';
import { type Scan, scanBody, spliceModel } from '../../mapping/scan.ts';
import { assertMet, negotiate, unmet } from '../../negotiation/negotiate.ts';
import { generateReport } from '../../negotiation/report.ts';
import type { OpenFact } from '../../receipts/facts.ts';
import { authorize } from '../auth/access.ts';
import { isOurSecret, keyIdOf, type Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { recordingFor } from '../recording.ts';
import type { Target } from '../target.ts';
import { HttpAnswer } from './answer.ts';
import { readBody } from './body.ts';

const MIB = 1024 * 1024;

/** A vendor call that has been recognised and whose caller is known. */
export interface VendorCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly match: PathMatch;
  readonly principal: Principal;
}

/** Body, then route, then permission, then the journal, then the engine: no engine is called that the journal does not know of. */
export async function handleVendor(gateway: Gateway, call: VendorCall): Promise<void> {
  const { request } = call;
  const body = await readBody(request, gateway.config.limits.vendor_body_mb * MIB, gateway.budget);
  try {
    const scan = await scanned(request, body);
    const recorder = new Recorder(gateway.keeper, gateway.live, call.runId);
    dispatch(gateway, call, planCall(gateway, call, { body, scan }, recorder), recorder);
  } finally {
    gateway.budget.release(body.length);
  }
}

interface Read {
  readonly body: Buffer;
  readonly scan: Scan;
}

interface Plan {
  readonly route: Route;
  readonly body: Buffer;
}

async function scanned(request: IncomingMessage, body: Buffer): Promise<Scan> {
  const encoding = (request.headers['content-encoding'] ?? '').toLowerCase();
  const text = encoding === '' ? body : await decode(body, encoding);
  if (text === undefined) throw new AbpError('invalid_request', `The body is not valid ${encoding}.`);
  return scanBody(text);
}

/** Decides where the call goes and writes it down; a refusal is written down too, then thrown. */
function planCall(gateway: Gateway, call: VendorCall, read: Read, recorder: Recorder): Plan {
  const { principal, match, target } = call;
  const base = openingFacts(gateway, call, read);
  let opened = false;
  try {
    const chosen = chooseRoute(call, read.scan);
    const { engine } = chosen;
    authorize(principal, { kind: 'vendor', engine: engine.id, raw: false, ...(chosen.model === undefined ? {} : { model: chosen.model }) });
    const body =
      chosen.renamed && read.scan.modelSpan !== undefined ? spliceModel(read.body, read.scan.modelSpan, chosen.model ?? '') : read.body;
    const requirements = parseRequirements(header(call, 'x-abp-require'));
    recorder.open({
      ...base,
      engine: engine.id,
      backend: `engine:${engine.id}`,
      task: `${match.path.method} ${target.path} → ${engine.id}`,
      upstreamModel: chosen.model ?? null,
      mode: chosen.mode,
      negotiation: requirements.required.length === 0 ? null : negotiated(engine.manifest, requirements),
      fidelity: chosen.renamed ? [{ path: 'model', fate: 'renamed', note: 'the engine prefix was taken off' }] : [],
      upstreamRequest: { sha256: body === read.body ? (base.request?.sha256 ?? '') : sha256(body), bytes: body.length },
    });
    opened = true;
    assertMet({ manifest: engine.manifest, requirements, compatibility: base.compatibility, backend: engine.name });
    assertKey(gateway, engine.id);
    return { route: chosen, body };
  } catch (error) {
    if (AbpError.is(error)) {
      if (!opened) recorder.open(base);
      recorder.refused(error);
    }
    throw error;
  }
}

function negotiated(
  manifest: Route['engine']['manifest'],
  requirements: ReturnType<typeof parseRequirements>,
): NonNullable<OpenFact['negotiation']> {
  const result = negotiate(manifest, requirements);
  return { result, report: generateReport(result, manifest), unmet: unmet(manifest, requirements) };
}

function chooseRoute(call: VendorCall, scan: Scan): Route {
  const { target, match } = call;
  const headerEngine = header(call, 'x-abp-engine');
  const model = match.model ?? scan.model;
  return route({
    dialect: match.dialect,
    ...(target.engine === undefined ? {} : { pathEngine: target.engine }),
    ...(headerEngine === undefined ? {} : { headerEngine }),
    ...(model === undefined ? {} : { model }),
  });
}

function openingFacts(gateway: Gateway, call: VendorCall, read: Read): Omit<OpenFact, 'fact' | 'run' | 'at'> {
  const { principal, match, target } = call;
  return {
    plane: 'gateway',
    task: `${match.path.method} ${target.path}`,
    dialect: match.dialect.id,
    engine: null,
    backend: 'gateway',
    requestedModel: match.model ?? read.scan.model ?? null,
    upstreamModel: null,
    mode: null,
    compatibility: parseCompatibility(header(call, 'x-abp-compatibility')),
    negotiation: null,
    emulations: [],
    fidelity: [],
    request: { sha256: sha256(read.body), bytes: read.body.length },
    upstreamRequest: null,
    recording: recordingFor(gateway.config, principal),
    enforcement: 'enforced',
    tags: principal.kind === 'key' ? principal.key.tags : [],
    keyId: keyIdOf(principal),
  };
}

/** An engine that wants our key and has none says which variable is missing. */
function assertKey(gateway: Gateway, engineId: string): void {
  const deployment = gateway.deployments.get(engineId);
  if (deployment === undefined || deployment.auth !== 'key' || deployment.key !== undefined) return;
  const variable = deployment.engine.auth?.env[0] ?? `ABP_ENGINE_${engineId.toUpperCase()}_KEY`;
  throw new AbpError('E007', `${deployment.engine.name} has no key: set ${variable}`, {
    backend_id: `engine:${engineId}`,
    reason: `${variable} is not set`,
  });
}

function dispatch(gateway: Gateway, call: VendorCall, plan: Plan, recorder: Recorder): void {
  const { request, response, runId, target, match } = call;
  const deployment = gateway.deployments.get(plan.route.engine.id);
  if (deployment === undefined) throw new AbpError('internal', `engine ${plan.route.engine.id} has no deployment`);
  const exchange = relay({
    deployment,
    dialect: match.path.operation === 'generate' ? match.dialect : undefined,
    recorder,
    answer: new HttpAnswer(response, { runId, url: gateway.url, dialect: match.dialect }),
    onFault: (error) => gateway.log.error({ error, run: runId }, 'the answer of a run could not be read'),
    request: {
      method: match.path.method,
      origin: deployment.origin,
      path: `${deployment.basePath}${target.path}${target.query}`,
      headers: upstreamHeaders(request.rawHeaders, deployment, isOurSecret),
      body: plan.body,
      silenceMs: deployment.silenceMs,
      runHex: runId.slice(4),
    },
  });
  response.on('drain', () => exchange.resume());
  response.once('close', () => {
    if (!response.writableFinished) exchange.abort();
  });
}

function header(call: VendorCall, name: string): string | undefined {
  const value = call.request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
