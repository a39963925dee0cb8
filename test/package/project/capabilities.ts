interface Assigned {
  readonly items: readonly { readonly capability_id: string; readonly position: number }[];
  readonly total: number;
}

/** Composes an agent of capabilities over HTTP; the order of the list is their position. */
export async function composed(url: string): Promise<Assigned> {
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return await answer.json();
  };
  const { total } = (await send('GET', '/v1/capabilities')) as { readonly total: number };
  if (total !== 7) throw new Error(`a new installation lists ${total} capabilities`);
  const { id } = (await send('POST', '/v1/agents', { name: 'helper' })) as { readonly id: string };
  return (await send('PUT', `/v1/agents/${id}/capabilities`, { capabilities: ['current_time', 'test_math'] })) as Assigned;
}
