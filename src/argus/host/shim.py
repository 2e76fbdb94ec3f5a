"""The shim: a few lines of `sh` that run before an agent and after it, and outlive Argus.

It is the one process that is there when the agent begins and when it ends, so it writes down both. It is a shell, and
not Python, because one of them waits beside every agent: a shell takes a tenth of the memory, and starts in a
millisecond. It starts no other program on its way to the agent: every step below is built into the shell.
"""

from __future__ import annotations

SHELL = "/bin/sh"

# What holds, and why the order matters:
#
# - The inner shell, in parentheses, becomes the agent: it is the process that `exec`s. It holds the beacon (descriptor
#   9, a fifo) open from before it takes the latch until after its note is written. The kernel closes it when the
#   process dies, however it dies. So whoever sees the latch taken, nobody at the beacon, and no note, knows that the
#   taker is dead and that no agent came of it. The outer shell never has the beacon open.
# - `set -C` makes `>` refuse a file that is there (O_EXCL): whoever comes second ends there, without running anything.
# - The note is one `write` of one line with its end marked: a reader sees all of it or does not count it. If it cannot
#   be written (disk full), there is no agent.
# - Traps are handlers, not "ignore": the inner shell and the agent get the default back, while the shim itself outlives
#   the SIGTERM or SIGINT that the whole group gets, and can note how the agent ended. Not so for SIGHUP in tmux: who
#   closes a session hangs up on the pane's first process alone, and only when that ends does the kernel pass it on.
# - The agent runs in the foreground of the shell: in the background it would lose its standard input and ignore SIGINT.
# - A shell counts the fields of /proc/PID/stat from the last ")", because a name may hold anything. Field 22, the start
#   time, is the twentieth after it.
# - What the agent left in its group ends with it: `kill 0` is the group of the caller, so no number can be wrong.
# - Variables begin with argus_: one that the agent's environment exports as well would reach the agent changed.
SHIM = r"""
umask 077
trap : INT QUIT TERM USR1 USR2 ALRM
[ -n "$6" ] || trap : HUP
argus_run=$1 argus_attempt=$2 argus_umask=$3 argus_cwd=$4 argus_nonce=$5 argus_tmux=$6 argus_socket=$7
shift 7
argus_field_22() { shift 19; argus_started=$1; }
argus_boot=- argus_started=- argus_line=
{ read -r argus_boot </proc/sys/kernel/random/boot_id; read -r argus_line </proc/$$/stat; } 2>/dev/null
[ -z "$argus_line" ] || argus_field_22 ${argus_line##*) }
argus_shim="$$ $argus_started"
(
  [ -p "$argus_run/beacon" ] || exit 1
  cd -- "$argus_cwd" || exit 1
  set -C
  : 2>/dev/null >"$argus_run/latch.$argus_attempt" || exit 1
  set +C
  argus_pane=-
  if [ -n "$argus_tmux" ]; then
    argus_pane="$argus_socket $TMUX_PANE"
    . "$argus_run/given.$argus_attempt" && : >"$argus_run/given.$argus_attempt" || exit 1
  fi
  if [ -n "$argus_line" ]; then
    read -r argus_line </proc/self/stat || exit 1
    argus_field_22 ${argus_line##*) }
    argus_agent="${argus_line%% *} $argus_started"
  else
    argus_agent="$(exec /bin/sh -c 'echo $PPID') -"
  fi
  printf 'began %s %s %s %s %s end\n' "$argus_boot" "$argus_shim" "$argus_agent" "$argus_nonce" "$argus_pane" \
    >"$argus_run/began" || exit 1
  exec 9>&-
  umask "$argus_umask"
  exec "$@"
) 9<>"$argus_run/beacon"
argus_status=$?
{ read -r argus_word argus_boot argus_pid argus_started argus_line <"$argus_run/began"; } 2>/dev/null
[ "$argus_pid $argus_started" = "$argus_shim" ] || exit 1
printf 'ended %s %s end\n' "$argus_shim" "$argus_status" >"$argus_run/ended"
[ -z "$argus_tmux" ] || "$argus_tmux" capture-pane -p -J -S -2000 -t "$TMUX_PANE" >>"$argus_run/log" 2>/dev/null
kill -s KILL 0
""".strip()


def command(
    *, folder: str, attempt: int, umask: int, cwd: str, nonce: str, tmux: str = "", socket: str = ""
) -> tuple[str, ...]:
    """What comes before the agent's own arguments."""
    return (SHELL, "-c", SHIM, "argus-agent", folder, str(attempt), f"{umask:04o}", cwd, nonce, tmux, socket)
