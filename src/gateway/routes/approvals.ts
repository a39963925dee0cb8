import { answerApproval, openApprovals } from '../../platform/turns/turns.ts';
import { ApprovalAnswer, ApprovalList, ApprovalParams, ApprovalView, SessionParams } from '../api/sessions.ts';
import { openQuestions } from '../inbox/open-questions.ts';
import { defineRoute } from '../route.ts';
import { assertMaySpeak, readableSession, sessionOf } from './sessions.ts';

export const approvalRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/sessions/{id}/approvals',
    summary: 'Calls that wait until somebody says yes or no.',
    params: SessionParams,
    response: ApprovalList,
    handle: async ({ gateway, principal, params }) => ({
      items: await openApprovals(gateway.sessions.parts, await readableSession(gateway, principal, params.id, 'approvals')),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/sessions/{id}/approvals/{approval_id}',
    summary: 'Answers such a question. An approved call is made at once, as it stood in the question.',
    audit: { action: 'approval.answer', body: true },
    params: ApprovalParams,
    body: ApprovalAnswer,
    response: ApprovalView,
    handle: async ({ gateway, principal, params, body }) => {
      const { parts, worker } = gateway.sessions;
      const session = await sessionOf(gateway, principal, params.id);
      if (principal.kind !== 'paired') await assertMaySpeak(gateway, principal, session.id);
      const question = (await openQuestions(gateway, principal)).find(({ id }) => id === params.approval_id);
      const view = await answerApproval(parts, worker, session, {
        approvalId: params.approval_id,
        approved: body.decision === 'approve',
        note: body.note,
      });
      if (question !== undefined)
        gateway.browsers.answered.add(question, principal, { approved: body.decision === 'approve', reason: body.note });
      return view;
    },
  }),
];
