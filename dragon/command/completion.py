"""`dragon completion`: scripts for bash, zsh and fish, made from the table of commands and their parsers."""
import argparse
import shlex

from dragon.command import parser as parsers
from dragon.command import table

EXAMPLES = (
    ("dragon completion bash > ~/.local/share/bash-completion/completions/dragon", "for bash, from the next shell on"),
    ("dragon completion zsh > ~/.zfunc/_dragon", "for zsh, where ~/.zfunc is in fpath"),
    ("dragon completion fish > ~/.config/fish/completions/dragon.fish", "for fish"),
)
TOP = (("--help", "show the commands"), ("--version", "print the version"))


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="whose script is printed")


def main(options):
    """Print the script."""
    print(SHELLS[options.shell](read_table()), end="")
    return 0


def read_table():
    """Return [(command, options as [(words, sentence, takes a value)], words it takes first)] of all commands."""
    found = []
    for command in table.TABLE:
        actions = parsers.make(command, table.load(command))._actions
        options = [(action.option_strings, (action.help or "").replace("%%", "%"), takes_value(action), choices(action))
                   for action in actions if action.option_strings and action.help is not argparse.SUPPRESS]
        places = [choice for action in actions if not action.option_strings for choice in choices(action)]
        found.append((command, options, places))
    return found


def choices(action):
    """Return the words that an argument may be, or none where it may be anything."""
    return [str(choice) for choice in action.choices or ()]


def takes_value(action):
    """Return whether an option stands before a value."""
    return action.nargs != 0


def write_bash(rows):
    """Return the script for bash."""
    names = " ".join([command.name for command, _, _ in rows] + [words for words, _ in TOP])
    lines = ["# Completion of `dragon` for bash, printed by `dragon completion bash`.", "_dragon() {",
             '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
             "    COMPREPLY=()",
             '    if [ "$COMP_CWORD" -eq 1 ]; then',
             f"        COMPREPLY=($(compgen -W {shlex.quote(names)} -- \"$word\"))", "        return", "    fi",
             '    case "${COMP_WORDS[1]}:$before" in']
    for command, options, _ in rows:
        for words, _, value, chosen in options:
            if value:
                pattern = "|".join(f"{command.name}:{word}" for word in words)
                action = (f"COMPREPLY=($(compgen -W {shlex.quote(' '.join(chosen))} -- \"$word\"))" if chosen
                          else 'COMPREPLY=($(compgen -f -- "$word"))')
                lines.append(f"        {pattern}) {action}; return ;;")
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for command, options, places in rows:
        every = " ".join([word for words, *_ in options for word in words] + places)
        lines.append(f"        {command.name}) words={shlex.quote(every)} ;;")
    return "\n".join(lines + [
        "    esac", '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
        '    [[ "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))', "}",
        "complete -o filenames -F _dragon dragon", ""])


def write_zsh(rows):
    """Return the script for zsh."""
    lines = ["#compdef dragon", "# Completion of `dragon` for zsh, printed by `dragon completion zsh`.", "_dragon() {",
             "    local -a commands", "    commands=("]
    lines += [f"        {shlex.quote(command.name + ':' + command.sentence)}" for command, _, _ in rows]
    lines += ["    )", "    if (( CURRENT == 2 )); then", "        _describe 'command' commands",
              "        _arguments " + " ".join(shlex.quote(f"{word}[{text}]") for word, text in TOP), "        return",
              "    fi", '    local command="$words[2]"', "    shift words", "    (( CURRENT-- ))",
              '    case "$command" in']
    for command, options, places in rows:
        words = [shlex.quote(f"{word}[{clean(text)}]{zsh_value(value, chosen)}")
                 for strings, text, value, chosen in options for word in strings]
        words.append(shlex.quote(f"*:word:({' '.join(places)})" if places else "*:file:_files"))
        lines.append(f"        {command.name}) _arguments {' '.join(words)} ;;")
    return "\n".join(lines + ["    esac", "}", 'compdef _dragon dragon 2>/dev/null || true', ""])


def zsh_value(value, chosen):
    """Return what zsh is told of an option's value."""
    if not value:
        return ""
    return f":value:({' '.join(chosen)})" if chosen else ":value:_files"


def clean(text):
    """Return a sentence without the letters that mean something to zsh."""
    return text.replace("[", "(").replace("]", ")").replace(":", " -").replace("\n", " ")


def write_fish(rows):
    """Return the script for fish."""
    lines = ["# Completion of `dragon` for fish, printed by `dragon completion fish`."]
    for command, options, places in rows:
        lines.append("complete -c dragon -n __fish_use_subcommand -f "
                     f"-a {command.name} -d {fish_quote(command.sentence)}")
        here = f"complete -c dragon -n '__fish_seen_subcommand_from {command.name}'"
        for words, text, value, chosen in options:
            names = " ".join(f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in words)
            answer = f" -x -a {fish_quote(' '.join(chosen))}" if chosen else " -r" if value else ""
            lines.append(f"{here} {names}{answer} -d {fish_quote(text)}")
        if places:
            lines.append(f"{here} -f -a {fish_quote(' '.join(places))}")
    lines += [f"complete -c dragon -n __fish_use_subcommand -l {word[2:]} -d {fish_quote(text)}" for word, text in TOP]
    return "\n".join(lines) + "\n"


def fish_quote(text):
    """Return a word as fish reads it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": write_bash, "zsh": write_zsh, "fish": write_fish}
