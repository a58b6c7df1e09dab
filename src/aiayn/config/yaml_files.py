"""Reading YAML into typed sections, with errors that name the file and the key."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from aiayn.common.errors import UserError

SectionT = TypeVar("SectionT", bound="Section")


class Section(BaseModel):
    """A frozen group of settings; an unknown key is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """YAML as people write it: ``1e-4`` is a number, ``0123`` is 123, a repeated key an error."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # Once a mapping is constructed, `<<` may have brought keys that it repeats.
        node = super().compose_mapping_node(anchor)
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self._key(key_node)
            if key in seen:
                raise _error(f"key {key!r} is given twice", key_node)
            seen.add(key)
        return node

    def _key(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise _error(f"expected a key, found {_found(node)}; one bracket too many?", node)
        return node.value if node.tag == _MERGE else self.construct_object(node)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Of a key's values the last counts: its own, else the one of the first mapping merged.
        # PyYAML 6.0.4's own takes another for keys of one letter, such as N and h.
        merged = [value for key, value in node.value if key.tag == _MERGE]
        node.value = [pair for pair in node.value if pair[0].tag != _MERGE]
        for value in merged:
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(mapping, yaml.MappingNode):
                    raise _error(f"expected keys and values, found {_found(mapping)}", mapping)
                self.flatten_mapping(mapping)
                node.value = mapping.value + node.value

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)  # type: ignore[no-untyped-call]
        except (ValueError, TypeError, LookupError, AttributeError):  # 2014-02-30, !!int one
            raise _error(f"{_found(node)} is no {node.tag.rpartition(':')[2]}", node) from None


def _error(problem: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _found(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value)
    return "keys and values" if isinstance(node, yaml.MappingNode) else "a list"


# YAML 1.1 reads 0123 as octal, 1:30 as 90 and 1e-4 as text; the command lines of Snakemake and
# DVC do not.
_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?\d+",
    "tag:yaml.org,2002:float": (r"[-+]?(?:(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)"),
}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern in _NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), list("-+0123456789."))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value, 10))


def parse_yaml(text: str, source: str) -> Any:
    """Parse YAML text; ``source`` names it in errors.

    Raises:
        UserError: the text is not YAML; the message names ``source`` and the line.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).replace("\n", " ")
        raise UserError(f"{source}{line}: {problem}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        UserError: the file is missing, is not YAML, or holds something else.
    """
    try:
        value = parse_yaml(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error.reason})") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected keys and values, found {type(value).__name__}")
    return value


def validate(section: type[SectionT], value: Any, source: str | Callable[[str], str]) -> SectionT:
    """Check ``value`` against ``section``.

    Args:
        section: What it should be.
        value: Keys and values.
        source: Where they come from, or a function that says so of a key.

    Raises:
        UserError: one line naming ``source``, the first wrong key, what is wrong and the value.
    """
    try:
        return section.model_validate(value)
    except ValidationError as error:
        # A misspelt key is also one that is missing; tell of the spelling.
        problem = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in problem["loc"])
        where = source if isinstance(source, str) else source(key.partition(".")[0])
        message = _message(problem, section)
        raise UserError(": ".join(part for part in (where, key, message) if part)) from None


_MESSAGES = {
    "missing": "this key is missing",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "bool_type": "expected true or false",
    "string_type": "expected text",
    "dict_type": "expected keys and values",
    "model_type": "expected keys and values",
    "tuple_type": "expected a list",
    "greater_than": "expected more than {gt:g}",
    "greater_than_equal": "expected {ge:g} or more",
    "less_than": "expected less than {lt:g}",
    "literal_error": "expected {expected}",
    "string_pattern_mismatch": "does not match {pattern}",
    "too_short": "expected {min_length} or more",
    "union_tag_not_found": "its {discriminator} is missing",
    "union_tag_invalid": "its {discriminator} is {tag!r}; expected {expected_tags}",
}
"""Words of ours for pydantic's types of errors."""


def _message(problem: ErrorDetails, section: type[Section]) -> str:
    kind, keys = problem["type"], problem["loc"]
    if kind == "extra_forbidden":
        known = ", ".join(sorted(section.model_fields))
        return "unknown key" + (f"; known keys here: {known}" if len(keys) == 1 else "")
    text = _MESSAGES.get(kind, problem["msg"].removeprefix("Value error, "))
    text = text.format_map(problem.get("ctx", {})) if kind in _MESSAGES else text
    shown = keys and not isinstance(problem["input"], dict)  # a whole section is too much
    return f"{text} (got {problem['input']!r})" if shown else text
