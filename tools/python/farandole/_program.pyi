"""The compiled commands (module.cpp)."""

version: str

class InputError(ValueError): ...
class OutOfTolerance(RuntimeError): ...

def command(arguments: list[str]) -> tuple[str, str]:
    """Carries out a command line without the program's name; returns its standard output and its messages."""
