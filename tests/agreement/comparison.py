"""Asks all places about a situation, and compares every pair of statements about the same fact."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations, count, islice

import msgspec

from tests import recordings
from tests.agreement.facts import FACTS, Subject
from tests.agreement.situations import SCENE_NAMES, Situation, recording, scene
from tests.agreement.statements import Statement, contradict
from tests.agreement.surfaces import Surfaces

_SOON = timedelta(minutes=3)
"""When the volumes of tenants are under way in the scene that has them."""
_SHORT = 3
"""A scene that is begun for what it begins with begins anew after so many situations."""
_A_DAY = timedelta(hours=25)
_SELDOM = 2
"""The default scene has by far the most objects: it is asked every other time."""
Pair = tuple[str, str]
"""A fact and a place that states it."""


class Contradiction(msgspec.Struct, frozen=True):
    """Two places that say what cannot both be true."""

    fact: str
    places: tuple[str, str]
    subject: Subject
    said: tuple[Statement, Statement]
    story: str
    step: str

    def __str__(self) -> str:
        told = (sorted(one) if isinstance(one, frozenset) else str(one) for one in self.said)
        said = "; ".join(f"{place}: {one}" for place, one in zip(self.places, told, strict=True))
        return f"{self.fact} of {'/'.join(self.subject)}: {said} ({self.story}, {self.step})"


@dataclass
class Tally:
    """How often each place stated each fact beside another place, and what did not agree."""

    statements: Counter[Pair] = field(default_factory=Counter)
    situations: int = 0
    comparisons: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)

    def ask(self, situation: Situation, chance: random.Random, enough: int | None = None) -> None:
        """Ask every place about every fact; an error of a place is an error here.

        A fact on which each of its places was compared `enough` times is not asked again.
        """
        seen = Surfaces(situation, chance)
        self.situations += 1
        for fact, places in FACTS.items():
            if enough is not None and all(self.statements[fact, place] >= enough for place in places):
                continue
            stated: dict[Subject, list[tuple[str, Statement]]] = {}
            for number, (place, read) in enumerate(places.items(), 1):
                if number == len(places) and not stated:
                    break  # It would be compared with nothing, and the last is often a command that takes long.
                for subject, statement in read(seen):
                    stated.setdefault(subject, []).append((place, statement))
            for subject, told in stated.items():
                self._compare(situation, fact, subject, told)

    def _compare(
        self, situation: Situation, fact: str, subject: Subject, told: Sequence[tuple[str, Statement]]
    ) -> None:
        if len({place for place, _ in told}) < 2:
            return
        self.statements.update((fact, place) for place, _ in told)
        for (place, said), (other, also) in combinations(told, 2):
            self.comparisons += 1
            if contradict(said, also):
                found = Contradiction(fact, (place, other), subject, (said, also), situation.story, situation.step)
                self.contradictions.append(found)

    def asked(self) -> dict[Pair, int]:
        """How often each place was compared on each fact that it states."""
        return {(fact, place): self.statements[fact, place] for fact, places in FACTS.items() for place in places}

    def table(self) -> list[str]:
        """A line for each fact: how often each place was compared."""
        lines = [
            f"{self.situations:,} situations, {self.comparisons:,} comparisons, {len(self.contradictions):,} failed"
        ]
        for fact, places in FACTS.items():
            told = ", ".join(f"{place} {self.statements[fact, place]:,}" for place in places)
            lines.append(f"  {fact}: {told}")
        return lines

    def failures(self, most: int = 3) -> list[str]:
        """Some examples of each pair of places that contradict each other on a fact, and how many there are."""
        alike: dict[tuple[str, tuple[str, str]], list[Contradiction]] = {}
        for one in self.contradictions:
            alike.setdefault((one.fact, one.places), []).append(one)
        return [
            line
            for (fact, places), found in alike.items()
            for line in (f"{len(found):,}× {fact}: {' / '.join(places)}", *(f"    {one}" for one in found[:most]))
        ]


def situations(seed: int, helps: Callable[[int], bool] = lambda place: True) -> Iterator[tuple[int, Situation]]:
    """One after the other from each scene and recording, those more often of which little else tells the same.

    With the place of its story among them, which is left out while it does not help, unless none does. A story that has
    ended begins anew with another seed.
    """
    makers: list[Callable[[int], Iterator[Situation]]] = [
        *(lambda number, name=name: scene(name, number) for name in SCENE_NAMES),
        *[lambda number: islice(scene("volumes", number, _SOON), _SHORT)] * 4,
        *[lambda number: islice(scene("maintenance", number), _SHORT)] * 2,
        lambda number: scene("maintenance", number, _A_DAY),
        *(lambda number, name=name: recording(name, number) for name in recordings.NAMES),
    ]
    numbers = count(seed)
    stories = [(make, make(next(numbers))) for make in makers]
    for turn in count():
        helpful = [place for place in range(len(stories)) if helps(place)] or [*range(len(stories))]
        for place in helpful:
            if not place and turn % _SELDOM and len(helpful) > 1:
                continue
            make, story = stories[place]
            found = next(story, None)
            if found is None:
                stories[place] = make, make(next(numbers))
            else:
                yield place, found
