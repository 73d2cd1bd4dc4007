"""What commands give: a list of dicts, with what notebooks show of it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

Point = dict[str, Any]


class Points(list[Point]):
    """The points of a result, dicts in the order of the program's, and what stands beside them: the settings that they
    share; the question of a study with its answer in sentences and the pairs that it compares, the answer and the optimum
    of a search. None elsewhere."""

    settings: dict[str, str]
    question: Any
    answer: Any
    optimum: Any

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(result["points"])
        self.settings = result["settings"]
        self.question = result.get("question")
        self.answer = self.question["answer"] if self.question else result.get("answer")
        self.optimum = result.get("optimum")

    def to_frame(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each point; what is nested has its column, as "breakdown.compute"."""
        import pandas

        return pandas.json_normalize(list(self))

    def _repr_html_(self) -> str:
        """In a notebook: the columns in which points differ, and those that hold numbers, as a table."""
        columns = [name for name in self._names() if not self._is_shared(name)]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = "".join("<tr>" + "".join(f"<td>{_cell(point.get(name))}</td>" for name in columns) + "</tr>" for point in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for point in self for name, value in point.items() if not isinstance(value, (dict, list))))

    def _is_shared(self, name: str) -> bool:
        values = [point.get(name) for point in self]
        return all(value == values[0] for value in values) and not _is_number(values[0])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else html.escape("" if value is None else str(value))
