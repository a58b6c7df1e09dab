"""Is this machine ready for the configured scale? One finding a thing looked at."""

from aiayn.doctor.examine import examine
from aiayn.doctor.finding import Finding, State

__all__ = ["Finding", "State", "examine"]
