import { openApi } from '../openapi.ts';
import { defineRoute, type Route } from '../route.ts';
import { adapterModelRoutes } from './adapter-models.ts';
import { adapterRoutes } from './adapters.ts';
import { agentRoutes } from './agents.ts';
import { approvalRoutes } from './approvals.ts';
import { attachedRunRoutes } from './attached-runs.ts';
import { backendRoutes } from './backends.ts';
import { capabilityRoutes } from './capabilities.ts';
import { configRoutes } from './console/config.ts';
import { interactionRoutes } from './console/interactions.ts';
import { matrixFieldRoutes } from './console/matrix-fields.ts';
import { modelCatalogueRoutes } from './console/model-catalogue.ts';
import { consolePageRoutes } from './console/pages.ts';
import { pushRoutes } from './console/push.ts';
import { runCheckRoutes } from './console/run-check.ts';
import { runRowRoutes } from './console/run-rows.ts';
import { consoleRoutes } from './console/sessions.ts';
import { settingRoutes } from './console/settings.ts';
import { ticketRoutes } from './console/tickets.ts';
import { docsRoutes } from './docs.ts';
import { engineRoutes } from './engines.ts';
import { explainRoutes } from './explain.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { modelRoutes } from './models.ts';
import { negotiateRoutes } from './negotiate.ts';
import { budgetRoutes } from './people/budgets.ts';
import { signInRoutes } from './people/sign-ins.ts';
import { teamRoutes } from './people/teams.ts';
import { userRoutes } from './people/users.ts';
import { auditRoutes } from './receipts/audit.ts';
import { receiptProofRoutes } from './receipts/proof.ts';
import { replayRoutes } from './receipts/replay.ts';
import { receiptRoutes } from './receipts.ts';
import { receiptChainRoutes } from './receipts-chain.ts';
import { receiptStreamRoutes } from './receipts-stream.ts';
import { recordingRoutes } from './recordings.ts';
import { runEventRoutes } from './run-events.ts';
import { workOrderRoutes } from './run-plane/work-orders.ts';
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
  ...receiptProofRoutes,
  ...replayRoutes,
  ...auditRoutes,
  ...keyRoutes,
  ...userRoutes,
  ...signInRoutes,
  ...teamRoutes,
  ...budgetRoutes,
  ...modelRoutes,
  ...engineRoutes,
  ...adapterRoutes,
  ...adapterModelRoutes,
  ...workOrderRoutes,
  ...runRowRoutes,
  ...runCheckRoutes,
  ...settingRoutes,
  ...configRoutes,
  ...matrixFieldRoutes,
  ...modelCatalogueRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...attachedRunRoutes,
  ...agentRoutes,
  ...capabilityRoutes,
  ...sessionRoutes,
  ...approvalRoutes,
  ...interactionRoutes,
  ...docsRoutes,
  ...consoleRoutes,
  ...pushRoutes,
  ...ticketRoutes,
];

const openApiRoute = defineRoute({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This API, described.',
  handle: ({ gateway }) => openApi(described, gateway.version),
});

/** Every control route. */
export const routes: readonly Route[] = [...described, openApiRoute, ...consolePageRoutes];
