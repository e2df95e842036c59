"""From a type to the JSON schema that a model is shown, and from a reply's text to an answer of that type.

A reply may be bare JSON, stand in a fenced block, or in prose. The answer may be wrapped, as the small models do, where
it can be read in one way alone. It is not mended: what is not JSON, is of another form, or could be read in two ways is
a `WrongAnswer`, whose words are meant for the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast, get_type_hints

import msgspec

from embermem.protocols import ReplySchema

__all__ = ["WrongAnswer", "filled", "follows", "narrowed", "read_answer", "reply_schema", "shown", "whole_items"]

Answer = TypeVar("Answer")
Json = Any

# What OpenAI's strict mode takes, and what fits into few tokens. Bounds and formats are left out of what is shown;
# `read_answer` checks them all the same.
_KEPT = ("type", "description", "enum", "const", "properties", "items", "anyOf")
# What is kept for servers that take it in a grammar, where a small model would else write to its limit of tokens.
_BOUNDS = ("maxLength", "maxItems", "format")
_SHOWN_ID = "shown-id"  # the format of a field that names one of AnswerForm.ids
_NAME_CHARS = 64  # OpenAI's limit
# What a JSON object or list begins with; prose has other braces, such as {this} and [1].
_OBJECT = re.compile(r'\{\s*["}]')
_BRACKETS = re.compile(r"(?:\[\s*)+")
_OPENING = re.compile(r"[{\[]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


class WrongAnswer(ValueError):
    """The reply is not an answer of the type; the message tells the model why."""


# --------------------------------------------------------------------------------------------------------- the schema


def reply_schema(answer: type[Any]) -> ReplySchema:
    """A short, self-contained schema of a frozen dataclass or msgspec.Struct, as OpenAI's strict mode wants it.

    Every object is closed and every property required; titles, defaults, bounds and the docstrings of types are left
    out, `msgspec.Meta(description=…)` of a field stays. The schema is named by the type's own `schema_name`, else by
    the class; the name is sent to the server, and recordings are found by it. Raises TypeError for a type that no
    such schema can describe: one that holds itself, a dict, Any, or a tuple of fixed length.
    """
    return _made(cast("Hashable", answer))


@lru_cache(maxsize=256)
def _made(answer: type[Any]) -> ReplySchema:
    whole = msgspec.json.schema(answer)
    schema = _closed(whole, whole.get("$defs", {}), ())
    if schema.get("type") != "object":
        raise TypeError(f"{answer.__name__} is not a dataclass or Struct")
    name = re.sub(r"\W", "_", vars(answer).get("schema_name", answer.__name__), flags=re.ASCII)[:_NAME_CHARS]
    return ReplySchema(name=name, schema=_without_bounds(schema), narrow=schema)


def narrowed(node: Json, ids: Sequence[str]) -> Json:
    """A schema with bounds, in which a field that names what was shown is one of `ids`, and objects with such an `id`
    stand in a list once for each, in order."""
    if isinstance(node, list):
        return [narrowed(one, ids) for one in node]
    if not isinstance(node, Mapping):
        return node
    if node.get("format") == _SHOWN_ID:
        return {"type": "string", "enum": list(ids)} if ids else {"type": "string"}
    item = node.get("items", {})
    if ids and item.get("properties", {}).get("id", {}).get("format") == _SHOWN_ID:
        each = [narrowed(item, (name,)) for name in ids]
        return {"type": "array", "prefixItems": each, "minItems": len(ids), "maxItems": len(ids)}
    return {key: narrowed(value, ids) for key, value in node.items() if key != "format"}


def _without_bounds(node: Json) -> Json:
    if isinstance(node, list):
        return [_without_bounds(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    kept = {key: value for key, value in node.items() if key not in _BOUNDS}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {key: _without_bounds(value) for key, value in fields}
    return {key: value if key == "properties" else _without_bounds(value) for key, value in kept.items()}


def shown(schema: ReplySchema) -> str:
    """The schema as a model is shown it in a prompt: JSON without white space, and without saying of each object that
    every key is required and no other allowed; the prompt says that once."""
    return json.dumps(_brief(schema.schema), ensure_ascii=False, separators=(",", ":"))


def filled(answer: object) -> str:
    """An answer as JSON text, as a model would write it."""
    return msgspec.json.encode(answer).decode()


def _brief(node: Json) -> Json:
    if isinstance(node, list):
        return [_brief(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    if "properties" not in node:
        return {key: _brief(value) for key, value in node.items()}
    kept = {key: value for key, value in node.items() if key not in ("required", "additionalProperties")}
    return {**kept, "properties": {key: _brief(value) for key, value in node["properties"].items()}}


def _closed(node: Mapping[str, Json], defs: Mapping[str, Json], inside: tuple[str, ...]) -> dict[str, Json]:
    """The node with its references put in their place, and nothing left open."""
    if reference := node.get("$ref"):
        if reference in inside:
            raise TypeError(f"{reference.rpartition('/')[2]} holds itself")
        named = {key: value for key, value in defs[reference.rpartition("/")[2]].items() if key != "description"}
        closed = _closed(named, defs, (*inside, reference))
        return {**closed, "description": node["description"]} if "description" in node else closed
    if "prefixItems" in node or not any(key in node for key in ("type", "enum", "const", "anyOf")):
        raise TypeError("an answer type must not contain Any or a tuple of fixed length")
    kept = {key: node[key] for key in (*_KEPT, *_BOUNDS) if key in node}
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    if "enum" in kept and "type" not in kept:
        kept["type"] = _types_of(kept["enum"])
    if kept.get("type") == "array":
        if not kept.get("items"):
            raise TypeError("an answer type must not contain Any or a tuple of fixed length")
        kept["items"] = _closed(kept["items"], defs, inside)
    if "anyOf" in kept:
        kept.update(_either([_closed(one, defs, inside) for one in kept.pop("anyOf")]))
    if kept.get("type") == "object":
        if "properties" not in kept:
            raise TypeError("an answer type must not contain a dict")
        kept["properties"] = {key: _closed(value, defs, inside) for key, value in kept["properties"].items()}
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def _either(choices: list[dict[str, Json]]) -> dict[str, Json]:
    """One of several forms; plain types in one list, which is shorter."""
    if all(set(one) == {"type"} and isinstance(one["type"], str) for one in choices):
        return {"type": [one["type"] for one in choices]}
    return {"anyOf": choices}


def _types_of(values: list[Json]) -> Json:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    found = list(dict.fromkeys(names[type(value)] for value in values))
    return found[0] if len(found) == 1 else found


# --------------------------------------------------------------------------------------------------------- the answer


def read_answer(text: str, answer: type[Answer]) -> Answer:
    """The one answer that stands in a reply's text.

    It may be wrapped: in the schema's `properties`, in one key that is none of its own, in a list of one; where the
    answer has one field alone, a list, that list or one item of it may stand for the whole. Keys may differ in case and
    in what parts their words.

    Raises WrongAnswer if there is none or more than one; for JSON that ends too early, is not well formed, names a key
    twice, or holds half a character; for another list, and for the schema itself; for a value of another type or out of
    its bounds; and where a field is missing while a key stands there that is none: a misspelt field is not taken for an
    empty one. A field that has a default may be missing otherwise, and a key more does no harm.

    Of an answer whose type is `lenient` the items of lists that are not of their form are left out: it is wrong only
    where none is left of its first list.
    """
    schema = reply_schema(answer).schema
    found: list[Answer] = []
    problem: WrongAnswer | None = None
    for value in _values(text):
        try:
            read = _read(value, answer, schema)
        except WrongAnswer as error:
            problem = problem or error
        else:
            if read not in found:
                found.append(read)
    if len(found) > 1:
        raise WrongAnswer("The reply contains several answers; it must contain one JSON object.")
    if not found:
        raise problem or WrongAnswer("The reply holds no JSON object.")
    return found[0]


def whole_items(text: str) -> str:
    """An answer that was cut, without what stands after the last whole object of its lists; "" if there is none."""
    open_, quoted, escaped, end = list[str](), False, False, 0
    for at, char in enumerate(text):
        if quoted:
            quoted, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            open_.append(char)
        elif char in "}]" and open_:
            open_.pop()
            if open_ == ["{", "["] and char == "}":
                end = at + 1
    return f"{text[:end]}]}}" if end else ""


def follows(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether an object stands in the text that has a key of the schema's, with a value of the right kind, maybe
    wrapped: what a server that keeps to the schema always gives."""
    try:
        return any(_kinds(_unwrapped(value, schema), schema) for value in _values(text))
    except WrongAnswer:
        return False


def _kinds(value: Json, schema: Mapping[str, Json]) -> bool:
    """Whether at least one key is the schema's, and all that are have values of its types."""
    if not isinstance(value, dict):
        return False
    names = schema["properties"]
    found = [(value[name], names[name].get("type")) for name in names if name in value]
    return bool(found) and all(kind is None or _kind(one) in _as_list(kind) for one, kind in found)


def _kind(value: Json) -> str:
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else str(_types_of([value]))


def _as_list(kind: Json) -> list[str]:
    named = [kind] if isinstance(kind, str) else list(kind)
    return [*named, "integer"] if "number" in named else named


def _read(value: Json, answer: type[Answer], schema: Mapping[str, Json]) -> Answer:
    names = schema["properties"]
    meant = _unwrapped(value, schema)
    found = _cased(meant, schema)
    if isinstance(found, list):
        raise WrongAnswer("The reply is a list; it must be one JSON object.")
    echo = isinstance(value, dict) and meant is not value and meant is value.get("properties")
    if echo and not _kinds(found, schema):
        raise WrongAnswer("The reply is the schema itself; it must be an object that follows the schema.")
    if names and not any(name in found for name in names):
        raise WrongAnswer(f"The object has none of the keys {', '.join(names)}.")
    if getattr(answer, "lenient", False):
        found = _with_sound_items(found, answer, schema)
    else:
        for where, missing, unknown in _mismatches(found, schema, "$"):
            raise WrongAnswer(
                f"At {where}: the key {missing!r} is missing, and {unknown!r} is not a key of this object."
            )
    return _converted(found, answer)


def _converted(value: Json, answer: type[Answer]) -> Answer:
    try:
        return msgspec.convert(value, answer)
    except msgspec.ValidationError as error:
        raise WrongAnswer(f"{str(error).rstrip('.')}.") from error


def _with_sound_items(value: Json, answer: type[Any], schema: Mapping[str, Json]) -> Json:
    """The answer without those items of its lists that are not of their form. Raises WrongAnswer where none of them
    is."""
    value = _mended(value, schema)
    hints, made = get_type_hints(answer), dict(value)
    kinds = {field.name: hints[field.name] for field in msgspec.structs.fields(answer)}
    for name, one in value.items():
        item = getattr(kinds.get(name), "__args__", (None,))[0]
        if not isinstance(one, list) or not isinstance(item, type) or not issubclass(item, msgspec.Struct):
            continue
        made[name], fault = [], None
        for part in one:
            try:
                _converted(part, item)
            except WrongAnswer as error:
                fault = fault or error
            else:
                made[name].append(part)
        if fault is not None and not made[name] and name == next(iter(kinds)):
            raise fault
    return made


def _mended(value: Json, schema: Mapping[str, Json]) -> Json:
    """The value with numbers and texts in place of one another, a text in place of a list of one, and nothing in place
    of null, as the schema has it."""
    kind = schema.get("type")
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "number" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    if kind == "array" and not isinstance(value, list):
        text = schema["items"].get("type") == "string" and isinstance(value, str | int)
        value = [value] if text or isinstance(value, dict) else value
    if isinstance(value, list) and kind == "array":
        return [_mended(one, schema["items"]) for one in value]
    if isinstance(value, dict) and kind == "object":
        names = schema["properties"]
        return {k: _mended(one, names[k]) if k in names else one for k, one in value.items() if one is not None}
    return value


def _unwrapped(value: Json, schema: Mapping[str, Json]) -> Json:
    """The object that is meant, where one alone can be; else the value as it is."""
    if isinstance(value, dict):
        if _has_own(value, schema):
            return value
        if isinstance(value.get("properties"), dict):
            return value["properties"]
    inside = list(value.values()) if isinstance(value, dict) else value
    own = [one for one in inside if isinstance(one, dict) and _has_own(one, schema)]
    if len(own) == 1 and (isinstance(value, dict) or len(value) == 1):
        return own[0]
    item = _only_items(schema)
    if item is not None:
        name = next(iter(schema["properties"]))
        if isinstance(value, list) and value and all(isinstance(one, dict) and _has_own(one, item) for one in value):
            return {name: value}
        if isinstance(value, dict) and set(item["properties"]) <= set(_cased(value, item)):
            return {name: [value]}
    return value


def _only_items(schema: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """The form of the items, if the schema has one field alone, which is a list of objects."""
    fields = list(schema["properties"].values())
    items = fields[0].get("items", {}) if len(fields) == 1 else {}
    return items if items.get("properties") else None


def _has_own(value: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    return not {_bare(key) for key in value}.isdisjoint(_bare(name) for name in schema["properties"])


def _bare(key: str) -> str:
    return re.sub(r"[\W_]", "", key).lower()


def _cased(value: Json, schema: Mapping[str, Json]) -> Json:
    """The value with its keys written as the schema writes them, where two keys of it would not become one."""
    if isinstance(value, list):
        forms = [one for one in schema.get("anyOf", (schema,)) if "items" in one]
        return [_cased(one, forms[0]["items"]) for one in value] if len(forms) == 1 else value
    if not isinstance(value, dict):
        return value
    forms = [one for one in schema.get("anyOf", (schema,)) if "properties" in one]
    if len(forms) != 1:
        return value
    names, keys = forms[0]["properties"], [_bare(key) for key in value]
    meant = {_bare(name): name for name in names if name not in value and keys.count(_bare(name)) == 1}
    written = {key if key in names else meant.get(_bare(key), key): one for key, one in value.items()}
    return {key: _cased(one, names[key]) if key in names else one for key, one in written.items()}


def _mismatches(value: Json, schema: Mapping[str, Json], where: str) -> Iterator[tuple[str, str, str]]:
    """Objects that lack a key of theirs and have one that is none: (where, the one missing, the one unknown)."""
    if isinstance(value, dict):
        forms = [one for one in schema.get("anyOf", (schema,)) if "properties" in one]
        if len(forms) != 1:  # a union of objects: their tag decides, which msgspec looks at
            return
        names = forms[0]["properties"]
        missing, unknown = [key for key in names if key not in value], [key for key in value if key not in names]
        if missing and unknown:
            yield where, missing[0], unknown[0][:_NAME_CHARS]
        for key, form in names.items():
            yield from _mismatches(value.get(key), form, f"{where}.{key}")
    elif isinstance(value, list):
        forms = [one for one in schema.get("anyOf", (schema,)) if "items" in one]
        for number, one in enumerate(value if len(forms) == 1 else ()):
            yield from _mismatches(one, forms[0]["items"], f"{where}[{number}]")


def _values(text: str) -> Iterator[Json]:
    """The JSON objects, and lists of objects, that stand in a text, none inside another. Raises WrongAnswer."""
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.start()
        brackets = _BRACKETS.match(text, at)
        inner = brackets.end() if brackets else at
        if not _OBJECT.match(text, inner):
            at = max(inner, at + 1)
            continue
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
                raise WrongAnswer("The JSON is incomplete.") from error
            near = text[max(at, error.pos - 20) : error.pos + 20]
            raise WrongAnswer(f"The JSON is not well formed near {near!r}: {error.msg}.") from error
        except RecursionError as error:
            raise WrongAnswer("The JSON is nested too deeply.") from error
        if "\\u" in text[at:end]:
            _refuse_half_characters(value)
        yield value
        at = end


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise WrongAnswer(f"The key {twice!r} occurs twice in one object.")
    return made


def _refuse_constant(name: str) -> Json:
    raise WrongAnswer(f"{name} is not JSON.")


def _refuse_half_characters(value: Json) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise WrongAnswer("A \\u escape holds half a character.") from error


# Not `strict`: a line break inside a string says nothing else than \n would.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object, parse_constant=_refuse_constant)
