#!/usr/bin/python3
"""Packs the Python package that was built, the program, its modules and its data into one wheel, for `pip install FILE`.

usage: wheel.py BUILD FOLDER      BUILD: a build tree with the targets farandole and farandole_python
  prints the path of the wheel that it wrote. Nothing is compiled: what `cmake --install` installs goes into the package.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

METADATA = """Metadata-Version: 2.1
Name: farandole
Version: {version}
Summary: Simulator of distributed data-parallel deep-learning training
License: Apache-2.0
Requires-Python: >={python}
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: farandole
Root-Is-Purelib: false
Tag: {tag}
"""

ENTRY_POINTS = """[console_scripts]
farandole = farandole.__main__:main
"""

FIXED_DATE = (2020, 1, 1, 0, 0, 0)  # the same files make the same wheel


def tag_of(library):
    """cp311-cp311-linux_x86_64 of _program.cpython-311-x86_64-linux-gnu.so."""
    version = re.search(r"cpython-(\d+)", library.name)[1]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp{version}-cp{version}-{platform}"


def files_of(build, installation):
    """(name in the wheel, file) of the package and of the installation within it."""
    for file in sorted((build / "python" / "farandole").iterdir()):
        if file.is_file():
            yield f"farandole/{file.name}", file
    for file in sorted(installation.rglob("*")):
        if file.is_file() and file.relative_to(installation).parts[:2] not in {("share", "man"), ("share", "zsh"), ("share", "fish"),
                                                                               ("share", "bash-completion")}:
            yield f"farandole/{file.relative_to(installation)}", file


class Wheel:
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, FIXED_DATE)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record):
        self.archive.writestr(zipfile.ZipInfo(record, FIXED_DATE), "\n".join([*self.record, f"{record},,", ""]))
        self.archive.close()


def pack(build, folder, installation):
    library = next((build / "python" / "farandole").glob("_program*.so"), None)
    if library is None:
        sys.exit(f"wheel.py: expected the Python package in {build}/python, got none; build the target farandole_python")
    version = re.search(r"project\(farandole VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    tag = tag_of(library)
    info = f"farandole-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"farandole-{version}-{tag}.whl"
    wheel = Wheel(path)
    for name, file in files_of(build, installation):
        wheel.add(name, file.read_bytes(), file.stat().st_mode & 0o777)
    python = re.sub(r"(\d)(\d+)", r"\1.\2", tag.split("-", maxsplit=1)[0].removeprefix("cp"))
    readme = (ROOT / "tools" / "python" / "README.md").read_text()
    wheel.add(f"{info}/METADATA", METADATA.format(version=version, python=python, readme=readme).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.add(f"{info}/entry_points.txt", ENTRY_POINTS.encode())
    for name in ("LICENSE", "NOTICE"):
        wheel.add(f"{info}/{name}", (ROOT / name).read_bytes())
    wheel.close(f"{info}/RECORD")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as installation:
        subprocess.run(["cmake", "--install", arguments.build, "--prefix", installation, "--component", "program", "--strip"],
                       check=True, stdout=subprocess.DEVNULL)
        print(pack(arguments.build, arguments.folder, pathlib.Path(installation)))


if __name__ == "__main__":
    main()
