"""`python -m farandole` and, from the wheel, `farandole`: the command line itself."""

import os
import pathlib
import sys

from . import InputError, OutOfTolerance, command


def main() -> None:
    """Becomes the program that the wheel brings; from a build tree, which has it elsewhere, its commands in this process."""
    program = pathlib.Path(__file__).parent / "bin" / "farandole"
    if program.exists():
        os.execv(program, ["farandole", *sys.argv[1:]])
    try:
        sys.stdout.write(command(*sys.argv[1:]))
    except InputError as error:
        sys.exit(_said(error, 2))
    except OutOfTolerance as error:
        sys.exit(_said(error, 3))


def _said(error: Exception, status: int) -> int:
    print(error, file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
