import { expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { captureIo } from '../support/capture-io.ts';

async function help(...argv: string[]): Promise<string> {
  const io = captureIo();
  expect(await main([...argv, '--help'], io)).toBe(0);
  return io.out();
}

it('abp --help is this text', async () => {
  expect(await help()).toBe(`Usage: abp <command> [options]

One process between agent code and every model and coding agent.

Options:
  -V, --version    show the version
  --json           write JSON instead of text
  --no-color       write without colours
  --config <file>  configuration file (ABP_CONFIG, else abp.toml)
  --home <dir>     where state is kept (ABP_HOME, else ~/.abp)
  -h, --help       show help

Run the backplane:
  serve            Start the server
  console          Print a link that opens the web console
  worker           Work on turns of a shared database
  config           Work with the configuration
  backup           Write the home and its database to a file, also while a server runs
  restore          Make a home and its database of a backup
  import           Take over the configuration of another gateway
  doctor           Find out what keeps the backplane from working here
  budgets          Say how much may be spent, and see what is
  users            Know whose keys are whose
  teams            Put users and keys together, with limits
  keys             Give out keys and take them back
  audit            Show who changed what, and who read what
  secrets          Keep secrets encrypted at rest
  login            Sign in to a server with its issuer
  logout           End the sign-in of this home
  whoami           Show who you are to the server, and what you may do
  sign-ins         See who is signed in, and end that

Know before you call:
  capabilities     Show what each backend can do
  negotiate        Check requirements against a backend
  explain          Show what would happen to a request on an engine

Coding agents:
  run              Run a coding agent on a prompt
  race             Give one task to several backends, and compare
  launch           Show a coding agent’s own screen, through us
  apply            Bring what a staged run changed into its workspace
  env              Print the variables that send a coding agent through us
  conversations    Read and resume conversations that coding agents have kept
  adapters         Know and install coding agents
  install          Install a coding agent
  models           Know the models of coding agents
  plugins          Work with plugins of coding agents

Agents of your own:
  chat             Talk with an agent
  agents           Work with agents made of capabilities

Receipts:
  usage            Show what calls came to, by engine, model, key, tag and time
  receipts         Read, verify and keep receipts

Record and replay:
  recordings       Work with recorded bodies
  exec             Run a command whose SDKs call through us, from recordings where there are some
  replay           Run a recorded request again and compare

Use the contract:
  conformance      Check that a gateway serves SDKs as the vendors do
  host             Be a sidecar that drives a coding agent, on the standard input and output
  sidecars         Work with programs that speak the sidecar protocol
  seatbelt         Print a profile that confines a coding agent on macOS (not run yet)
  completion       Print a script that lets bash, zsh or fish complete abp
  schema           List, print or write the JSON Schemas
`);
});

it('abp negotiate --help is this text', async () => {
  expect(await help('negotiate')).toBe(`Usage: abp negotiate [options] <backend>

Check requirements against a backend.

Arguments:
  backend                   whom to ask, e.g. engine:claude or host:codex

Options:
  --require <name[=level]>  a capability, at least native or emulated (the default); repeatable
  --file <path>             a work order or its requirements as JSON, - for the standard input
  --strict                  accept native support only
  -h, --help                show help

Global Options:
  -V, --version             show the version
  --json                    write JSON instead of text
  --no-color                write without colours
  --config <file>           configuration file (ABP_CONFIG, else abp.toml)
  --home <dir>              where state is kept (ABP_HOME, else ~/.abp)

Examples:
  abp negotiate engine:claude --require streaming=native --require json_mode
  abp negotiate host:codex --file work-order.json --strict --json
`);
});

it('abp conformance --help is this text', async () => {
  expect(await help('conformance')).toBe(`Usage: abp conformance [options] <base-url>

Check that a gateway serves SDKs as the vendors do.

Arguments:
  base-url          the URL an SDK would be given, with or without /v1

Options:
  --dialect <name>  a dialect that must be served; repeatable (default every one that is)
  --key <key>       sent as each vendor’s SDK sends it
  --model <name>    the model to ask (default sim-1)
  -h, --help        show help

Global Options:
  -V, --version     show the version
  --json            write JSON instead of text
  --no-color        write without colours
  --config <file>   configuration file (ABP_CONFIG, else abp.toml)
  --home <dir>      where state is kept (ABP_HOME, else ~/.abp)

Examples:
  abp conformance http://127.0.0.1:8088/e/sim
  abp conformance https://gateway.example.com --dialect openai-chat --key sk-1 --model gpt-5 --json
`);
});
