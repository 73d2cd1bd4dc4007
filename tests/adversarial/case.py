"""One bad input: the files it needs, the command line, and what may happen."""

import dataclasses
import typing

REFUSED = "refused"  # status 2, one line that says where
FAILED = "failed"  # status 1, one line: the input is good and the machine is not
DONE = "done"  # status 0
ANY = "any"  # either done or refused, but nothing else


@dataclasses.dataclass
class Case:
    group: str
    name: str
    files: typing.Dict[str, typing.Union[bytes, typing.Callable]]  # large ones are made when they are needed
    arguments: typing.List[str]
    expect: str = ANY
    prepare: typing.Optional[typing.Callable] = None  # of the folder: what is no plain file
    environment: typing.Dict[str, str] = dataclasses.field(default_factory=dict)
    stdout: typing.Optional[str] = None  # a file that takes standard output
    is_long: bool = False  # of the processor's seconds, within what is right

    @property
    def title(self):
        return f"{self.group}: {self.name}"


@dataclasses.dataclass
class Later:
    """A case that is made when its turn comes: there are many, and only some are drawn."""

    group: str
    make: typing.Callable[[], Case]
