"""`foretop completion`: the script that makes a shell complete foretop's words."""

from __future__ import annotations

import click

from foretop.commands.help_examples import OwnOptionsFirst, example

_BASH = r"""# foretop completion for bash: source <(foretop completion bash)
_foretop_complete() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") out line directive=0 program imports=${PYTHONPATH-}
    COMPREPLY=()
    # Nothing is run out of the current folder, whatever PATH and PYTHONPATH say.
    program=$(type -P foretop) && [[ $program == /* ]] || return
    if [[ ":$imports:" == *:[!/]* ]]; then imports=""; fi
    if [[ ${COMP_WORDS[COMP_CWORD]} == "=" ]]; then words[COMP_CWORD-1]=""; fi
    local joined=() word glue=""
    for word in "${words[@]}"; do
        if [[ $word == "=" && ${#joined[@]} -gt 0 && ${joined[-1]} == --* ]]; then
            joined[-1]+="="; glue=1
        elif [[ -n $glue ]]; then
            joined[-1]+="$word"; glue=""
        else
            joined+=("$word")
        fi
    done
    out=$(PYTHONPATH=$imports "$program" __complete "${joined[@]}" 2>/dev/null </dev/null) || return
    while IFS= read -r line; do
        # A number and nothing else: bash would run what stands in brackets of anything that it compares as one.
        if [[ $line =~ ^:[0-9]+$ ]]; then directive=${line#:}; continue; fi
        line=${line%%$'\t'*}
        if [[ $line == --*=* && ${COMP_WORDBREAKS} == *=* && ${joined[-1]} == *=* ]]; then line=${line#*=}; fi
        COMPREPLY+=("$(printf %q "$line")")
    done <<< "$out"
    if [[ ${#COMPREPLY[@]} -eq 0 && $directive -eq 0 ]]; then compopt -o default; fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -F _foretop_complete foretop
"""
_ZSH = r"""#compdef foretop
# foretop completion for zsh: source <(foretop completion zsh)
_foretop() {
    local -a lines plain described
    local line directive=0 program=$commands[foretop] imports=$PYTHONPATH
    # Nothing is run out of the current folder, whatever PATH and PYTHONPATH say.
    [[ $program == /* ]] || return 1
    if [[ ":$imports:" == *:[^/]* ]]; then imports=""; fi
    lines=("${(@f)$(PYTHONPATH=$imports $program __complete "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
    for line in $lines; do
        if [[ $line == :<-> ]]; then directive=${line#:}; continue; fi
        if [[ $line == *$'\t'* ]]; then
            described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        else
            plain+=("$line")
        fi
    done
    if (( $#described )); then _describe -V foretop described; fi
    if (( $#plain )); then
        local -a open=(${(M)plain:#*=}) closed=(${plain:#*=})
        (( $#open )) && compadd -S '' -- $open
        (( $#closed )) && compadd -- $closed
    fi
    if (( ! $#described && ! $#plain && directive == 0 )); then _files; fi
}
if [[ $funcstack[1] == _foretop ]]; then _foretop "$@"; else compdef _foretop foretop; fi
"""
_FISH = r"""# foretop completion for fish: foretop completion fish | source
function __foretop_complete
    set -l words (commandline -opc) (commandline -ct)
    # Nothing is run out of the current folder, whatever PATH and PYTHONPATH say.
    set -l program (command -s foretop)
    string match -q '/*' -- $program; or return
    set -lx PYTHONPATH (string join : -- $PYTHONPATH)
    string match -q -r '(^|:)([^/]|$)' -- "$PYTHONPATH"; and set PYTHONPATH ''
    $program __complete $words[2..-1] 2>/dev/null </dev/null | string match -v -r '^:[0-9]+$'
end
complete -c foretop -f -a '(__foretop_complete)'
complete -c foretop -l kubeconfig -r -F
complete -c foretop -l certificate-authority -r -F
complete -c foretop -s f -l file -r -F
"""
_POWERSHELL = r"""# foretop completion for PowerShell: foretop completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName foretop -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $words += "$wordToComplete"
    # Nothing is run out of the current folder, whatever PATH and PYTHONPATH say.
    $relative = { -not [System.IO.Path]::IsPathRooted($_) }
    if ($env:PATH -split [System.IO.Path]::PathSeparator | Where-Object $relative) { return }
    $program = (Get-Command foretop -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
    $imports = $env:PYTHONPATH
    try {
        if ("$imports" -split [System.IO.Path]::PathSeparator | Where-Object $relative) { $env:PYTHONPATH = '' }
        $found = @(& $program __complete @words 2>$null)
    } finally { $env:PYTHONPATH = $imports }
    $found | Where-Object { $_ -notmatch '^:\d+$' } | ForEach-Object {
        $parts = $_ -split "`t", 2
        $about = if ($parts.Count -gt 1) { $parts[1] } else { $parts[0] }
        $word = $parts[0]
        if ($word -notmatch '^[\w./:@=+-]+$') { $word = "'" + ($word -replace "['\u2018-\u201B]", '$0$0') + "'" }
        [System.Management.Automation.CompletionResult]::new($word, $parts[0], 'ParameterValue', $about)
    }
}
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}


@click.command("completion", cls=OwnOptionsFirst, epilog=example("source <(foretop completion bash)"))
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def command(shell: str) -> int:
    """Print the completion script of a shell: commands, options, contexts, namespaces and names of objects.

    bash: source <(foretop completion bash); zsh: source <(foretop completion zsh);
    fish: foretop completion fish | source; PowerShell: foretop completion powershell | Out-String | Invoke-Expression
    """
    click.echo(SCRIPTS[shell], nl=False)
    return 0
