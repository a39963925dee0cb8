import { openApi } from '../openapi.ts';
import { defineRoute, type Route } from '../route.ts';
import { adapterModelRoutes } from './adapter-models.ts';
import { adapterRoutes } from './adapters.ts';
import { agentRoutes } from './agents.ts';
import { approvalRoutes } from './approvals.ts';
import { attachedRunRoutes } from './attached-runs.ts';
import { backendRoutes } from './backends.ts';
import { capabilityRoutes } from './capabilities.ts';
import { docsRoutes } from './docs.ts';
import { engineRoutes } from './engines.ts';
import { explainRoutes } from './explain.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { modelRoutes } from './models.ts';
import { negotiateRoutes } from './negotiate.ts';
import { receiptRoutes } from './receipts.ts';
import { receiptChainRoutes } from './receipts-chain.ts';
import { receiptStreamRoutes } from './receipts-stream.ts';
import { recordingRoutes } from './recordings.ts';
import { runEventRoutes } from './run-events.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './sessions.ts';

const described: readonly Route[] = [
  ...healthRoutes,
  ...negotiateRoutes,
  ...explainRoutes,
  ...backendRoutes,
  ...receiptRoutes,
  ...recordingRoutes,
  ...receiptChainRoutes,
  ...receiptStreamRoutes,
  ...keyRoutes,
  ...modelRoutes,
  ...engineRoutes,
  ...adapterRoutes,
  ...adapterModelRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...attachedRunRoutes,
  ...agentRoutes,
  ...capabilityRoutes,
  ...sessionRoutes,
  ...approvalRoutes,
  ...docsRoutes,
];

const openApiRoute = defineRoute({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This API, described.',
  need: { kind: 'public' },
  handle: ({ gateway }) => openApi(described, gateway.version),
});

/** Every control route. */
export const routes: readonly Route[] = [...described, openApiRoute];
