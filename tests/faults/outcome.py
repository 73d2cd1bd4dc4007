"""One case of a row of the table, and how it ended."""

import dataclasses
import typing


@dataclasses.dataclass
class Outcome:
    went_on: bool  # to the end, with the same results; else it ended, and was gone on with
    faults: typing.List[str]
    times: int = 1  # that something was disturbed


@dataclasses.dataclass
class Case:
    row: str
    name: str
    attempt: typing.Callable[[], Outcome]
    is_slow: bool = False  # waits for a time-out of half a minute
