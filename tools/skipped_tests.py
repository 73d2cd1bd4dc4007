#!/usr/bin/env python3
"""Names the tests that were skipped, by the reason that they gave, and the one command that installs what they need; then shows
again, where a log's end is all that is kept, what the tests that failed said last.

usage: tools/skipped_tests.py RESULTS.xml [ALLOWED]      what ctest --output-junit wrote; prints nothing where all tests passed.
                                                         ALLOWED (tests/allowed_skips.txt): every other reason is status 1

A test that is skipped says why: on a line "skipped: REASON; tools/setup PURPOSE installs it", or with the same words in
GTEST_SKIP(); or in its last line. Without the second half nothing can be installed for it.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

LINES_SHOWN = 40  # of a test that failed
CURE = re.compile(r"; tools/setup ([a-z]+)[^\n;]*")


def reason_in(output):
    """As a script or as GoogleTest prints it."""
    found = re.search(r"^skipped: (.+)$", output, re.MULTILINE) or re.search(r": Skipped\n(.+)$", output, re.MULTILINE)
    lines = output.strip().splitlines() or ["it does not say why"]
    return (found[1] if found else lines[-1]).strip()


def skipped(tests):
    """The names by reason."""
    reasons = collections.defaultdict(list)
    for test in tests:
        if test.find("skipped") is not None:
            reasons[reason_in(test.findtext("system-out", ""))].append(test.get("name"))
    return reasons


def command_for(reasons):
    """Several purposes are one command too."""
    purposes = {purpose for reason in reasons for purpose in CURE.findall(reason)}
    return f"tools/setup {purposes.pop() if len(purposes) == 1 else 'all'}" if purposes else None


def not_allowed(reasons, file):
    lines = [line for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    patterns = [line.partition("|")[2].strip() for line in lines]
    return [reason for reason in reasons if not any(re.fullmatch(pattern, reason) for pattern in patterns)]


def print_skipped(tests, reasons):
    print(f"\nSkipped: {sum(map(len, reasons.values()))} of {len(tests)} tests")
    for reason, names in sorted(reasons.items()):
        print(f"  {CURE.sub('', reason)}")
        for name in sorted(names):
            print(f"    {name}")
    command = command_for(reasons)
    print(f"{command} installs what they need; then tools/test runs them." if command else
          "Nothing that could be installed lets them run here.")


def print_failed(tests):
    for test in tests:
        if test.get("status") == "fail":
            print(f"\n{test.get('name')} failed; the end of what it said:")
            print("\n".join(test.findtext("system-out", "").strip().splitlines()[-LINES_SHOWN:]))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    tests = list(xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    reasons = skipped(tests)
    if reasons:
        print_skipped(tests, reasons)
    refused = not_allowed(reasons, sys.argv[2]) if len(sys.argv) == 3 else []
    for reason in refused:
        print(f"not to be skipped here ({sys.argv[2]}): {reason}")
    print_failed(tests)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
