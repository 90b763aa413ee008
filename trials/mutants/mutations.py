"""The changes that can be made to a module, one at a time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_NOT_OF_THE_RUN = frozenset({"annotation", "returns", "decorator_list", "type_params"})
"""Fields with types and declarations: a change in them is none of the program's behaviour, or breaks its import."""
_DECLARING = frozenset({"field", "Struct", "TypeVar", "Kind", "zip"})
"""Calls whose keywords declare a class, or, as `strict` of zip, only claim what holds."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one file."""

    path: str
    """In the repository."""
    number: int
    """The place of the change among all of the file."""
    line: int
    function: str
    """The qualified name of the function that is changed; "" outside of all functions."""
    text: str
    """The line as it is."""
    change: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}    {self.text}"


@dataclass(frozen=True, slots=True)
class _Change:
    node: ast.AST
    function: str
    what: str
    make: Callable[[], None]


def mutants(root: Path, path: Path) -> Iterator[Mutant]:
    """Every change that can be made to a file."""
    source = path.read_text()
    lines = source.splitlines()
    for number, change in enumerate(_changes(ast.parse(source))):
        line: int = getattr(change.node, "lineno", 0)
        yield Mutant(str(path.relative_to(root)), number, line, change.function, lines[line - 1].strip(), change.what)


def mutated(source: str, number: int) -> str:
    """The source with that change made."""
    return ast.unparse(mutated_tree(source, number))


def mutated_tree(source: str, number: int) -> ast.Module:
    """The same with the lines of the source: a function is where it was."""
    tree = ast.parse(source)
    list(_changes(tree))[number].make()
    return ast.fix_missing_locations(tree)


def functions_that_name(source: str, line: int) -> tuple[str, ...]:
    """The qualified names of the functions that read the constant of a line."""
    tree = ast.parse(source)
    names = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        for part in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        for target in ast.walk(part)
        if isinstance(target, ast.Name)
    }
    return tuple(dict.fromkeys(_that_name(tree, names, ())))


def _that_name(node: ast.AST, names: set[str], within: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ast.Name) and node.id in names and within and within[-1] == "<locals>":
        yield ".".join(within[:-1])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        within = (*within, node.name, "<locals>")
    elif isinstance(node, ast.ClassDef):
        within = (*within, node.name)
    for child in ast.iter_child_nodes(node):
        yield from _that_name(child, names, within)


def _changes(tree: ast.Module) -> Iterator[_Change]:
    yield from _of(tree, ())


def _of(node: ast.AST, within: tuple[str, ...]) -> Iterator[_Change]:
    around = within
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        within = (*within, node.name, "<locals>")
    elif isinstance(node, ast.ClassDef):
        within = (*within, node.name)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    function = ".".join(within[:-1]) if within and within[-1] == "<locals>" else ""
    yield from (_Change(at, function, what, make) for at, what, make in _at(node))
    for name, value in ast.iter_fields(node):
        if name in _NOT_OF_THE_RUN or (name == "keywords" and _declares(node)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                # A default is worked out where the function is defined: calls while modules load have used it.
                yield from _of(child, around if isinstance(child, ast.arguments) else within)


def _declares(node: ast.AST) -> bool:
    """Whether the keywords are those of a class, of a declaration or of a claim."""
    if isinstance(node, ast.ClassDef):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _DECLARING


def _at(node: ast.AST) -> Iterator[tuple[ast.AST, str, Callable[[], None]]]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if (other := _COMPARISONS.get(type(operator))) is not None:
                    yield node, f"{_sign(operator)} to {_sign(other())}", _put(node.ops, place, other())
        case ast.BoolOp():
            other_way: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, "and to or" if isinstance(node.op, ast.And) else "or to and", _set(node, "op", other_way)
        case ast.BinOp() if type(node.op) in _OPERATORS and not _is_text(node):
            new = _OPERATORS[type(node.op)]()
            yield node, f"{_sign(node.op)} to {_sign(new)}", _set(node, "op", new)
        case ast.If() | ast.IfExp() | ast.While():
            yield node.test, "condition negated", _set(node, "test", _negated(node.test))
        case ast.comprehension():
            for place, test in enumerate(node.ifs):
                yield test, "condition negated", _put(node.ifs, place, _negated(test))
        case ast.Constant(value=bool() as flag):
            yield node, f"{flag} to {not flag}", _set(node, "value", not flag)
        case ast.Constant(value=int() | float() as number):
            yield node, f"{number} to {number + 1}", _set(node, "value", number + 1)


def _is_text(node: ast.BinOp) -> bool:
    """A concatenation or template: with another operator it only breaks."""
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )


def _negated(test: ast.expr) -> ast.expr:
    return (
        test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else ast.UnaryOp(ast.Not(), test)
    )


def _put(items: list[ast.expr] | list[ast.cmpop], place: int, new: ast.AST) -> Callable[[], None]:
    return lambda: items.__setitem__(place, new)  # type: ignore[call-overload]


def _set(node: ast.AST, name: str, new: object) -> Callable[[], None]:
    return lambda: setattr(node, name, new)


def _sign(operator: ast.cmpop | ast.operator) -> str:
    one = ast.Constant(1)
    if isinstance(operator, ast.cmpop):
        return ast.unparse(ast.Compare(one, [operator], [one]))[2:-2]
    return ast.unparse(ast.BinOp(one, operator, one))[2:-2]
