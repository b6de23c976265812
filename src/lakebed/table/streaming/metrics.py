"""Prometheus' text format, of what is told of streams."""

from collections.abc import Iterable, Mapping

_LABEL_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def gauge(
    name: str, meaning: str, samples: Iterable[tuple[Mapping[str, str], float | None]]
) -> str:
    """One metric, with a line for each sample that has a value.

    Args:
        name: Of the metric.
        meaning: What it says, in a sentence.
        samples: Labels and value of each.
    """
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        if value is not None:
            told = ",".join(
                f'{key}="{text.translate(_LABEL_ESCAPES)}"' for key, text in labels.items()
            )
            # All digits of a time or an id; no point where there is no fraction.
            lines.append(f"{name}{{{told}}} {value:.15g}")
    return "\n".join(lines) + "\n"
