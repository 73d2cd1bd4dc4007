#!/usr/bin/python3
"""Man pages and shell completion of the program, made from what it says of itself (--json-help).

usage: documents.py PROGRAM FOLDER [--zsh FOLDER] [--date YYYY-MM-DD]
  writes FOLDER/man/man1/*.1.gz, FOLDER/bash-completion/completions/farandole, FOLDER/fish/vendor_completions.d/farandole.fish
  and FOLDER/zsh/site-functions/_farandole (or the --zsh folder). `cmake --install` calls it.
"""

import argparse
import gzip
import pathlib
import subprocess

from completions import bash, fish, zsh
from manual import page
from program_help import read_program


def write(file, data):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--zsh", default="zsh/site-functions", help="where zsh looks, under FOLDER")
    parser.add_argument("--date", default="", help="for the foot of man pages")
    arguments = parser.parse_args()
    whole, commands = read_program(arguments.program)
    version = subprocess.run([arguments.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    for command in [whole, *commands]:
        name = "-".join(["farandole", *command.name.split()])
        text = page(command, commands if command is whole else [], version, arguments.date)
        write(arguments.folder / "man" / "man1" / f"{name}.1.gz", gzip.compress(text.encode(), mtime=0))
    for place, text in [("bash-completion/completions/farandole", bash(commands)),
                        ("fish/vendor_completions.d/farandole.fish", fish(commands)),
                        (arguments.zsh + "/_farandole", zsh(commands))]:
        write(arguments.folder / place, text.encode())


if __name__ == "__main__":
    main()
