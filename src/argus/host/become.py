"""Becomes a program, after a note says which process it is: `become.py NOTE TELL PROGRAM ARGUMENT...`.

Whoever starts a program knows its number only afterwards, and may be killed in between; then nobody would know that it
runs. So it says it by itself, before it is the program. TELL is a descriptor that closes when the program runs; why it
could not be started is written there, as an error number.

Run with `python -I -S`, and with hardly an import, so that it takes a few milliseconds.
"""

import errno
import os
import signal
import sys

NOT_STARTED = 127


def main(note: str, tell: int, argv: list[str]) -> None:
    os.set_inheritable(tell, False)
    try:  # noqa: SIM105 - contextlib alone takes longer than all of this
        leave(note)
    except OSError:
        # Without the note a later Argus does not know of the program; that is no reason not to run it. Where there is
        # no /proc, whoever started us writes it.
        pass
    # Python ignores these, and what is ignored stays so in the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - a list of arguments
    except (OSError, ValueError) as error:
        os.write(tell, b"%d" % (getattr(error, "errno", None) or errno.EINVAL))
        os._exit(NOT_STARTED)


def leave(note: str) -> None:
    """The number and the start time, as argus.host.identity reads them."""
    with open("/proc/self/stat", "rb") as file:
        started = file.read().rpartition(b")")[2].split()[19]
    said = b'{"pid": %d, "started": "%s"}' % (os.getpid(), started)
    beside = note + ".new"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, said)
    finally:
        os.close(handle)
    os.rename(beside, note)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
