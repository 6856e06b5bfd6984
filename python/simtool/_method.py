"""The base class of the methods in `_methods`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._simtool import method_text

if TYPE_CHECKING:
    from typing_extensions import Self


class Method(str):
    """A method with its settings. As a text, it is what the keyword `method` takes, such as `simhash:bits=128`.

    Because it is a text, it can be compared, hashed and stored like one, and it goes wherever a text names a method.
    """

    _name: ClassVar[str]
    _settings: dict[str, Any]

    @classmethod
    def _with(cls, **settings: Any) -> Self:
        given = {name: value for name, value in settings.items() if value is not None}
        method = super().__new__(cls, method_text(cls._name, given))
        method._settings = given
        return method

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self._settings.items())
        return f"simtool.{type(self).__name__}({settings})"

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), self._settings
