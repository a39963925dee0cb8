import { openApi } from '../openapi.ts';
import { defineRoute, type Route } from '../route.ts';
import { backendRoutes } from './backends.ts';
import { docsRoutes } from './docs.ts';
import { engineRoutes } from './engines.ts';
import { explainRoutes } from './explain.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { modelRoutes } from './models.ts';
import { negotiateRoutes } from './negotiate.ts';
import { receiptRoutes } from './receipts.ts';

const described: readonly Route[] = [
  ...healthRoutes,
  ...negotiateRoutes,
  ...explainRoutes,
  ...backendRoutes,
  ...receiptRoutes,
  ...keyRoutes,
  ...modelRoutes,
  ...engineRoutes,
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
