"""What the contrary broker does where the specification leaves a choice.

choices.json has one row for each decision: the requirements that recommend something, and what this broker does instead. The first
outcome of a row is as far from the recommendation as the broker can be; where there are others, a broker drawn at random may take
those, and must come out conformant too. No outcome is one that a MUST forbids. A row without requirements is a choice that the text
calls as right. The self-test compares the requirements with what the suite warns about.
"""
from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Dict, List, Tuple

CHOICES: Dict[str, Tuple[List[str], List[str]]] = json.loads(Path(__file__).with_name('choices.json').read_text())


class Manners:
    """The outcome of every decision, by its name. Seed 0 is the most contrary broker; any other one draws each outcome."""

    def __init__(self, seed: int = 0) -> None:
        draw = random.Random(seed)
        self._taken = {name: outcomes[0] if seed == 0 else draw.choice(outcomes) for name, (_, outcomes) in CHOICES.items()}

    def __getitem__(self, name: str) -> str:
        return self._taken[name]

    def takes(self, name: str, outcome: str) -> bool:
        """A name or an outcome that is not in the table is a fault of the broker's code, and loud."""
        if outcome not in CHOICES[name][1]:
            raise KeyError(f'{name}: {outcome}')
        return self._taken[name] == outcome
