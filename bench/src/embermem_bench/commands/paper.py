"""`embermem bench paper`: the papers' tables, from one command, on one page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, say
from embermem.core.errors import ConfigError, EmberError
from embermem_bench.commands.common import JUDGE_KEY, judge_of, model_of, run_told

if TYPE_CHECKING:
    from embermem.protocols import LanguageModel
    from embermem_bench.papers.estimate import Size
    from embermem_bench.papers.run import Experiments
    from embermem_bench.tracing import Price

MILLION = 1_000_000
PART_NAMES = "locomo, ablation, k, amem-ablation, amem-k, gvd, gvd-ablation"
SAMPLES = ("locomo_sample.json", "memory_bank_sample.json")
"""Small conversations of our own, in LoCoMo's form and in GVD's, for a dry run without data."""


class BudgetTooSmall(EmberError):
    """What was asked for will cost more than it may."""


def paper(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of all of it; a run in it is continued.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="DATA...", help="LoCoMo's file, GVD's folder, or both.")
    ] = None,
    parts: Annotated[
        list[str] | None, typer.Option("--part", metavar="NAME", help=f"Only this part: {PART_NAMES}. Repeatable.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="SYSTEM", help="Leave out this system. Repeatable.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The language model; overrides the setting.")] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME[@URL]", help=f"The model that judges GVD's replies; key: {JUDGE_KEY}."),
    ] = None,
    price: Annotated[
        str | None, typer.Option("--price", metavar="IN,OUT", help="Price of a million tokens, of prompts and answers.")
    ] = None,
    judge_price: Annotated[
        str | None, typer.Option("--judge-price", metavar="IN,OUT", help="The judge's; default: --price.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0.0,
            metavar="N",
            help="The most to spend: money with --price, else million tokens.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking, whatever the estimate.")] = False,
    dry: Annotated[bool, typer.Option("--dry", help="With the scripted model; a small sample if no DATA.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print the estimate.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most questions per conversation.")] = None,
    seeds: Annotated[list[int] | None, typer.Option("--seed", metavar="N", help="Default: 0. Repeatable.")] = None,
    conversations: Annotated[
        list[str] | None, typer.Option("--conversation", metavar="ID", help="Only this conversation. Repeatable.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the experiments of the MemoryOS and A-MEM papers, and write their tables with ours beside them.

    Says first what it will cost. Run the same command again to go on after an interruption. Rules:
    docs/research/bench.md.
    """
    from embermem_bench.papers import estimate as estimating
    from embermem_bench.papers.run import Experiments, run

    given = list(files or ()) or ([sample(name) for name in SAMPLES] if dry else [])
    if not given:
        raise ConfigError("name the data: LoCoMo's file, GVD's folder, or both; --dry needs none")
    wanted = Experiments.of(
        given,
        parts or (),
        seeds=seeds or (0,),
        limit=limit,
        conversations=tuple(conversations or ()),
        without=without or (),
    )
    prices = _prices(price, judge_price)
    found = estimating.sizes(wanted)
    if not as_json or estimate:
        _show(wanted, found, prices, priced=price is not None, as_json=as_json)
    if estimate:
        return
    if not dry:
        _allowed(sum(size.price(prices) for size in found), budget, price is not None, yes)
    asked, judging = _models(model, judge, dry)
    with run_told() as (told, left):
        made = run(
            wanted,
            out,
            model=asked,
            judge=judging,
            money=budget,
            prices=prices,
            scripted=dry,
            told=told,
            left=left,
        )
    _tell(made, as_json)


def sample(name: str) -> Path:
    """The file of one of the samples."""
    import embermem_bench

    return Path(embermem_bench.__file__).parent / "data" / "papers" / name


def _models(model: str | None, judge: str | None, dry: bool) -> tuple[LanguageModel, LanguageModel | None]:
    """The model and the judge that are named; dry: a scripted one for each."""
    if not dry:
        asked = model_of(model)
        if asked is None:
            raise ConfigError("name a model with --model or EMBERMEM_MODEL, or try everything with --dry")
        return asked, None if judge is None else judge_of(judge)
    from embermem_bench.scripted.model import ScriptedModel

    return ScriptedModel(), ScriptedModel("scripted-judge")


def _prices(price: str | None, judge_price: str | None) -> tuple[Price, Price]:
    from embermem_bench.tracing import Price

    def one(option: str, text: str | None, other: Price) -> Price:
        if text is None:
            return other
        try:
            prompt, completion = (float(part) for part in text.split(","))
        except ValueError as error:
            raise typer.BadParameter(f"{option} {text!r}: expected two numbers, such as 0.15,0.60") from error
        if not (0.0 <= prompt < float("inf") and 0.0 <= completion < float("inf")):
            raise typer.BadParameter(f"{option} {text!r}: a price is at least 0")
        return Price(prompt=prompt, completion=completion)

    if judge_price is not None and price is None:
        raise typer.BadParameter("--judge-price needs --price: one sum is not made of money and tokens")
    models = one("--price", price, Price())
    return models, one("--judge-price", judge_price, models)


def _allowed(cost: float, budget: float | None, priced: bool, yes: bool) -> None:
    """Raises BudgetTooSmall if the estimate is beyond the budget, or there is none, and nobody says yes."""
    if yes or (budget is not None and cost <= budget):
        return
    unit = "" if priced else " million tokens"
    told = (
        f"the estimate is {cost:,.2f}{unit}, and no --budget is given"
        if budget is None
        else f"the estimate of {cost:,.2f}{unit} is beyond the budget of {budget:,.2f}"
    )
    if sys.stdin.isatty() and typer.confirm(f"{told}. Begin?"):
        return
    raise BudgetTooSmall(
        f"{told}; raise --budget, ask for less (--part, --without, --limit, --conversation), or give --yes"
    )


def _show(
    wanted: Experiments, found: tuple[Size, ...], prices: tuple[Price, Price], *, priced: bool, as_json: bool
) -> None:
    from embermem.reports import render
    from embermem_bench.papers.estimate import total

    rows = [
        {
            "part": size.part.name,
            "made": size.part.made,
            "systems": len(size.part.entries),
            "conversations": size.conversations,
            "questions": size.questions,
            "calls": size.model.calls + size.judge.calls,
            "tokens": size.model.tokens + size.judge.tokens,
            "price": round(size.price(prices), 4) if priced else None,
        }
        for size in found
    ]
    model, judge = total(found)
    if as_json:
        render.print_json({"parts": rows, "model": model, "judge": judge, "missing": dict(wanted.reasons())})
        return
    columns = [
        "part",
        "for",
        "systems",
        "talks",
        "questions",
        "calls",
        "million tokens",
        *(["price"] if priced else []),
    ]
    shown = [
        (*(row[key] for key in ("part", "made", "systems", "conversations", "questions", "calls")), *_amounts(row))
        for row in rows
    ]
    price = sum(size.price(prices) for size in found)
    whole: Mapping[str, object] = {"tokens": model.tokens + judge.tokens, "price": price if priced else None}
    shown.append(("all", "", "", "", "", model.calls + judge.calls, *_amounts(whole)))
    render.table("estimate", columns, shown)
    for name, reason in wanted.reasons().items():
        say(f"{name} is left out: {reason}")
    say("estimated from the scripted model: answers of a real one are longer, and what depends on them differs")


def _amounts(row: Mapping[str, object]) -> tuple[str, ...]:
    tokens, price = row["tokens"], row["price"]
    told = f"{tokens / MILLION:,.2f}" if isinstance(tokens, int) else ""
    return (told, f"{price:,.2f}") if isinstance(price, float) else (told,)


def _tell(made: tuple[Path, ...], as_json: bool) -> None:
    from embermem.reports import render

    if as_json:
        render.print_json({"files": [str(path) for path in made]})
        return
    say(f"written: {', '.join(str(path) for path in made[:3])}")
