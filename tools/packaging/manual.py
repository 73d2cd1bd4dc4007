"""One man page (man(7) macros) for the program or one of its commands."""

FILES = """.SH FILES
.TP
.I share/farandole
models, topologies, devices, price models, scenarios and JSON Schemas, beside the folder that the program is in
.SH ENVIRONMENT
.TP
.B FARANDOLE_DATA
a folder to take instead of share/farandole
.TP
.B NO_COLOR
if set, nothing is printed bold or coloured
.SH EXIT STATUS
0 done, 1 the program failed, 2 bad input, 3 outside the tolerance
"""


def roff(text):
    """Text as it is to be printed: a hyphen stays one, and a line is no macro."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def _entry(option):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
    value = f" \\fI{roff(option.metavar)}\\fR" if option.metavar else ""
    default = f" (default: {roff(option.default)})" if option.default else ""
    notes = f" {roff(option.notes)}." if option.notes else ""
    return f".TP\n{names}{value}\n{roff(option.description)}{default}{notes}\n"


def _section(title, options):
    return f".SH {title}\n" + "".join(map(_entry, options)) if options else ""


def page(command, commands, version, date):
    name = "-".join(["farandole", *command.name.split()])
    text = f'.TH {name.upper()} 1 "{date}" "farandole {version}" "User Commands"\n'
    text += f".SH NAME\n{name} \\- {roff(command.summary)}\n.SH SYNOPSIS\n.B {roff(command.usage)}\n"
    if commands:
        text += ".SH COMMANDS\n" + "".join(
            f".TP\n.BR farandole\\-{roff(one.name)} (1)\n{roff(one.summary)}\n" for one in commands)
    text += _section("ARGUMENTS", command.positionals) + _section("OPTIONS", command.options)
    if command.examples:
        text += f".SH EXAMPLES\n.nf\n{roff(command.examples)}\n.fi\n"
    return text + FILES + ("" if commands else ".SH SEE ALSO\n.BR farandole (1)\n")
