"""The scripts. The tables are made from the commands; a Tab starts no program, but where a daemon knows the names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argus.cli.completing.tree import Node, Word

# Bash and zsh read the same tables. The one function answers: what may stand after these words?
_WALK = r"""
__argus_next() {
    local now="$1" at=argus place=1 awaited='' word
    shift
    for word in "$@"; do
        if [ "$word" = '=' ]; then continue; fi
        if [ -n "$awaited" ]; then awaited=''; continue; fi
        case "$word" in
        --*=*) ;;
        -*) if __argus_value "$at $word" > /dev/null; then awaited="$word"; fi ;;
        *) if __argus_is "$at $word"; then at="$at $word"; else place=$((place + 1)); fi ;;
        esac
    done
    if [ -n "$awaited" ]; then
        __argus_value "$at $awaited"
    else
        case "$now" in
        -*) __argus_options "$at" ;;
        *) __argus_below "$at"; __argus_value "$at $place" ;;
        esac
    fi
}
"""

_BASH = r"""
# The words of the line as the program would get them, and, last, the one that is being typed: as readline splits them
# they are cut at each : and = of COMP_WORDBREAKS, and have their quotes and backslashes. `__argus_quote`: a quote that
# is still open.
__argus_read() {
    local rest="${COMP_LINE:0:COMP_POINT}" one word='' begun=''
    __argus_words=() __argus_quote=''
    while [ -n "$rest" ]; do
        one="${rest:0:1}" rest="${rest:1}"
        if [ "$__argus_quote" = "'" ]; then
            if [ "$one" = "'" ]; then __argus_quote=''; else word+="$one"; fi
        elif [ "$one" = '\' ]; then
            if [ "$__argus_quote" = '"' ] && [[ "${rest:0:1}" != ['"\$`'] ]]; then word+="$one"; fi
            word+="${rest:0:1}" rest="${rest:1}" begun=1
        elif [ "$__argus_quote" = '"' ]; then
            if [ "$one" = '"' ]; then __argus_quote=''; else word+="$one"; fi
        else
            case "$one" in
            [\'\"]) __argus_quote="$one" begun=1 ;;
            [[:space:]]) if [ -n "$word$begun" ]; then __argus_words+=("$word"); fi; word='' begun='' ;;
            [\;\|\&]) __argus_words=() word='' begun='' ;;
            *) word+="$one" ;;
            esac
        fi
    done
    __argus_words+=("$word")
}

_argus() {
    local line now cut='' i __argus_words __argus_quote found=()
    __argus_read
    now="${__argus_words[-1]}"
    unset '__argus_words[-1]'
    if [[ "$now" == --*=* ]]; then
        __argus_words+=("${now%%=*}")
        now="${now#*=}"
    fi
    # Readline replaces what stands behind the last of its breaks, and nothing in front of it.
    if [ -z "$__argus_quote" ]; then
        for i in : =; do
            if [[ "$COMP_WORDBREAKS" == *"$i"* && "${now%"$i"*}" != "$now" ]]; then
                line="${now%"$i"*}$i"
                if [ "${#line}" -gt "${#cut}" ]; then cut="$line"; fi
            fi
        done
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
        @file) compopt -o filenames 2> /dev/null; mapfile -t -O "${#found[@]}" found < <(compgen -f -- "$now") ;;
        @folder) compopt -o filenames 2> /dev/null; mapfile -t -O "${#found[@]}" found < <(compgen -d -- "$now") ;;
        @anything) ;;
        @*) while IFS= read -r line; do
                if [[ "$line" != "$now"* ]]; then continue; fi
                line="${line#"$cut"}"
                # In an open quote as it is: a name holds nothing that a quote would not keep.
                if [ -z "$__argus_quote" ]; then printf -v line '%q' "$line"; fi
                found+=("$line")
            done < <(command argus completion --names "${line#@}" 2> /dev/null) ;;
        "$now"*) found+=("${line#"$cut"}") ;;
        esac
    done < <(__argus_next "$now" "${__argus_words[@]:1}")
    COMPREPLY=("${found[@]}")
}
complete -F _argus argus
"""

_ZSH = r"""
_argus() {
    local line name about now="${words[CURRENT]}"
    local -a found shown before
    before=("${(@)words[2,CURRENT-1]}")
    if [[ "$now" == --*=* ]]; then
        before+=("${now%%=*}")
        now="${now#*=}"
        compset -P 1 '*='
    fi
    while IFS= read -r line; do
        case "$line" in
        @file) _files ;;
        @folder) _files -/ ;;
        @anything) ;;
        @*) found+=("${(@f)$(command argus completion --names "${line#@}" 2> /dev/null)}")
            shown=("${found[@]}") ;;
        *) name="${line%%$'\t'*}" about="${line#*$'\t'}"
            found+=("$name")
            if [[ "$about" == "$line" || -z "$about" ]]; then shown+=("$name"); else shown+=("$name -- $about"); fi ;;
        esac
    done < <(__argus_next "$now" "${before[@]}")
    found=("${(@)found:#}") shown=("${(@)shown:#}")
    if (( $#found )); then compadd -l -d shown -a found; fi
}
if (( $+functions[compdef] )); then compdef _argus argus; fi
"""

_FISH = r"""
function __argus_next
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l at argus
    set -l place 1
    set -l awaited ''
    for word in $words[2..-1]
        if test -n "$awaited"
            set awaited ''
            continue
        end
        switch $word
            case '--*=*'
            case '-*'
                if __argus_value "$at $word" > /dev/null
                    set awaited $word
                end
            case '*'
                if __argus_is "$at $word"
                    set at "$at $word"
                else
                    set place (math $place + 1)
                end
        end
    end
    # Fish wants the whole word again, with the option in front of its value.
    set -l front ''
    if test -z "$awaited"; and string match -qr -- '^--[^=]+=' $now
        set awaited (string replace -r -- '=.*' '' $now)
        set front "$awaited="
        set now (string replace -r -- '^[^=]*=' '' $now)
    end
    set -l found
    if test -n "$awaited"
        set found (__argus_value "$at $awaited")
    else if string match -q -- '-*' $now
        set found (__argus_options $at)
    else
        set found (__argus_below $at; __argus_value "$at $place")
    end
    set -l shown
    for line in $found
        switch $line
            case @file
                set -a shown (__fish_complete_path $now)
            case @folder
                set -a shown (__fish_complete_directories $now)
            case @anything
            case '@*'
                set -a shown (command argus completion --names (string sub -s 2 -- $line) 2> /dev/null)
            case '*'
                set -a shown $line
        end
    end
    for line in $shown
        printf '%s%s\n' "$front" $line
    end
end
complete -c argus -f -a '(__argus_next)'
"""


def script(shell: str, nodes: Sequence[Node]) -> str:
    if shell == "fish":
        return _HEADS[shell] + _fish_tables(nodes) + _FISH
    told = shell == "zsh"
    tail = _ZSH if told else _BASH
    return _HEADS[shell] + _tables(nodes, told=told) + _WALK + tail


_HEADS = {
    "bash": "# For bash:  source <(argus completion bash)\n",
    "zsh": "#compdef argus\n# For zsh, after compinit:  source <(argus completion zsh)\n",
    "fish": "# For fish:  argus completion fish | source\n",
}


def _tables(nodes: Sequence[Node], *, told: bool) -> str:
    paths = "|".join(_quoted(node.path) for node in nodes if node.path != "argus")
    lines = ["__argus_is() {", f'    case "$1" in {paths}) return 0 ;; esac', "    return 1", "}"]
    for name, rows in _rows(nodes, told=told):
        lines += [f"{name}() {{", '    case "$1" in']
        lines += [f"    {_quoted(key)}) printf '%s\\n' {' '.join(map(_quoted, words))} ;;" for key, words in rows]
        lines += ["    *) return 1 ;;", "    esac", "}"]
    return "\n".join([*lines, ""])


def _fish_tables(nodes: Sequence[Node]) -> str:
    paths = " ".join(_quoted(node.path) for node in nodes if node.path != "argus")
    lines = ["function __argus_is", f"    contains -- $argv[1] {paths}", "end"]
    for name, rows in _rows(nodes, told=True):
        lines += [f"function {name}", "    switch $argv[1]"]
        for key, words in rows:
            lines += [f"        case {_quoted(key)}", f"            printf '%s\\n' {' '.join(map(_quoted, words))}"]
        lines += ["        case '*'", "            return 1", "    end", "end"]
    return "\n".join([*lines, ""])


def _rows(nodes: Sequence[Node], *, told: bool) -> Iterable[tuple[str, list[tuple[str, list[str]]]]]:
    """`told`: with a word about each."""
    yield "__argus_below", [(node.path, _shown(node.below, told)) for node in nodes if node.below]
    yield "__argus_options", [(node.path, _shown(node.options, told)) for node in nodes if node.options]
    yield (
        "__argus_value",
        [(f"{node.path} {key}", list(words)) for node in nodes for key, words in node.values.items() if words],
    )


def _shown(words: Iterable[Word], told: bool) -> list[str]:
    return [f"{word.text}\t{word.about}" if told and word.about else word.text for word in words]


def _quoted(text: str) -> str:
    return f"'{text}'"  # tree.py leaves no quote in it
