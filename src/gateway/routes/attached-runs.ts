import { AbpError } from '../../contract/errors.ts';
import { isCancelRequested } from '../../store/runs/run-cancels.ts';
import {
  AttachedAdmission,
  AttachedCancel,
  AttachedClosing,
  AttachedEngine,
  AttachedKey,
  AttachedOpening,
  AttachedParams,
  AttachedProcess,
  AttachedSecret,
  Fates,
  Offer,
  OfferQuery,
  ProcessParams,
  Spend,
  SpendQuery,
} from '../api/attached-runs.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { attachedRunsOf } from '../run-plane/attach.ts';
import { closingFromWire, fatesToWire, keyFromWire, offerToWire, openingFromWire, spendToWire } from '../run-plane/attached-wire.ts';
import { runPort } from '../run-plane/run-port.ts';
import { engineWord } from '../run-plane/run-refusals.ts';
import { runIdOf } from '../run-plane/unknown-run.ts';

/** Of a run that has made no calls. */
const NO_FATES = { upstreamModel: null, emulations: [], fidelity: [], answerFidelity: [] };

/** For processes of this home that drive an agent themselves (`abp launch`, the in-process client): the gateway is this server. */
export const attachedRunRoutes = [
  defineRoute({
    method: 'PUT',
    path: '/v1/attached-processes/{process_id}',
    summary: 'A process of this home is going to use the server, which does not end by itself until it has left.',
    params: ProcessParams,
    body: AttachedProcess,
    handle: async ({ gateway, params, body }) => {
      if (attachedRunsOf(gateway).visit(params.process_id, body.owner)) return new Reply(204, undefined);
      throw new AbpError('conflict', 'This server belongs to a command that is about to end; another one will serve the home.');
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/attached-processes/{process_id}',
    summary: 'The process needs the server no longer.',
    params: ProcessParams,
    handle: async ({ gateway, params }) => {
      attachedRunsOf(gateway).leave(params.process_id);
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attached-runs/offer',
    summary: 'Which engine would serve an agent, and on whose credential.',
    query: OfferQuery,
    response: Offer,
    handle: async ({ gateway, query: { engine, model, dialect, dialects = dialect } }) =>
      offerToWire(await runPort(gateway).offer({ engine, model, dialect, dialects: dialects.split(',') })),
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/attached-runs/{run_id}',
    summary: 'A process of this home begins a run.',
    params: AttachedParams,
    body: AttachedOpening,
    handle: async ({ gateway, params, body }) => {
      const run = runIdOf(params.run_id);
      await runPort(gateway).opened(openingFromWire(run, body));
      attachedRunsOf(gateway).add(run, { owner: body.owner, startedAt: body.at, endsWithOwner: body.ends_with_owner });
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/attached-runs/{run_id}/claim',
    summary: 'Takes an id that the caller has made for a run; a second claim is a conflict.',
    params: AttachedParams,
    handle: async ({ gateway, params }) => {
      await runPort(gateway).claim(runIdOf(params.run_id));
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/attached-runs/{run_id}/admission',
    summary: 'Whether the run may start its agent: policy, budgets and limits are asked.',
    params: AttachedParams,
    body: AttachedAdmission,
    handle: async ({ gateway, params, body }) => {
      const [runId, { owner, ...ask }] = [runIdOf(params.run_id), body];
      await runPort(gateway).admit({ runId, ...ask });
      attachedRunsOf(gateway).expect(runId, owner);
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/attached-runs/{run_id}/key',
    summary: 'A key for the model calls of the run.',
    params: AttachedParams,
    body: AttachedKey,
    response: AttachedSecret,
    handle: async ({ gateway, params, body }) => {
      const secret = await runPort(gateway).mintRunKey(keyFromWire(runIdOf(params.run_id), body));
      return new Reply(201, { secret });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/attached-runs/{run_id}/key',
    summary: 'The key of the run opens nothing any more.',
    params: AttachedParams,
    handle: async ({ gateway, params }) => {
      await runPort(gateway).dropRunKey(runIdOf(params.run_id));
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attached-runs/{run_id}/cancelled',
    summary: 'Whether somebody wants the run ended.',
    params: AttachedParams,
    response: AttachedCancel,
    handle: async ({ gateway, params }) => ({ cancelled: await isCancelRequested(gateway.store, runIdOf(params.run_id)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attached-runs/{run_id}/engine',
    summary: 'Whether the engine of the run can be reached, as far as its calls have shown.',
    params: AttachedParams,
    response: AttachedEngine,
    handle: ({ gateway, params }) => engineWord(gateway, runIdOf(params.run_id)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attached-runs/{run_id}/spend',
    summary: 'What the model calls of the run have used.',
    params: AttachedParams,
    query: SpendQuery,
    response: Spend,
    handle: async ({ gateway, params, query }) => spendToWire(await runPort(gateway).spent(runIdOf(params.run_id), query.state)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/attached-runs/{run_id}/fates',
    summary: 'What became of the model calls of a run that has ended.',
    params: AttachedParams,
    response: Fates,
    handle: async ({ gateway, params }) => {
      const { fates = NO_FATES } = await runPort(gateway).spent(runIdOf(params.run_id), 'ended');
      return fatesToWire(fates);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/attached-runs/{run_id}/close',
    summary: 'The run is over; its receipt is written.',
    params: AttachedParams,
    body: AttachedClosing,
    handle: async ({ gateway, params, body }) => {
      const run = runIdOf(params.run_id);
      await runPort(gateway).closed(closingFromWire(run, body));
      attachedRunsOf(gateway).remove(run);
      return new Reply(204, undefined);
    },
  }),
];
