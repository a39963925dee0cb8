#!/usr/bin/env node
// A small agent: it asks a model once and prints what it does, one JSON object per line.
const [prompt = 'hello'] = process.argv.slice(2);
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
print({ type: 'begin', session: `greeting-${process.pid}` });
const answer = await fetch(`${process.env.GREETER_URL}/v1/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': process.env.GREETER_KEY ?? '', 'anthropic-version': '2023-06-01' },
  body: JSON.stringify({ model: process.env.GREETER_MODEL, max_tokens: 1000, messages: [{ role: 'user', content: prompt }] }),
});
const body = await answer.json();
if (answer.ok) print({ type: 'said', text: body.content.map(({ text }) => text ?? '').join('') });
else print({ type: 'failed', message: body.error?.message ?? `status ${answer.status}` });
