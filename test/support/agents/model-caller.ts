import { begin, print, say, succeed } from './print.ts';

/** Sends its prompt, which is the body of a model call, to the gateway it was given, and prints the status and the text of the answer. */
const { FAKE_URL = '', FAKE_KEY = '', FAKE_API_KEY = '' } = process.env;
begin();
const answer = await fetch(FAKE_URL, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    ...(FAKE_KEY === '' ? { 'x-api-key': FAKE_API_KEY } : { authorization: `Bearer ${FAKE_KEY}` }),
  },
  body: process.argv[2] ?? '',
});
print({ type: 'debug', level: 'info', message: `status ${answer.status}` });
say(await answer.text());
succeed();
