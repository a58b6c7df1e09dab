"""How far a training is, and on what it got there."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aiayn.batches import Position
from aiayn.config.cost import TokenCounts


@dataclass
class Stretch:
    """Steps taken one after another on the same devices."""

    device: str
    """A GPU's model, or the processor's."""
    precision: str
    ranks: int
    seconds: float = 0.0
    """Of training alone: validation and checkpoints are left out."""


@dataclass
class Progress:
    """How far training is; all that a checkpoint keeps besides tensors."""

    step: int = 0
    position: Position = field(default_factory=Position)
    tokens: TokenCounts = field(default_factory=TokenCounts)
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Seconds of training so far."""
        return sum(stretch.seconds for stretch in self.stretches)

    @property
    def precision(self) -> str | None:
        """What training computes in, once it has begun."""
        return self.stretches[-1].precision if self.stretches else None

    def go_on(self, device: str, precision: str, ranks: int) -> None:
        """Count what follows on these devices."""
        stretch = Stretch(device, precision, ranks)
        if not self.stretches or replace(self.stretches[-1], seconds=0.0) != stretch:
            self.stretches.append(stretch)

    def take(self, following: Position, tokens: TokenCounts, seconds: float) -> None:
        """Count a step."""
        self.step += 1
        self.position = following
        self.tokens += tokens
        self.stretches[-1].seconds += seconds

    def as_json(self) -> dict[str, Any]:
        """For ``state.json``; :meth:`from_json` undoes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "Progress":
        """Read ``state.json``."""
        return cls(
            step=state["step"],
            position=Position(**state["position"]),
            tokens=TokenCounts(**state["tokens"]),
            stretches=[Stretch(**stretch) for stretch in state["stretches"]],
        )
