#!/bin/bash
# Speaks as Claude Code does, needs nothing of its own beside it, and does what a file `task.sh` of its workspace says.
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
read -r _
echo '{"type":"system","subtype":"init","session_id":"11111111-2222-4333-8444-555555555555","tools":[],"model":"m"}'
bash ./task.sh >task.out 2>&1
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"11111111-2222-4333-8444-555555555555","num_turns":1,"duration_ms":1,"total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1}}'
