import type { Registry } from './command.ts';

/** An option as a shell offers it. */
interface Flag {
  readonly name: string;
  readonly takesValue: boolean;
  readonly description: string;
}

/** A command as a shell offers it. */
interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
}

function flagOf({ syntax, description }: { readonly syntax: string; readonly description: string }): Flag {
  const [name = '', value] = syntax.split(' ');
  return { name, takesValue: value !== undefined, description };
}

/** The words that a shell can complete: every command with its options, and the first words of those that have two. */
interface Completed {
  readonly commands: readonly CompletedCommand[];
  readonly families: Registry['families'];
}

export async function completed({ commands, families, globals }: Registry): Promise<Completed> {
  const all = commands.map(async ({ name, summary, load }) => {
    const { command } = await load();
    return { name, summary, flags: [...Object.values(command.options), ...globals].map(flagOf) };
  });
  return { commands: await Promise.all(all), families };
}

/** The first words, each once, with what they are for. */
function firstWords({ commands, families }: Completed): Map<string, string> {
  return new Map(
    commands.map(({ name, summary }) => {
      const [first = ''] = name.split(' ');
      return [first, families[first]?.summary ?? summary];
    }),
  );
}

/** The second words of a family. */
function secondWords(commands: readonly CompletedCommand[], family: string): [string, string][] {
  return commands.filter(({ name }) => name.startsWith(`${family} `)).map(({ name, summary }) => [name.slice(family.length + 1), summary]);
}

/** Options of any command whose next word is their value. */
function valuedFlags(commands: readonly CompletedCommand[]): string[] {
  return [...new Set(commands.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).map((flag) => flag.name)))];
}

/** A text inside single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function bash(all: Completed): string {
  const { commands, families } = all;
  const cases = commands.map(({ name, flags }) => `    ${quoted(name)}) words=${quoted(flags.map((flag) => flag.name).join(' '))} ;;`);
  const valued = valuedFlags(commands);
  return `# abp completion for bash: eval "$(abp completion bash)"
_abp() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} first='' second='' words='' word skip=''
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valued.join('|')}) skip=1 ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
    esac
  done
  case $before in
    ${valued.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [[ -z $first ]]; then
    words=${quoted([...firstWords(all).keys(), '--help', '--version'].join(' '))}
  else
    case $first in
${Object.keys(families)
  .map(
    (family) =>
      `      ${family}) if [[ -z $second ]]; then words=${quoted(
        secondWords(commands, family)
          .map(([word]) => word)
          .join(' '),
      )}; else first="$first $second"; fi ;;`,
  )
  .join('\n')}
    esac
  fi
  [[ -z $words ]] && case $first in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 && $current != -* ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _abp abp
`;
}

function zsh(all: Completed): string {
  const { commands, families } = all;
  const described = ([word, summary]: readonly [string, string]): string => quoted(`${word.replaceAll(':', String.raw`\:`)}:${summary}`);
  const cases = commands.map(
    ({ name, flags }) => `    ${quoted(name)}) flags=(${flags.map((flag) => described([flag.name, flag.description])).join(' ')}) ;;`,
  );
  return `#compdef abp
# abp completion for zsh: eval "$(abp completion zsh)"
_abp() {
  local -a flags
  local first='' second='' word skip=''
  for word in \${words[2,CURRENT-1]}; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valuedFlags(commands).join('|')}) skip=1 ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
    esac
  done
  if [[ -n $skip ]]; then _files; return; fi
  if [[ -z $first ]]; then
    local -a commands
    commands=(${[...firstWords(all)].map(described).join(' ')})
    _describe command commands
    return
  fi
  case $first in
${Object.keys(families)
  .map(
    (family) => `    ${family}) if [[ -z $second ]]; then
        local -a parts
        parts=(${secondWords(commands, family).map(described).join(' ')})
        _describe command parts
        return
      fi
      first="$first $second" ;;`,
  )
  .join('\n')}
  esac
  case $first in
${cases.join('\n')}
  esac
  _describe -o option flags || _files
}
compdef _abp abp
`;
}

function fish(all: Completed): string {
  const { commands } = all;
  const lines = [...firstWords(all)].map(([word, summary]) => `complete -c abp -f -n __abp_after -a ${word} -d ${quoted(summary)}`);
  for (const { name, summary, flags } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) lines.push(`complete -c abp -f -n ${quoted(`__abp_after ${first}`)} -a ${second} -d ${quoted(summary)}`);
    for (const flag of flags)
      lines.push(
        `complete -c abp -n ${quoted(`__abp_in ${name}`)} -l ${flag.name.slice(2)}${flag.takesValue ? ' -r' : ''} -d ${quoted(flag.description)}`,
      );
  }
  return `# abp completion for fish: abp completion fish | source
# The words before the cursor that are neither options nor their values.
function __abp_words
  set -l skip ''
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${valuedFlags(commands).join(' ')}
        set skip 1
      case '-*'
      case '*'
        echo $word
    end
  end
end
function __abp_after
  set -l words (__abp_words)
  test "$words" = "$argv"
end
function __abp_in
  set -l words (__abp_words)
  set -l length (count $argv)
  test (count $words) -ge $length; or return 1
  set -l first $words[1..$length]
  test "$first" = "$argv"
end
${lines.join('\n')}
`;
}

export const SHELLS: Readonly<Record<string, (all: Completed) => string>> = { bash, zsh, fish };
