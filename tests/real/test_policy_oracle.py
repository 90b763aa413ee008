"""Resource policies as foretop reads them, and as Velero's own code does, asked the same new questions on every run."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from functools import partial

import pytest

from tests.policy_answers import difference
from tests.real.build import BuildError, policy_oracle
from tests.real.policycases import random_questions

QUESTIONS = 3000
SEED_VARIABLE = "FORETOP_POLICY_SEED"


def test_foretop_reads_policies_as_velero_does() -> None:
    try:
        oracle = policy_oracle(partial(print, flush=True))
    except BuildError as problem:
        pytest.skip(str(problem))
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().getrandbits(32))
    questions = random_questions(random.Random(seed), QUESTIONS)
    asked = "\n".join(map(json.dumps, questions))
    told = subprocess.run([oracle], input=asked, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in told.splitlines()]
    found = Counter(difference(question, answer) for question, answer in zip(questions, answers, strict=True))
    agree, not_read = found.pop("", 0), found.pop("not read", 0)
    assert not found, f"repeat with {SEED_VARIABLE}={seed}: {found.most_common(10)}"
    assert agree > QUESTIONS * 0.9
    assert not_read < QUESTIONS * 0.05
