import { AuditList, AuditQuery } from '../../api/audit.ts';
import { listAudit } from '../../audit/audit-list.ts';
import { defineRoute } from '../../route.ts';

export const auditRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/audit',
    summary: 'Who changed what, and who read what belongs to others, newest first: records of the signed chains of all nodes.',
    query: AuditQuery,
    response: AuditList,
    handle: async ({ gateway, query }) => {
      await gateway.audit.sealed();
      return await listAudit(gateway.store, query);
    },
  }),
];
