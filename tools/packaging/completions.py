"""Completion for bash, zsh and fish: commands, options, the words an option takes, names in the catalogue, files."""

import re

# What `farandole show` lists names of; they are asked for when they are needed, so that they are those that are there.
CATALOGUES = {"--topology": "topologies", "--model": "models", "--algorithm": "algorithms", "--op": "algorithms"}
COLUMN = {"--algorithm": 2}
# What `farandole show KIND NAME` looks into, and the list and its column that have the names.
SHOWN = {"model": ("models", 1), "topology": ("topologies", 1), "algorithm": ("algorithms", 2), "strategy": ("strategies", 1), "offer": ("offers", 1)}


def _is_file(option):
    return option.metavar.split(".")[0] in {"FILE", "SCENARIO", "MEASURED", "SHARD", "T", "TRACE"}


def _names_of(catalogue, column):
    """The shell command that lists the names of a catalogue; only that of offers has no heading."""
    return f"farandole show {catalogue} 2>/dev/null | awk 'NR > {int(catalogue != 'offers')} {{ print ${column} }}' | sort -u"


def _listed(option):
    """The shell command that lists the names an option takes; empty where there is none."""
    for name in option.names:
        if name in CATALOGUES:
            return _names_of(CATALOGUES[name], COLUMN.get(name, 1))
    return ""


def _bash_shown():
    files = {"model": " -f", "topology": " -f", "algorithm": " -f"}
    cases = [f"          {kind}) COMPREPLY=($(compgen -W \"$({_names_of(*names)})\"{files.get(kind, '')} -- \"$word\")); return ;;"
             for kind, names in SHOWN.items()]
    return ["      if [[ $COMP_CWORD -eq 3 && $word != -* ]]; then", "        case ${COMP_WORDS[2]} in", *cases, "        esac", "      fi"]


def _single(text):
    """In single quotes of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bash_values(command):
    cases = []
    for option in command.options:
        names = "|".join(option.names)
        if option.choices:
            cases.append(f"        {names}) COMPREPLY=($(compgen -W {_single(' '.join(option.choices))} -- \"$word\")); return ;;")
        elif _listed(option):
            cases.append(f"        {names}) COMPREPLY=($(compgen -W \"$({_listed(option)})\" -f -- \"$word\")); return ;;")
        elif option.metavar:
            values = 'compgen -f -- "$word"' if _is_file(option) else "true"
            cases.append(f"        {names}) COMPREPLY=($({values})); return ;;")
    return cases


def bash(commands):
    """Sourced by bash-completion when `farandole` is completed first."""
    lines = ["# Completion of farandole for bash.", "_farandole() {",
             '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=""',
             "  if [[ $COMP_CWORD -eq 1 ]]; then",
             f"    COMPREPLY=($(compgen -W \"{' '.join(c.name for c in commands)} --help --version\" -- \"$word\"))",
             "    return", "  fi", "  case ${COMP_WORDS[1]} in"]
    for command in commands:
        names = " ".join(name for option in command.options for name in option.names if name.startswith("--"))
        lines += [f"    {command.name})", f"      options={_single(names)}"]
        values = _bash_values(command)
        if values:
            lines += ['      case $before in', *values, "      esac"]
        words = [word for positional in command.positionals for word in positional.choices]
        if words:
            lines.append(f"      if [[ $COMP_CWORD -eq 2 && $word != -* ]]; then COMPREPLY=($(compgen -W "
                         f"{_single(' '.join(words))} -- \"$word\")); return; fi")
        if command.name == "show":
            lines += _bash_shown()
        lines.append("      ;;")
    lines += ["  esac", "  if [[ $word == -* ]]; then", '    COMPREPLY=($(compgen -W "$options" -- "$word"))', "  else",
              '    COMPREPLY=($(compgen -f -- "$word"))', "  fi", "}", "complete -o filenames -F _farandole farandole", ""]
    return "\n".join(lines)


def fish(commands):
    lines = ["# Completion of farandole for fish.", "complete -c farandole -n __fish_use_subcommand -f",
             "complete -c farandole -n __fish_use_subcommand -l help -d 'Print help'",
             "complete -c farandole -n __fish_use_subcommand -l version -d 'Print the version'"]
    for command in commands:
        lines.append(f"complete -c farandole -n __fish_use_subcommand -a {command.name} -d {_fish(command.summary)}")
        here = f"complete -c farandole -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            lines.append(f"{here} {_fish_names(option)} {_fish_values(option)}-d {_fish(option.description)}")
        for positional in command.positionals:
            if positional.choices:
                words = " ".join(positional.choices)
                first = f"__fish_seen_subcommand_from {command.name}; and not __fish_seen_subcommand_from {words}"
                lines.append(f"complete -c farandole -n '{first}' -f -a {_fish(words)}")
        for kind, names in SHOWN.items() if command.name == "show" else ():
            seen = f"__fish_seen_subcommand_from show; and __fish_seen_subcommand_from {kind}"
            lines.append(f"complete -c farandole -n '{seen}' -a {_fish('(' + _names_of(*names) + ')')}")
    return "\n".join(lines) + "\n"


def _fish(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_names(option):
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)


def _fish_values(option):
    if option.choices:
        return f"-x -a {_fish(' '.join(option.choices))} "
    if _listed(option):
        return f"-r -a {_fish('(' + _listed(option) + ')')} "
    if not option.metavar:
        return ""
    return "-r " if _is_file(option) else "-x "


def _zsh_shown():
    """`words` begins at "show": the kind is the first of its words that is one."""
    files = {"model", "topology", "algorithm"}
    cases = [f"    {kind}) compadd -- $({_names_of(*names)}){'; _files' if kind in files else ''} ;;" for kind, names in SHOWN.items()]
    return ["_farandole_shown() {", f"  case ${{words[(r)({'|'.join(SHOWN)})]}} in", *cases, "  esac", "}", ""]


def zsh(commands):
    lines = ["#compdef farandole", "# Completion of farandole for zsh.", "_farandole_commands() {", "  local -a commands=("]
    lines += [f"    {_single(c.name + ':' + _plain(c.summary))}" for c in commands]
    lines += ["  )", "  _describe command commands", "}", "", *_zsh_shown(), "_farandole() {",
              "  if (( CURRENT == 2 )); then _farandole_commands; return; fi", "  local command=$words[2]", "  shift words",
              "  (( CURRENT-- ))", "  case $command in"]
    for command in commands:
        entries = [_zsh_option(option, name) for option in command.options for name in option.names]
        entries += [_single(("*" if p.metavar.endswith("...") else "") + ":" + _plain(p.names[0]) + ":" + _zsh_positional(command, p))
                    for p in command.positionals]
        lines.append(f"    {command.name}) _arguments -s " + " ".join(entries) + " ;;")
    lines += ["  esac", "}", "", '_farandole "$@"', ""]
    return "\n".join(lines)


def _zsh_positional(command, positional):
    return "_farandole_shown" if command.name == "show" and not positional.choices else _zsh_values(positional)


def _plain(text):
    """Without what _arguments and _describe read as their own."""
    return re.sub(r"[\[\]:\\]", " ", text)


def _zsh_option(option, name):
    more = f":{_plain(option.metavar)}:{_zsh_values(option)}" if option.metavar else ""
    return _single(f"*{name}[{_plain(option.description)}]{more}")


def _zsh_values(option):
    if option.choices:
        return "(" + " ".join(option.choices) + ")"
    if _listed(option):
        return "{ compadd -- $(" + _listed(option) + "); _files }"
    return "_files" if _is_file(option) or not option.names[0].startswith("-") else " "
