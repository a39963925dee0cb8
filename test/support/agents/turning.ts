import { begin, print } from './print.ts';

begin();
let turn = 0;
setInterval(() => {
  turn += 1;
  print({ type: 'turn_start', turnIndex: turn });
  print({ type: 'cost', cost: { totalUsd: turn / 10, inputTokens: turn, outputTokens: turn } });
}, 20);
