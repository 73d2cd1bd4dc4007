"""Values that a stranger would put into a file, whatever is expected there."""

import json
import re


class Raw:
    """Text that stands in a JSON file as it is."""

    def __init__(self, text):
        self.text = text


NUMBERS = [0, -0.0, 1, -1, 2, 0.5, 1.0, 1e-9, 7919, 65536, 1_000_000, 10_000_000, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**32 + 1, 2**53, 2**53 + 1,
           2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 1e18, 1e30, 1e308, -1e308, 5e-324, 1e-300]
RAW = [Raw(text) for text in ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "01", "+1", ".5", "1.", "0x10", "1_000", "'x'", "", "undefined", "[1,]", "{\"a\":1,\"a\":2}",
                              "[" * 70 + "]" * 70, "[" * 100_000, "\"\\ud800\"", "\"\\u0000\"", "\"\t\"", "9" * 400, "-0", "1e5", "/* c */ 1")]
OTHERS = [None, True, False, [], {}, [[]], [{}], [None], [1, "x"], {"": 1}, {"a": {}}, {"comment": 1}, "", " ", "x", "0", "-1", "1", "true", "null", "none", "NaN", "inf", "-inf",
          "1e999", "é", "\u202e", "\x1b[31mred", "a\nb", "a\0b", "x" * 300, "y" * 5000, "../../../../etc/passwd", "/dev/null", "/dev/zero", "/", ".", "\"", "'", "$(touch x)",
          "%n%s", "<script>alert(1)</script>", "=1+1", "/workload", "/x/~2"]
QUANTITIES = ["0", "-1", "-0", "1e308", "1e400", "1e30", "1e31", "1e18", "1e17", "1e-17", "1e-18", "1e-19", "5e-324", "NaN", "nan", "inf", "-inf", "infinity", "0x10", "1e", "1,5", "1 000", "+1", " 1",
              "1_0", ".5", "5.", "", "e", "-", "²", "١", "9" * 400, "0." + "0" * 400 + "1"]
UNITS = ["", "B", "s", "B/s", "%", "parsec", "kB", "KB", "Kb", "GB", "EB", "us", "μs", "µs", "ns", "min", "h", "Gbit/s", "GiB/s", "bit", "mB", "FLOP/s", "USD", "W", "years"]


def quantities(sample):
    """Of a string such as "64 MiB": other numbers with its unit, and its number with other units."""
    match = re.fullmatch(r"([0-9.eE+-]+) ?(\D.*)", sample)
    if not match:
        return []
    number, unit = match.groups()
    return ([f"{bad} {unit}" for bad in QUANTITIES] + [f"{number} {bad}" for bad in UNITS]
            + [f"{number}  {unit}", f" {number} {unit}", f"{number} {unit} ", f"{number}{unit}{unit}", f"{number} {unit}\0", f"{number}\t{unit}", unit, number])


def for_place(value):
    """Everything for a place where `value` stands."""
    bad = NUMBERS + RAW + OTHERS
    if isinstance(value, str):
        bad = bad + quantities(value) + [value + "x", value.upper(), value + " ", value[:-1]]
    if isinstance(value, list):
        first = value[0] if value else 0
        bad = bad + [value + value, [first] * 3, [first] * 10_000, value + [None], value + [value], [value]]
    if isinstance(value, dict):
        bad = bad + [{**value, "unknown": 1}, {**value, "": 1}, {**value, "x" * 2000: 1}, {**value, "comment": 7}, {**value, "comment": "fine"}, [value],
                     {key.upper(): member for key, member in value.items()}]
        bad += [{key: member for key, member in value.items() if key != left_out} for left_out in value]
    return bad


MARK = "@raw@"


def text_of(document):
    """JSON, with what is raw as it is."""
    raws = []

    def other(value):
        raws.append(value.text)
        return f"{MARK}{len(raws) - 1}{MARK}"

    text = json.dumps(document, default=other, ensure_ascii=False)
    return re.sub(f'"{MARK}(\\d+){MARK}"', lambda match: raws[int(match.group(1))], text).encode("utf-8", "surrogatepass")


def short(value):
    text = value.text if isinstance(value, Raw) else json.dumps(value, default=lambda raw: raw.text)
    return text if len(text) <= 50 else text[:40] + f"...({len(text)})"
