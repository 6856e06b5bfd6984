"""Finds the columns of a DataFrame that selectors such as `text` or `meta.id` select, by the same rules as in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from simtool._simtool import selected_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import types as t

# Path to a column: the names of the fields, and None for the step from a list to its elements.
Path = list[str | None]


class Selectors(NamedTuple):
    """The selectors of the text, of the ID, and of the column that decides which document is kept.

    If `text` is None, all texts of a row are selected. If `keep` is None, no column decides.
    """

    text: str | None
    id: str
    keep: str | None = None

    def of_rows(self, df: DataFrame) -> list[Column]:
        """Returns the columns `id` and `text` and, if `keep` is given, the column `field` that decides which document
        is kept.
        """
        texts, ids, keeps = selected_columns(_schema(df), *self)
        columns = [self._id(df, ids).alias("id"), self._text(df, texts).alias("text")]
        if self.keep is not None:
            columns.append(self._field(df, keeps).alias("field"))
        return columns

    def of_ids(self, df: DataFrame) -> Column:
        """Returns the column of the ids alone."""
        return self._id(df, selected_columns(_schema(df), None, self.id)[1])

    def _text(self, df: DataFrame, lists: list[list[Path]]) -> Column:
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        text = None
        for paths in lists:
            values = []
            for path in paths:
                column, kind, is_list = _values(df, path)
                if not isinstance(kind, (t.StringType, t.NullType)):
                    name = _name(path)
                    rule = f"{name} is {kind.simpleString()}, not text: leave it out, or decode it first"
                    raise ValueError(f"text_column {self.text or 'all texts'}: {rule}")
                values.append((column.cast("array<string>" if is_list else "string"), is_list))
            joined = values[0][0] if len(values) == 1 and not values[0][1] else f.concat_ws("\n", *(v for v, _ in values))
            if len(lists) == 1:
                # Null and an empty text are treated alike, so no further check is needed.
                return joined
            has_value = f.lit(False)
            for value, is_list in values:
                has_value = has_value | f.coalesce(f.exists(value, _is_there) if is_list else value.isNotNull(), f.lit(False))
            text = f.when(has_value, joined) if text is None else text.when(has_value, joined)
        assert text is not None
        return text

    def _id(self, df: DataFrame, paths: list[Path]) -> Column:
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        numbers = (t.ByteType, t.ShortType, t.IntegerType, t.LongType)
        columns = _one_value(df, paths, f"id_column {self.id}", (t.StringType, *numbers), "text or whole numbers")
        if all(isinstance(kind, numbers) for _, kind in columns):
            return f.coalesce(*(column for column, _ in columns))
        texts = [column.cast("string") for column, _ in columns]
        # An empty text is no ID.
        return f.coalesce(*(f.when(text != "", text) for text in texts))

    def _field(self, df: DataFrame, paths: list[Path]) -> Column:
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        known = (t.StringType, t.NumericType, t.BooleanType, t.DateType, t.TimestampType, t.TimestampNTZType)
        expected = "numbers, texts, points in time or booleans"
        columns = _one_value(df, paths, f"keep {self.keep}", known, expected)
        kinds = {kind.simpleString() for _, kind in columns}
        if len(kinds) > 1:
            raise ValueError(f"keep {self.keep}: the columns must have one type, not {' and '.join(sorted(kinds))}")
        values = f.coalesce(*(column for column, _ in columns))
        return values.cast("string") if isinstance(columns[0][1], t.DecimalType) else values


def _schema(df: DataFrame) -> bytes:
    """Returns the schema as a message of Arrow IPC. Types that Arrow does not have become booleans."""
    from pyspark.sql import types as t
    from pyspark.sql.pandas.types import to_arrow_type

    def arrow(kind: t.DataType) -> pa.DataType:
        if isinstance(kind, t.StructType):
            return pa.struct([(field.name, arrow(field.dataType)) for field in kind.fields])
        if isinstance(kind, t.ArrayType):
            return pa.list_(arrow(kind.elementType))
        try:
            return to_arrow_type(kind)
        except Exception:
            return pa.bool_()

    fields = [(field.name, arrow(field.dataType)) for field in df.schema.fields]
    return pa.schema(fields).serialize().to_pybytes()


def _one_value(
    df: DataFrame, paths: list[Path], option: str, known: tuple[type, ...], expected: str
) -> list[tuple[Column, t.DataType]]:
    """Returns the column and the type for each path.

    Raises a ValueError that names `option` if a column holds lists, or if its type is not in `known`.
    """
    columns = []
    for path in paths:
        column, kind, is_list = _values(df, path)
        if is_list or not isinstance(kind, known):
            found = "lists" if is_list else kind.simpleString()
            raise ValueError(f"{option}: {_name(path)} must be {expected}, not {found}")
        columns.append((column, kind))
    return columns


def _values(df: DataFrame, path: Path) -> tuple[Column, t.DataType, bool]:
    """Returns the values at a path as a column, the type of one value, and whether each row has a list of values."""
    from pyspark.sql import functions as f

    first = path[0]
    assert first is not None
    outermost = f.col("`" + first.replace("`", "``") + "`")
    return _inner(outermost, df.schema[first].dataType, path[1:])


def _inner(column: Column, kind: t.DataType, steps: Path) -> tuple[Column, t.DataType, bool]:
    """Follows the rest of a path from a column of type `kind`. Returns the same as `_values`."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    if isinstance(kind, t.ArrayType):
        # A list is read as its elements even if the selector has no brackets.
        inner = steps[1:] if steps and steps[0] is None else steps
        of_element: list[tuple[t.DataType, bool]] = []

        def visited(element: Column) -> Column:
            values, *rest = _inner(element, kind.elementType, inner)
            of_element.append((rest[0], rest[1]))
            return values

        lists = f.transform(f.filter(column, _is_there), visited)
        element_kind, is_nested = of_element[0]
        return f.flatten(f.filter(lists, _is_there)) if is_nested else lists, element_kind, True
    if steps and steps[0] is not None and isinstance(kind, t.StructType):
        # Sail reads a field of a null struct as an empty text.
        field = f.when(column.isNotNull(), column.getField(steps[0]))
        return _inner(field, kind[steps[0]].dataType, steps[1:])
    return column, kind, False


def _is_there(value: Column) -> Column:
    return value.isNotNull()


def _name(path: Path) -> str:
    """Returns the path in the form of a selector, such as `messages[].content`."""
    return "".join("[]" if step is None else f".{step}" for step in path).removeprefix(".")
